# SPDX-License-Identifier: GPL-2.0-or-later
"""A program in a node, as its root, puts anything in the place of files and sockets that the host looks for there."""

from __future__ import annotations

import json
import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import NetBoxITError
from contracts.plan import RealtimeSupport
from testbed.changing import apply_now, by_hand, handlers
from testbed.labs.lab import Lab
from testbed.observation.event_reader import EventReader, status_with_events
from testbed.observation.reading import LabReader
from testbed.plans.planning import plan_file
from tests.traces import traces

pytestmark = pytest.mark.lab


def _result(said: object) -> bytes:
    return b"".join(json.dumps({"id": number, "result": said}).encode() + b"\n" for number in range(1, 4))


NETWORK: dict[str, Any] = {
    "wire": "veth",
    "hosts": {"a": {"address": "10.1.0.1/24"}, "b": {"address": "10.2.0.1/24"}},
    "netboxes": {"seg": {"technology": "ethernet", "medium": "switched", "stations": {"left": {}, "right": {}}}},
    "routers": {"r": {"configuration": "click/ip-router.click", "interfaces": {"a": "10.1.0.254/24", "b": "10.2.0.254/24"}}},
    "switches": {"lan": {"ports": {"one": {}, "two": {}}}},
    "wires": [["a", "lan.one"], ["lan.two", "seg.left"], ["seg.right", "r.a"], ["r.b", "b"]],
}
#: What the host looks for in each node's folder.
PLACES = {
    "seg": ("control.sock", "journal.jsonl", "log", "netbox.json"),
    "r": ("control.sock", "statistics.json", "log", "ip-router.click"),
    "lan": ("ready", "log", "switch.json"),
    "a": ("log", "call"),
}
#: What a netbox might say that has nothing, and writes on terminals.
EMPTY = {
    **{"ports": [], "ready": True, "technology": "\x1b[31m", "simulated_s": 1e308},
    "events": [{"at_s": 0, "event": "\x1b[31m"}],
    "scheduler": {"policy": "", "priority": 0, "reasons": [], "cpu_s": -1},
    "frames": {"lost": {}, "delivered": 0, "inside": 0},
    "stages": {"\x1b[31m": [{"stage": "\x1b[31m"}, {}]},
    "lateness_us": {what: {"count": 0, "missed": 9, "sum": 0, "up_to": []} for what in ("event", "frame")},
}
#: Stages of an interface as no router would have them.
STAGES = json.dumps({"a": [{"stage": "\x1b[31m", "rate": float("nan"), "budgets": {"\x1b": 1}}, {}], "b": []}).encode()
STAGES = STAGES.replace(b"{}", b'{"rate": ' + b"[" * 500 + b"]" * 500 + b"}")
#: A server in the place of Click's or of a netbox, by what it says to whoever comes.
SAYS = {
    "a router": b"Click::ControlSocket/1.3\r\n200 OK\r\nDATA 99999\r\n",
    "a router with wrong stages": b"Click::ControlSocket/1.3\r\n200 OK\r\nDATA %d\r\n%s" % (len(STAGES), STAGES),
    "a router of nonsense": b"Click::ControlSocket/1.3\r\n\xff\x1b[31m 7\r\n",
    "a netbox of nonsense": _result({"ports": [7], "ready": True, "frames": {}, "events": []}),
    "a netbox without ports": _result(EMPTY),
}
SECRET = "what only the machine's root may read"
ASKS: dict[str, Callable[[Lab], object]] = {
    "status": status_with_events,
    "readiness": lambda lab: lab.wait_ready(0.2),
    "watching": lambda lab: (LabReader(lab).read(), EventReader(lab).new()),
    "set": lambda lab: apply_now.change(lab, "seg", "loss=0"),
    "handler": lambda lab: handlers.read(lab, "r", "list"),
    "swap": lambda lab: apply_now.change(lab, "r", "configuration=click/ip-router.click"),
    "stages": lambda lab: apply_now.change(lab, "r", "a.stages=[]"),
    "what was set by hand": lambda lab: [by_hand.lost(lab.node_folder(node), lab.node(node)) for node in ("r", "seg")],
    "an application's file": lambda lab: lab.own_files("a", "call").write("config", "of the application"),
    "an application's recording": lambda lab: lab.own_files("a", "call").take("secret", Path(os.devnull)),
    "the end of a log": lambda lab: lab._log_tail("seg"),
}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NETBOXIT_STATE", str(folder))
        before = traces(folder)
        (file := folder / "hostile.yaml").write_text(json.dumps(NETWORK | {"name": f"hostile{os.getpid()}"}))
        with Lab.up_and_ready(plan_file(file, realtime=RealtimeSupport(False, None, "a test"))) as up:
            yield up
        assert traces(folder) == before


@contextmanager
def in_place_of(file: Path, kind: str, elsewhere: Path) -> Iterator[None]:
    """Something of that kind, where there was what the host looks for, if anything."""
    aside = file.with_name(f"{file.name}.aside")
    was = file.exists()
    if was:
        file.rename(aside)
    try:
        with ExitStack() as open_ones:
            _put(file, kind, elsewhere, open_ones)
            yield
    finally:
        with suppress(FileNotFoundError):
            shutil.rmtree(file) if file.is_dir() and not file.is_symlink() else file.unlink()
        if was:
            aside.rename(file)


def _put(file: Path, kind: str, elsewhere: Path, open_ones: ExitStack) -> None:
    if kind.startswith("link"):
        file.symlink_to({"link to a file": elsewhere / "secret", "link to a folder": elsewhere, "link to itself": file}[kind])
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        (file / "deeper").mkdir(parents=True)
    elif kind == "nonsense":
        file.write_bytes(b'{"came": [], "result": 7}\n\xff\x1b[31m' + b"[" * 5000)
    elif kind in SAYS:
        listening = open_ones.enter_context(socket.socket(socket.AF_UNIX))
        folder = os.open(file.parent, os.O_PATH)
        open_ones.callback(os.close, folder)
        listening.bind(f"/proc/self/fd/{folder}/{file.name}")
        listening.listen()
        # Closed alone, it would stay for the thread that waits for a client, and with it the node's disk.
        open_ones.callback(listening.shutdown, socket.SHUT_RDWR)
        threading.Thread(target=_answer, args=(listening, SAYS[kind]), daemon=True).start()


def _answer(listening: socket.socket, says: bytes) -> None:
    with suppress(OSError):
        while True:
            client, _ = listening.accept()
            with client, suppress(OSError):
                client.settimeout(0.3)
                client.sendall(says)
                client.recv(4096)


@pytest.mark.parametrize("kind", ["link to a file", "link to a folder", "link to itself", "pipe", "folder", "nonsense", *SAYS])
def test_whatever_a_node_puts_there_is_refused_in_words_and_not_followed(kind: str, lab: Lab, tmp_path: Path) -> None:
    (secret := tmp_path / "secret").write_text(SECRET)
    before = _listing(tmp_path)
    with ExitStack() as put:
        for node, names in PLACES.items():
            for name in names:
                put.enter_context(in_place_of(lab.node_folder(node) / name, kind, tmp_path))
        for what, ask in ASKS.items():
            try:
                told = repr(ask(lab))
            except NetBoxITError as refused:
                told = str(refused)
            assert SECRET not in told, what
    assert _listing(tmp_path) == before
    assert secret.read_text() == SECRET
    assert all(lab.alive().values())


def _listing(folder: Path) -> list[tuple[str, int, int]]:
    return sorted((str(path), path.lstat().st_uid, path.lstat().st_mode) for path in (folder, *folder.rglob("*")))
