# SPDX-License-Identifier: GPL-2.0-or-later
"""What is on record of a lab, damaged: commands say which file it is and what to do, and never more than that."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from contracts.errors import NetBoxITError
from contracts.run_folder import PLAN_FILE
from ownership import recorded, state
from ownership.ledger import DamagedLedger, Ledger, UndoFailed
from ownership.recorded import DamagedRecord
from system.equipment import Taken
from testbed import where
from testbed.changing import unfinished
from testbed.labs import measuring, removal
from testbed.labs.event_log import EventLog
from testbed.labs.lab import Lab
from testbed.observation.watching import Watch
from testbed.several_hosts.parts_file import PartsRecord

DAMAGED = [
    "",
    "{",
    "{}",
    "[]",
    "[[]]",
    "null",
    "7",
    '"x"',
    '{"nodes": 7}',
    '{"lab": "x", "nodes": [{}]}',
    "\0",
    "[" * 100_000,
    "\udcff",
]
NO_RECORDS = [
    *("{", "[]", "null", "{}", '{"kind": "wire"}', '{"kind": [], "name": "x"}', '{"kind": "wire", "name": 7}', "\0", "\udcff"),
    '{"kind": "removed", "name": "x"}',
    *(f'{{"kind": "namespace", "name": "{name}"}}' for name in ("../x", "/etc", "..", "")),
]
READERS: dict[str, Callable[[Path], object]] = {
    PLAN_FILE: lambda folder: Lab("x", folder).plan,
    recorded.CHANGING: recorded.states,
    "unfinished.json": unfinished.of,
    "begun.json": EventLog.of,
    "parts.json": PartsRecord.of,
    "measured.json": measuring.run_of,
}


@pytest.fixture
def folder(state_folder: Path) -> Path:
    (made := state_folder / "labs/x").mkdir(parents=True)
    return made


def put(file: Path, text: str) -> None:
    file.write_bytes(text.encode(errors="surrogateescape"))


@pytest.mark.parametrize("text", DAMAGED)
@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_named_with_the_remedy(name: str, text: str, folder: Path) -> None:
    put(folder / name, text)
    if name == recorded.CHANGING and text in ("[]", "{}"):
        READERS[name](folder)  # a lab that comes up
        return
    with pytest.raises(DamagedRecord, match=r"is damaged .*; `netboxit down x` removes the lab") as told:
        READERS[name](folder)
    assert str(folder / name) in str(told.value)
    assert str(told.value).isprintable()


@pytest.mark.parametrize("name", READERS)
def test_a_folder_in_its_place_is_no_defect_either(name: str, folder: Path) -> None:
    (folder / name).mkdir()
    with pytest.raises(DamagedRecord):
        READERS[name](folder)


@pytest.mark.parametrize("text", DAMAGED)
def test_other_commands_go_on_beside_a_damaged_lab(text: str, folder: Path) -> None:
    for name in (PLAN_FILE, recorded.CHANGING):
        put(folder / name, text)
    assert recorded.emulating(besides="y") == {}
    assert [line for line in Watch(None).look() if line["kind"] != "lab"] == []


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_lab_can_be_taken_down(text: str, folder: Path) -> None:
    for name in (PLAN_FILE, recorded.CHANGING, "unfinished.json", "begun.json", "owner"):
        put(folder / name, text)
    assert removal.take_down("x") == []
    assert state.lab_names() == []


@pytest.mark.parametrize("line", NO_RECORDS)
def test_of_a_damaged_ledger_all_that_can_be_read_is_undone(line: str, folder: Path) -> None:
    sound = [json.dumps({"kind": "wire", "name": name}) for name in ("first", "last")]
    put(removal.ledger_file(folder), "\n".join([sound[0], line, sound[1]]) + "\n")
    undone: list[str] = []
    ledger = Ledger(removal.ledger_file(folder))
    with pytest.raises(DamagedLedger, match="line 2"):
        ledger.records()
    with pytest.raises(UndoFailed, match=rf"line 2; all else .* then remove {folder}"):
        ledger.undo({"wire": lambda records: undone.extend(record.name for record in records)})
    assert undone == ["last", "first"]
    with pytest.raises(UndoFailed):
        removal.take_down("x")
    assert state.lab_names() == ["x"], "it stays until somebody has looked"


def test_a_record_of_an_unknown_kind_or_without_its_details_does_not_keep_the_others(folder: Path) -> None:
    records = [{"kind": "container", "name": "c"}, {"kind": "ufo", "name": "u"}, {"kind": "awake core", "name": "first"}]
    removal.ledger_file(folder).write_text("".join(json.dumps(record) + "\n" for record in records))
    with pytest.raises(UndoFailed, match=r"awake core first.*ufo u.*container c"):
        removal.take_down("x")


SETTINGS = {
    "name": "eth2",
    "index": 3,
    "mac": "02:00:00:00:aa:01",
    "mtu": 1500,
    "queue": 1000,
    "flags": 4097,
    "group": 0,
    "alias": "",
    "altnames": ["enp3s0"],
    "features": {"tx-checksum-ipv4": True},
    "sysctls": {"ipv4/conf/*/rp_filter": "2\n"},
    "addresses": [{"family": 2, "prefixlen": 24, "scope": 0, "address": "192.0.2.1", "local": "192.0.2.1", "IFA_FLAGS": 128}],
    "routes": [
        {"family": 2, "tos": 0, "proto": 3, "scope": 0, "type": 1, "table": 77, "dst": "10.9.0.0/16", "metrics": {"mtu": 1200}}
    ],
    "neighbours": [{"family": 2, "dst": "192.0.2.9", "lladdr": "02:00:00:00:aa:09"}],
}
PORT = {"node": "a", "device": "eth2", "namespace": "nb", "interface": "eth0", "mark": "m", "host": "1", "boot": "an earlier one"}


@pytest.mark.parametrize(
    "details",
    [
        {"what": "nic", "settings": SETTINGS},
        {"what": "tap", "made": ["nbt", "nbx"]},
        {"what": "vxlan", "vni": 7},
    ],
)
def test_equipment_that_an_earlier_netboxit_recorded_is_read(details: dict[str, object], folder: Path) -> None:
    """Of an earlier life of the machine, so that nothing is to be given back."""
    line = {"kind": "equipment", "name": "w", **PORT, **details}
    removal.ledger_file(folder).write_text(json.dumps(line) + "\n")
    (record,) = Ledger(removal.ledger_file(folder)).records()
    taken = json.loads(json.dumps(asdict(record.details_as(Taken))))
    assert taken == {"settings": None, "made": [], **PORT, **{key: details[key] for key in details if key != "vni"}}
    assert removal.take_down("x") == []


@pytest.mark.parametrize(
    ("details", "cause"),
    [
        ({"what": "nic"}, "a nic has other details"),
        ({"what": "tap"}, "a tap has other details"),
        ({"what": "nic", "settings": SETTINGS | {"routes": [{}]}}, "settings.routes.0.family: Field required"),
        ({"what": "ufo"}, "what: "),
    ],
)
def test_equipment_whose_line_is_damaged_is_told_and_left_alone(details: dict[str, object], cause: str, folder: Path) -> None:
    line = {"kind": "equipment", "name": "w", **PORT, **details}
    removal.ledger_file(folder).write_text(json.dumps(line) + "\n")
    with pytest.raises(
        UndoFailed, match=f"equipment w: its line in the lab's ledger is damaged .*{cause}.*; see there what it is"
    ):
        removal.take_down("x")
    assert state.lab_names() == ["x"], "it stays until somebody has looked"


@pytest.mark.parametrize("name", ["..", "../x", "/etc", ".", "", "x/../y", "x\0", "a" * 300, "\udcff", "x\n"])
def test_no_name_of_a_lab_leads_out_of_the_folder_of_labs(name: str, folder: Path) -> None:
    for asks in (where.opened, state.lab_folder, removal.take_down):
        with pytest.raises(NetBoxITError):
            asks(name)
