# SPDX-License-Identifier: GPL-2.0-or-later
"""Where Prometheus fetches the metrics of all labs that are up: HTTP on loopback, one answer after the other."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import TracebackType
from typing import Any, Final, Self

from testbed.errors import NetBoxITError
from testbed.observation.metrics_page import CONTENT_TYPE, page
from testbed.observation.watching import Watch

ADDRESS: Final = "127.0.0.1"
_PATH: Final = "/metrics"
#: A client that says nothing for so long is cut off.
_PATIENCE_S: Final = 5.0


class PortTaken(NetBoxITError):
    """The metrics cannot be served there."""


class MetricsServer:
    """Serves for the length of a with block. Each request reads the labs that are up then."""

    def __init__(self, port: int) -> None:
        self._watch = Watch(None)
        try:
            self._server = HTTPServer((ADDRESS, port), self._handler())
        except OSError as error:
            raise PortTaken(f"port {port} of {ADDRESS}: {error.strerror}; choose another one by --port, or 0 for any") from error
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.url = f"http://{ADDRESS}:{self._server.server_port}{_PATH}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._watch.close()

    def metrics(self) -> str:
        self._watch.look()
        return page((one.lab.plan, one.now) for one in self._watch.labs.values() if one.now is not None)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        metrics = self.metrics

        class Handler(BaseHTTPRequestHandler):
            timeout = _PATIENCE_S

            def do_GET(self) -> None:
                # Whoever came by another name is a web page that had its own name point here.
                host = (self.headers.get("Host") or ADDRESS).partition(":")[0]
                if host not in (ADDRESS, "localhost"):
                    self.send_error(403, "Ask for 127.0.0.1")
                elif self.path != _PATH:
                    self.send_error(404, f"There is {_PATH}")
                else:
                    self._answer(metrics().encode())

            def _answer(self, body: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Type", CONTENT_TYPE)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: Any) -> None:
                """Requests are no news."""

        return Handler
