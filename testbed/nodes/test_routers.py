# SPDX-License-Identifier: GPL-2.0-or-later
"""What a router node is given and runs, and how its handlers are spoken to when the other side misbehaves.

The conversation with a real router is tested in click/test_control.py.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from contracts.plan import InterfacePlan
from testbed.nodes import routers
from testbed.nodes.routers import HandlerRefused, Handlers, RouterProgramMissing, RouterUnreachable


def test_an_interface_gives_its_name_and_addresses_as_variables() -> None:
    interfaces = [
        InterfacePlan("ian", "w1", "02:00:00:00:00:01", ("10.10.0.1/24",)),
        InterfacePlan("uplink-2", "w2", "02:00:00:00:00:02", ("fd00::1/64", "10.20.3.1/22", "10.99.0.1/24")),
    ]
    assert routers.defines(interfaces) == {
        "IAN_DEV": "ian",
        "IAN_ETH": "02:00:00:00:00:01",
        "IAN_IP": "10.10.0.1",
        "IAN_NET": "10.10.0.0/24",
        "UPLINK_2_DEV": "uplink-2",
        "UPLINK_2_ETH": "02:00:00:00:00:02",
        "UPLINK_2_IP": "10.20.3.1",
        "UPLINK_2_NET": "10.20.0.0/22",
    }


def test_an_interface_without_ipv4_has_no_ip_variables() -> None:
    assert set(routers.defines([InterfacePlan("x", "w", "02:00:00:00:00:01")])) == {"X_DEV", "X_ETH"}


def test_a_node_runs_click_router_with_its_socket_statistics_and_variables() -> None:
    command = routers.command(Path("/lab/meoc.click"), {"IAN_DEV": "ian", "NOTE": "two words, $1"}, priority=40)
    assert command == (
        str(routers.EXECUTABLE),
        *("--control", "/run/netboxit/control.sock"),
        *("--statistics", "/run/netboxit/statistics.json"),
        *("--journal", "/run/netboxit/journal.jsonl"),
        *("--priority", "40"),
        *("--define", "IAN_DEV=ian"),
        *("--define", "NOTE=two words, $1"),
        "/lab/meoc.click",
    )
    assert Path(command[0]).is_absolute()


def test_without_a_priority_none_is_asked_for() -> None:
    assert "--priority" not in routers.command(Path("x.click"), {})


def test_a_check_without_the_program_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(routers, "EXECUTABLE", tmp_path / "click-router")
    with pytest.raises(RouterProgramMissing, match="make setup"):
        routers.check(Path("x.click"), "", {})


@contextmanager
def server(path: Path, says: bytes, then_waits: bool = False) -> Iterator[None]:
    """Accepts one client, says this once the client has said something (the first line at once), and closes."""
    ended = threading.Event()

    def serve(listening: socket.socket) -> None:
        with listening.accept()[0] as client:
            greeting, line_end, rest = says.partition(b"\r\n")
            client.sendall(greeting + line_end)
            if rest and client.recv(4096):
                client.sendall(rest)
            if then_waits:
                ended.wait(10)

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(path))
        listening.listen()
        thread = threading.Thread(target=serve, args=(listening,))
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


GREETING = b"Click::ControlSocket/1.3\r\n"


def test_a_reply_of_many_lines_and_data_is_read_to_its_end(tmp_path: Path) -> None:
    says = GREETING + b"200-first\r\n200 Read handler OK\r\nDATA 9\r\na\r\nb\r\n\r\nc"
    with server(tmp_path / "s", says), Handlers(tmp_path / "s") as handlers:
        assert handlers.read("x.y") == "a\r\nb\r\n\r\nc"


def test_warnings_of_a_write_are_returned(tmp_path: Path) -> None:
    with server(tmp_path / "s", GREETING + b"220-careful\r\n220 OK with messages\r\n"), Handlers(tmp_path / "s") as handlers:
        assert handlers.write("x.y", "1") == "careful"


@pytest.mark.parametrize("answer", [b"", b"[]", b'{"a": 7}', b'{"a": [7]}', b"\xff", b"[" * 100_000])
def test_stages_that_are_none_are_an_error(tmp_path: Path, answer: bytes) -> None:
    says = GREETING + b"200 Read handler OK\r\nDATA %d\r\n%s" % (len(answer), answer)
    with (
        server(tmp_path / "s", says),
        Handlers(tmp_path / "s") as handlers,
        pytest.raises(RouterUnreachable, match="answers what are no stages"),
    ):
        handlers.stages()


def test_more_than_a_router_takes_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    with (
        server(tmp_path / "s", GREETING),
        Handlers(tmp_path / "s") as handlers,
        pytest.raises(HandlerRefused, match="a router takes 1048576 bytes at most, and these are 1048577"),
    ):
        handlers.write("x.y", "1" * ((1 << 20) + 1))


def test_nobody_at_the_socket_is_named(tmp_path: Path) -> None:
    with pytest.raises(RouterUnreachable, match="nothing-here"), Handlers(tmp_path / "nothing-here"):
        pass


@pytest.mark.parametrize("says", [b"SSH-2.0-OpenSSH\r\n", b"Click::ControlSocket/2.0\r\n"])
def test_something_else_at_the_socket_is_recognised(tmp_path: Path, says: bytes) -> None:
    with (
        server(tmp_path / "s", says),
        pytest.raises(RouterUnreachable, match="not Click's ControlSocket"),
        Handlers(tmp_path / "s"),
    ):
        pass


@pytest.mark.parametrize(
    ("says", "complaint"),
    [
        (b"nonsense\r\n", "reply code"),
        (b"200 OK\r\nDATA many\r\n", "length"),
        (b"200 OK\r\nDATA 100\r\nshort", "closed the connection"),
    ],
)
def test_a_broken_answer_is_an_error_not_a_wrong_value(tmp_path: Path, says: bytes, complaint: str) -> None:
    with (
        server(tmp_path / "s", GREETING + says),
        Handlers(tmp_path / "s") as handlers,
        pytest.raises(RouterUnreachable, match=complaint),
    ):
        handlers.read("x.y")


def test_a_silent_router_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    with (
        server(tmp_path / "s", GREETING, then_waits=True),
        Handlers(tmp_path / "s", timeout_s=0.05) as handlers,
        pytest.raises(RouterUnreachable, match="no answer"),
    ):
        handlers.read("x.y")


def test_a_refusal_carries_clicks_words_and_code(tmp_path: Path) -> None:
    says = GREETING + b"520-CAPACITY: invalid number\r\n520 Write handler error\r\n"
    with (
        server(tmp_path / "s", says),
        Handlers(tmp_path / "s") as handlers,
        pytest.raises(HandlerRefused, match=r"write of Click handler q\.capacity refused \(520\): CAPACITY: invalid number"),
    ):
        handlers.write("q.capacity", "x")
