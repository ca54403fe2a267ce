# SPDX-License-Identifier: GPL-2.0-or-later
"""The client against a socket that answers as a netbox does, or does not."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from testbed.nodes.control import Control, ControlFailed, ParameterRefused

STATUS = {
    "ready": True,
    "unlinked": {"walker": "not associated"},
    "technology": "wifi",
    "simulated_s": 1.5,
    "ports": [{"name": "left", "kind": "packet"}],
    "scheduler": {"policy": "fifo", "priority": 50, "reasons": []},
}
_LATE = {"count": 2, "missed": 0, "sum": 3.5, "up_to": [[10.0, 1], [100, 2]]}
COUNTERS = {
    "ports": [],
    "frames": {"lost": {"on_air": 9}, "delivered": 1, "inside": 0, "absorbed": 0},
    "stages": {"left": [{"stage": "pink", "flows": 3}]},
    "lateness_us": {"event": _LATE, "frame": _LATE},
    "scheduler": {"cpu_s": 1, "spin_s": 0.5, "stepped_back": 0},
}
Answer = Callable[[dict[str, Any]], bytes]


@pytest.fixture
def netbox(tmp_path: Path) -> Callable[[Answer], Path]:
    """A netbox's socket, deeper than the 107 bytes of a Unix address, that answers each line of one client by a function."""

    def make(answer: Answer) -> Path:
        folder = tmp_path / ("deep" * 30)
        folder.mkdir()
        path = folder / "control.sock"
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # From inside the folder, as a netbox in its container.
        here = Path(f"/proc/self/fd/{_opened(folder)}")
        listener.bind(str(here / "control.sock"))
        listener.listen(1)

        def serve() -> None:
            connection, _ = listener.accept()
            with listener, connection, connection.makefile("rb") as lines:
                for line in lines:
                    if not (reply := answer(json.loads(line))):
                        return
                    connection.sendall(reply)

        threading.Thread(target=serve, daemon=True).start()
        return path

    return make


def _opened(folder: Path) -> int:
    return os.open(folder, os.O_PATH | os.O_DIRECTORY)


def result(value: object) -> Answer:
    return lambda request: json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": value}).encode() + b"\n"


def test_a_request_is_a_line_of_json_rpc_and_its_result_is_returned(netbox: Callable[[Answer], Path]) -> None:
    seen: list[dict[str, Any]] = []

    def answer(request: dict[str, Any]) -> bytes:
        seen.append(request)
        return result(STATUS)(request)

    with Control("field", netbox(answer)) as control:
        assert control.status() == STATUS
        control.set("distance", 7500.0)
    assert seen == [
        {"jsonrpc": "2.0", "id": 1, "method": "status", "params": {}},
        {"jsonrpc": "2.0", "id": 2, "method": "set", "params": {"parameter": "distance", "value": 7500.0}},
    ]


def test_what_a_netbox_refuses_is_told_in_its_words(netbox: Callable[[Answer], Path]) -> None:
    def refuse(request: dict[str, Any]) -> bytes:
        error = {"code": -32602, "message": "distance: 1 m … 10 km"}
        return json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}).encode() + b"\n"

    with (
        Control("field", netbox(refuse)) as control,
        pytest.raises(ParameterRefused, match="netbox field: distance: 1 m … 10 km"),
    ):
        control.set("distance", 1e9)


def test_a_netbox_that_ends_while_it_is_asked_is_told(netbox: Callable[[Answer], Path]) -> None:
    with (
        Control("field", netbox(lambda _: b"")) as control,
        pytest.raises(ControlFailed, match="ended while it was asked for status"),
    ):
        control.status()


def test_a_netbox_without_socket_is_told(tmp_path: Path) -> None:
    with pytest.raises(ControlFailed, match="does not answer"):
        Control("field", tmp_path / "control.sock")


def test_an_answer_to_another_request_is_not_taken(netbox: Callable[[Answer], Path]) -> None:
    path = netbox(lambda _: b'{"jsonrpc": "2.0", "id": 99, "result": {}}\n')
    with Control("field", path) as control, pytest.raises(ControlFailed, match="answered request 99"):
        control.status()


@pytest.mark.parametrize(
    "said",
    [
        *(
            b"",
            b"{",
            b"[]",
            b"7",
            b"null",
            b"\xff\xfe",
            b"[" * 100_000,
            b'{"id": 1}',
            b'{"id": "x", "result": {}}',
            b'{"id": 1, "error": 7}',
        ),
        *(
            b'{"id": 1, "result": %s}' % said
            for said in (b"7", b"[]", b"null", b"{}", b'{"ready": 1, "ports": []}', b'{"ready": true}')
        ),
    ],
)
def test_what_no_netbox_says_is_told_as_that(said: bytes, netbox: Callable[[Answer], Path]) -> None:
    """Another program of the node can have taken its place."""
    with Control("field", netbox(lambda _: said + b"\n")) as control, pytest.raises(ControlFailed, match="field"):
        control.status()


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (Control.status, {**STATUS, "ready": 1}),
        (Control.status, {**STATUS, "simulated_s": "1.5"}),
        (Control.status, {**STATUS, "ports": [{"name": "left", "kind": "packet", "capture": {"state": "running"}}]}),
        (Control.counters, {**COUNTERS, "scheduler": {}}),
        (Control.counters, {**COUNTERS, "frames": {"lost": {"on_air": "9"}, "delivered": 1, "inside": 0, "absorbed": 0}}),
        (Control.statistics, COUNTERS),
        (Control.write_records, {"written": True, "dropped": 0, "left": 0}),
        (lambda control: control.capture_stop("left"), {"written": True}),
        (lambda control: control.begin(None), {"simulated_s": None}),
    ],
)
def test_an_answer_of_another_shape_comes_from_no_netbox(
    ask: Callable[[Control], object], answer: object, netbox: Callable[[Answer], Path]
) -> None:
    with Control("field", netbox(result(answer))) as control, pytest.raises(ControlFailed, match="what it never says"):
        ask(control)


def test_counters_are_handed_on_with_what_is_the_netbox_s_own(netbox: Callable[[Answer], Path]) -> None:
    told = {**COUNTERS, "missed": 0, "of its own": {"a": [1, None]}}
    with Control("field", netbox(result(told))) as control:
        assert control.counters() == told


@pytest.mark.parametrize("number", [b"NaN", b"-Infinity", b"1e999", b"9" * 400, b"18446744073709551616"])
@pytest.mark.parametrize("place", ["simulated_s", "of its own"])
def test_what_is_no_number_of_json_comes_from_no_netbox(number: bytes, place: str, netbox: Callable[[Answer], Path]) -> None:
    """`status --json` could not hand it on."""
    said = json.dumps({"id": 1, "result": {**STATUS, place: "here"}}).encode().replace(b'"here"', number)
    with Control("field", netbox(lambda _: said + b"\n")) as control, pytest.raises(ControlFailed, match="what it never says"):
        control.status()


def test_what_is_refused_spoils_no_terminal(netbox: Callable[[Answer], Path]) -> None:
    def answer(request: dict[str, Any]) -> bytes:
        return json.dumps({"id": request["id"], "error": {"message": "no\x1b[31m\nnetboxit: all is well"}}).encode() + b"\n"

    with Control("field", netbox(answer)) as control, pytest.raises(ParameterRefused) as refused:
        control.status()
    assert str(refused.value).isprintable()
