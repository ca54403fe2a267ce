# SPDX-License-Identifier: GPL-2.0-or-later
"""Click's handlers over the control socket: the protocol Click::ControlSocket/1.3, and what clients can do to it."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from testbed.nodes.routers import HandlerRefused
from tests.click_lab import Meoc, Router
from tests.namespaces import DEADLINE_S, Namespace, wait_for

pytestmark = pytest.mark.lab

CONFIGURATION = """
source :: RatedSource(RATE 10, LIMIT 5, ACTIVE false) -> count :: Counter -> queue :: Queue(100);
queue -> gate :: Unqueue(ACTIVE false) -> Discard;
routes :: StaticIPLookup(10.0.0.0/8 - 0); Idle -> routes -> Discard;
text :: Script(TYPE PASSIVE, set value 0);
"""


@pytest.fixture(scope="module")
def space() -> Iterator[Namespace]:
    with Namespace("control") as space:
        assert space.run("ip", "link", "set", "lo", "up").returncode == 0
        yield space


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory, space: Namespace) -> Iterator[Router]:
    folder = tmp_path_factory.mktemp("control")
    configuration = folder / "control.click"
    extra = f"ControlSocket(UNIX, {folder}/own.sock, READONLY true); ControlSocket(TCP, 7000+);"
    configuration.write_text(CONFIGURATION + extra)
    with Router(space, folder, configuration, {}) as router:
        yield router


@contextmanager
def raw(path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(DEADLINE_S)
        connection.connect(str(path))
        yield connection


def dialogue(path: Path, request: bytes) -> bytes:
    """Everything that the server says to this request, after which it closes because of the QUIT behind it."""
    with raw(path) as connection:
        connection.sendall(request + b"QUIT\r\n")
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


GREETING, GOODBYE = b"Click::ControlSocket/1.3\r\n", b"200 Goodbye!\r\n"


def answer(router: Router, request: bytes) -> bytes:
    said = dialogue(router.control, request)
    assert said.startswith(GREETING) and said.endswith(GOODBYE)
    return said[len(GREETING) : -len(GOODBYE)]


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (b"READ queue.capacity\r\n", b"200 Read handler 'queue.capacity' OK\r\nDATA 3\r\n100"),
        (b"read queue.capacity\n", b"200 Read handler 'queue.capacity' OK\r\nDATA 3\r\n100"),
        (b"GET queue.capacity\r", b"200 Read handler 'queue.capacity' OK\r\nDATA 3\r\n100"),
        (b"\r\n\r\nREAD 1.name\r\n", b"200 Read handler '1.name' OK\r\nDATA 6\r\nsource"),
        (b"READ version\r\n", b"200 Read handler 'version' OK\r\nDATA 3\r\n2.1"),
        (b"READ routes.lookup 10.1.2.3\r\n", b"200 Read handler 'routes.lookup' OK\r\nDATA 1\r\n0"),
        (b"READDATA routes.lookup 8\r\n10.1.2.3", b"200 Read handler 'routes.lookup' OK\r\nDATA 1\r\n0"),
        (b"READUNTIL routes.lookup END\r\n10.1.2.3\r\nEND\r\n", b"200 Read handler 'routes.lookup' OK\r\nDATA 1\r\n0"),
        (b"WRITE queue.capacity 100\r\n", b"200 Write handler 'queue.capacity' OK\r\n"),
        (b"WRITEDATA queue.capacity 3\r\n100", b"200 Write handler 'queue.capacity' OK\r\n"),
        (b"WRITEUNTIL queue.capacity \r\n100\r\n  \r\n", b"200 Write handler 'queue.capacity' OK\r\n"),
        (b"CHECKREAD queue.length\r\n", b"200 Read handler 'queue.length' OK\r\n"),
        (b"CHECKWRITE queue.reset\r\n", b"200 Write handler 'queue.reset' OK\r\n"),
        (b"CHECKWRITE queue.length\r\n", b"530 Handler 'queue.length' read-only\r\n"),
        (b"READ queue.reset\r\n", b"530 Handler 'queue.reset' write-only\r\n"),
        (b"READ nobody.count\r\n", b"510 No element named 'nobody'\r\n"),
        (b"READ 999.count\r\n", b"510 No element named '999'\r\n"),
        (b"READ queue.nothing\r\n", b"511 No handler named 'queue.nothing'\r\n"),
        (b"READ\r\n", b"500 Wrong number of arguments\r\n"),
        (b"WRITEDATA queue.capacity many\r\n", b"500 Wrong number of arguments\r\n"),
        (b"DANCE\r\n", b"501 Unknown command 'DANCE'\r\n"),
        (b"LLRPC queue#5\r\n", b"501 LLRPC is not offered: the Click library of ns-3 has no way to it\r\n"),
        (b"LLRPC queue#5 7\r\nQUIT\r\n ", b"501 LLRPC is not offered: the Click library of ns-3 has no way to it\r\n"),
        (b"LLRPC queue#5 many\r\n", b"500 Wrong number of arguments\r\n"),
        (b"CHECKWRITE hotconfig\r\n", b"200 Write handler 'hotconfig' OK\r\n"),
        (b"READ hotconfig\r\n", b"530 Handler 'hotconfig' write-only\r\n"),
        (b"CHECKREAD stages\r\n", b"200 Read handler 'stages' OK\r\n"),
        (b"CHECKWRITE stages\r\n", b"200 Write handler 'stages' OK\r\n"),
        (b"READ stages\r\n", b"200 Read handler 'stages' OK\r\nDATA 2\r\n{}"),
        (b"READ queue.stages\r\n", b"511 No handler named 'queue.stages'\r\n"),
    ],
)
def test_the_protocol_is_that_of_clicks_own_control_socket(router: Router, request_: bytes, expected: bytes) -> None:
    assert answer(router, request_) == expected


def test_a_handlers_complaint_reaches_the_client(router: Router) -> None:
    said = answer(router, b"WRITE queue.capacity lots\r\n")
    assert said == b"520-CAPACITY: invalid number\r\n520 Write handler 'queue.capacity' error\r\n"


def test_help_lists_the_commands(router: Router) -> None:
    lines = answer(router, b"HELP\r\n").splitlines()
    assert all(line.startswith(b"200-") for line in lines[:-1]) and lines[-1].startswith(b"200 ")
    assert any(b"WRITEDATA" in line for line in lines)


def test_handlers_change_what_the_router_does(router: Router) -> None:
    with router.handlers() as handlers:
        before = int(handlers.read("count.count"))
        handlers.write("source.reset")
        handlers.write("source.active", "true")
        wait_for(lambda: int(handlers.read("queue.length")) == 5, "five packets of the source")
        assert int(handlers.read("count.count")) == before + 5
        handlers.write("gate.active", "true")
        wait_for(lambda: int(handlers.read("queue.length")) == 0, "the queue to empty")
        handlers.write("gate.active", "false")


def test_a_source_that_is_active_from_the_start_starts_by_itself(tmp_path: Path) -> None:
    configuration = tmp_path / "source.click"
    configuration.write_text("RatedSource(RATE 100, LIMIT 20) -> count :: Counter -> Discard;")
    with Namespace("source") as space, Router(space, tmp_path, configuration, {}) as router, router.handlers() as handlers:
        wait_for(lambda: handlers.read("count.count") == "20", "the source's twenty packets")


def test_refusals_are_errors_with_clicks_code(router: Router) -> None:
    with router.handlers() as handlers:
        with pytest.raises(HandlerRefused, match="No element named 'nobody'") as refused:
            handlers.read("nobody.count")
        assert refused.value.code == 510
        with pytest.raises(HandlerRefused, match="read-only"):
            handlers.write("queue.length", "3")
        with pytest.raises(HandlerRefused, match="without blanks"):
            handlers.read("queue.length\r\nWRITE stop")
        assert handlers.read("queue.length") == "0"


def test_a_control_socket_of_the_users_own_is_served_and_keeps_to_read_only(router: Router) -> None:
    said = dialogue(router.folder / "own.sock", b"READ queue.capacity\r\nWRITE queue.capacity 5\r\n")
    assert b"DATA 3\r\n100" in said
    assert b"530 Permission denied for 'queue.capacity'" in said
    assert b"530 Permission denied" in dialogue(router.folder / "own.sock", b"WRITE hotconfig Idle -> Discard;\r\n")
    assert b"530 Permission denied" in dialogue(router.folder / "own.sock", b"WRITE stages a []\r\n")


def test_a_client_by_tcp_is_served_like_one_at_the_unix_socket(router: Router, space: Namespace) -> None:
    with space.inside(), socket.socket() as connection:
        connection.settimeout(DEADLINE_S)
        connection.connect(("127.0.0.1", 7000))
        connection.sendall(b"READ queue.capacity\r\nLLRPC queue#1 2\r\nxxCHECKREAD queue.length\r\nQUIT\r\n")
        said = b"".join(iter(lambda: connection.recv(65536), b""))
    assert said == GREETING + (
        b"200 Read handler 'queue.capacity' OK\r\nDATA 3\r\n100"
        b"501 LLRPC is not offered: the Click library of ns-3 has no way to it\r\n"
        b"200 Read handler 'queue.length' OK\r\n" + GOODBYE
    )


def test_many_clients_are_served_at_once(router: Router) -> None:
    with router.handlers() as one, router.handlers() as two, router.handlers() as three:
        for client in (three, one, two, one):
            assert client.read("source.name") == "source"


def test_a_client_that_never_reads_holds_nobody_up(router: Router) -> None:
    with raw(router.control) as deaf, router.handlers() as handlers:
        deaf.setblocking(False)
        try:
            while True:
                deaf.send(b"READ flatconfig\r\n" * 1000)
        except BlockingIOError:
            pass
        assert handlers.read("source.name") == "source"


@pytest.mark.parametrize("seed", range(5))
def test_garbage_does_no_harm(router: Router, seed: int) -> None:
    chance = random.Random(seed)
    words = [
        b"READ ",
        b"WRITE ",
        b"WRITEDATA ",
        b"LLRPC ",
        b"hotconfig ",
        b"READUNTIL ",
        b"queue",
        b".",
        b"capacity",
        b"\r\n",
        b"\n",
        b" ",
        b"99999999999999999999",
        b"-1",
        b"\0",
    ]
    with raw(router.control) as connection:
        try:
            for _ in range(200):
                connection.sendall(b"".join(chance.choice([*words, chance.randbytes(20)]) for _ in range(50)))
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server may have had enough
    with router.handlers() as handlers:
        assert handlers.read("source.name") == "source"
        handlers.write("queue.capacity", "100")


def test_an_endless_line_ends_the_connection_not_the_router(router: Router) -> None:
    with raw(router.control) as connection:
        try:
            for _ in range(100):
                connection.sendall(b"x" * 65536)
        except (BrokenPipeError, ConnectionResetError):
            pass
    with router.handlers() as handlers:
        assert handlers.read("source.name") == "source"


def test_too_much_data_is_refused(router: Router) -> None:
    assert b"521 Data longer" in dialogue(router.control, b"WRITEDATA queue.capacity 100000000\r\n")


def test_stop_ends_the_router_in_order(tmp_path: Path) -> None:
    configuration = tmp_path / "stop.click"
    configuration.write_text("Idle -> Discard;")
    with Namespace("stop") as space, Router(space, tmp_path, configuration, {}) as router:
        with router.handlers() as handlers:
            handlers.write("stop")
        assert router.process.wait(timeout=DEADLINE_S) == 0
    assert (tmp_path / "statistics.json").exists() and not router.control.exists()


def test_the_meoc_routers_queues_and_rate_are_handlers(meoc: Meoc) -> None:
    with meoc.router.handlers() as handlers:
        assert {"jan_ef", "jan_af4", "jan_cs", "jan_be", "jan_shaper"} <= set(handlers.elements())
        handlers.write("jan_shaper.rate", "1000kbps")
        # Click rounds a rate to its clock.
        assert float(handlers.read("jan_shaper.rate").removesuffix("kbps").removesuffix("Mbps")) == pytest.approx(1.0, rel=0.01)
        handlers.write("jan_shaper.rate", "1900kbps")
