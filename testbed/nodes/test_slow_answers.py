# SPDX-License-Identifier: GPL-2.0-or-later
"""What answers in a node without end, a little at a time, keeps nobody waiting: the time is for the whole answer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from testbed.nodes.control import Control, ControlFailed
from testbed.nodes.routers import Handlers, RouterUnreachable

#: For a whole answer, and between two pieces of what answers without end.
PATIENCE_S, PAUSE_S = 0.3, 0.02

pytestmark = pytest.mark.timeout(30)


@pytest.fixture
def without_end(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A socket that says the fixture's first text at once, and its second one again and again."""
    first, again = request.param
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path := tmp_path / "control.sock"))
    listener.listen()
    over = threading.Event()

    def serve() -> None:
        client = listener.accept()[0]
        with client, suppress(OSError):
            client.sendall(first)
            while not over.wait(PAUSE_S):
                client.sendall(again)

    server = threading.Thread(target=serve, daemon=True)
    server.start()
    yield path
    over.set()
    listener.close()
    server.join(5)


@pytest.mark.parametrize("without_end", [(b"", b" ")], indirect=True)
def test_a_netbox_that_never_ends_its_answer_is_given_up(without_end: Path) -> None:
    control = Control("x", without_end, PATIENCE_S)
    with pytest.raises(ControlFailed, match="no answer to status"):
        control.status()
    control.close()


@pytest.mark.parametrize("without_end", [(b"", b"C")], indirect=True)
def test_a_router_that_never_ends_its_greeting_is_given_up(without_end: Path) -> None:
    with pytest.raises(RouterUnreachable), Handlers(without_end, PATIENCE_S):
        pass


@pytest.mark.parametrize("without_end", [(b"Click::ControlSocket/1.3\r\n", b"200-more\r\n")], indirect=True)
def test_a_router_that_warns_without_end_is_given_up(without_end: Path) -> None:
    with Handlers(without_end, PATIENCE_S) as router, pytest.raises(RouterUnreachable):
        router.write("x.y", "z")
