# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients of the metrics page that any user of the machine may be: those who wait hold nobody else up."""

from __future__ import annotations

import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from testbed.observation import metrics_server
from testbed.observation.metrics_server import ADDRESS, MOST_CLIENTS, MetricsServer
from tests.waiting import until

#: A server that waits for one client after the other would not come to the honest one in this time.
_DEADLINE_S = 60.0


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MetricsServer]:
    monkeypatch.setenv("NETBOXIT_STATE", str(tmp_path))
    with MetricsServer(0) as started:
        yield started


def connected(server: MetricsServer) -> socket.socket:
    return socket.create_connection((ADDRESS, int(server.url.split(":")[2].partition("/")[0])), timeout=_DEADLINE_S)


def fetched(server: MetricsServer) -> str:
    text: str = urllib.request.urlopen(server.url, timeout=_DEADLINE_S).read().decode()
    return text


@pytest.mark.parametrize("says", [b"", b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nX-", b"GET /metrics HTTP/1.0\r\n\r\n"])
def test_clients_that_say_nothing_little_or_never_read_hold_nobody_up_and_get_few_threads(
    server: MetricsServer, says: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    # More than any socket's buffers hold.
    page = "# nothing\n" * 1_200_000
    monkeypatch.setattr(server, "metrics", lambda: page)
    before = threading.active_count()
    with ExitStack() as clients:
        for _ in range(4 * MOST_CLIENTS):
            client = clients.enter_context(connected(server))
            with suppress(OSError):  # cut off already
                client.sendall(says)
        assert fetched(server).startswith("# nothing\n")
        # The thread of a client that was cut off ends a little later.
        until(lambda: threading.active_count() - before <= MOST_CLIENTS, "few threads are left", _DEADLINE_S)


def test_a_client_that_says_a_little_now_and_then_is_cut_off(server: MetricsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics_server, "_PATIENCE_S", 0.5)
    with connected(server) as slow:
        slow.settimeout(0.1)

        def is_over() -> bool:
            with suppress(TimeoutError):
                slow.sendall(b"X")
                return slow.recv(1) == b""
            return False

        until(is_over, "the connection is ended")


@pytest.mark.parametrize("says", [b"GET /" + b"x" * 100_000, b"GET /metrics HTTP/1.0\r\n" + b"X: %s\r\n" % (b"y" * 60_000) * 90])
def test_a_request_without_end_is_refused(server: MetricsServer, says: bytes) -> None:
    with connected(server) as client:
        with suppress(OSError):
            client.sendall(says + b"\r\n\r\n")
        with suppress(ConnectionResetError):  # it did not read all
            assert b"netboxit_" not in client.recv(4096)
    assert "netboxit_lab" in fetched(server)


def test_an_honest_client_that_connects_first_is_not_cut_off_while_its_answer_is_made(
    server: MetricsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, others_came = threading.Event(), threading.Event()

    def slowly() -> str:
        asked.set()
        assert others_came.wait(_DEADLINE_S)
        return "# late\n"

    monkeypatch.setattr(server, "metrics", slowly)
    with ExitStack() as clients:
        honest = clients.enter_context(connected(server))
        honest.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        assert asked.wait(_DEADLINE_S)
        for _ in range(2 * MOST_CLIENTS):
            clients.enter_context(connected(server))
        others_came.set()
        answer = b""
        while part := honest.recv(4096):
            answer += part
    assert answer.endswith(b"# late\n")
