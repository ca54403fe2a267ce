# SPDX-License-Identifier: GPL-2.0-or-later
"""Where Prometheus fetches the metrics of all labs that are up: HTTP on loopback.

Every user of the machine can connect there. So what clients may hold is bounded: connections, and with them threads, time, and
the size of a request. A client that holds others up is cut off, and not the others.
"""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from http.client import LineTooLong
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, BinaryIO, Final, Self

from contracts.errors import NetBoxITError
from testbed.observation.metrics_page import CONTENT_TYPE, page
from testbed.observation.watching import Watch

ADDRESS: Final = "127.0.0.1"
_PATH: Final = "/metrics"
#: A client that has not said what it wants after so long, or has not taken its answer, is cut off.
_PATIENCE_S: Final = 5.0
#: Connections at a time. When one more comes, the client that keeps this server waiting for longest is cut off.
MOST_CLIENTS: Final = 32
#: Of a request with all its headers; Prometheus sends some 400 bytes.
_LONGEST_REQUEST: Final = 8192


class PortTaken(NetBoxITError):
    """The metrics cannot be served there."""


class MetricsServer(ThreadingHTTPServer):
    """Serves for the length of a with block, by a thread for each connection. Each request reads the labs that are up then."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int) -> None:
        self.clients, self._watch, self._looking = _Clients(), Watch(None), threading.Lock()
        try:
            super().__init__((ADDRESS, port), _Handler)
        except OSError as error:
            raise PortTaken(f"port {port} of {ADDRESS}: {error.strerror}; choose another one by --port, or 0 for any") from error
        self._thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.url = f"http://{ADDRESS}:{self.server_port}{_PATH}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.shutdown()
        self._thread.join()  # it has no work of its own: each connection has a thread, which nobody waits for
        self.server_close()
        with self._looking:
            self._watch.close()

    def metrics(self) -> str:
        with self._looking:
            self._watch.look()
            return page((watched.lab.plan, watched.now) for watched in self._watch.labs.values() if watched.now is not None)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self.clients.add(request):
            super().process_request(request, client_address)
        else:
            super().shutdown_request(request)

    def shutdown_request(self, request: Any) -> None:
        self.clients.remove(request)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """Twice a second."""
        self.clients.cut_late()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""


class _Clients:
    """The connections that are open, oldest first, and since when each keeps the server waiting (None: the server works)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._since: dict[socket.socket, float | None] = {}

    def add(self, client: socket.socket) -> bool:
        """Returns False when there are too many, and none of them can be cut off."""
        with self._lock:
            if len(self._since) >= MOST_CLIENTS and not self._cut(longest_only=True):
                return False
            self._since[client] = time.monotonic()
            return True

    def waits(self, client: socket.socket, waiting: bool) -> None:
        with self._lock:
            if client in self._since:
                self._since[client] = time.monotonic() if waiting else None

    def remove(self, client: socket.socket) -> None:
        with self._lock:
            self._since.pop(client, None)

    def cut_late(self) -> None:
        with self._lock:
            self._cut(longest_only=False)

    def _cut(self, *, longest_only: bool) -> bool:
        """Ends connections: the thread of each then reads the end of its stream, or cannot write, and ends."""
        waiting = sorted((since, at, client) for at, (client, since) in enumerate(self._since.items()) if since is not None)
        late = waiting[:1] if longest_only else [entry for entry in waiting if time.monotonic() - entry[0] > _PATIENCE_S]
        for _, _, client in late:
            del self._since[client]
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        return bool(late)


class _Request:
    """A client's request, of which at most _LONGEST_REQUEST bytes are read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._left = file, _LONGEST_REQUEST

    def readline(self, size: int) -> bytes:
        if self._left <= 0:
            raise LineTooLong("request")
        line = self._file.readline(min(size, self._left))
        self._left -= len(line)
        return line

    def close(self) -> None:
        self._file.close()


class _Handler(BaseHTTPRequestHandler):
    server: MetricsServer
    timeout = _PATIENCE_S

    def setup(self) -> None:
        super().setup()
        self.rfile: Any = _Request(self.rfile)

    def do_GET(self) -> None:
        # Whoever came by another name is a web page that had its own name point here.
        host = (self.headers.get("Host") or ADDRESS).partition(":")[0]
        if host not in (ADDRESS, "localhost"):
            self.send_error(403, "Ask for 127.0.0.1")
        elif self.path != _PATH:
            self.send_error(404, f"There is {_PATH}")
        else:
            self.server.clients.waits(self.connection, False)
            body = self.server.metrics().encode()
            self.server.clients.waits(self.connection, True)
            self.send_response(200)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Requests are no news."""
