# SPDX-License-Identifier: GPL-2.0-or-later
"""What operators may have, by root's settings. How they come to their rights is tested as a whole in tests/test_operators.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from contracts.plan import EquipmentPlan, WireEnd
from ownership import operators, state
from ownership.operators import NoPrivilege, Settings


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """This process works as root for the user nobody; returns the file with the settings."""
    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.setenv(operators.VARIABLE, "65534")
    monkeypatch.setattr(operators, "SETTINGS", file := tmp_path / "operators.json")
    file.write_text('{"checkout": "/opt/netboxit", "group": "netboxit", "interfaces": ["eth2", "vm*"]}')
    return file


def port(kind: str, device: str, user: str | None = None) -> EquipmentPlan:
    return EquipmentPlan(device, kind, device, WireEnd("a", "eth0"), "a.eth0--x", 1500, user=user)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "device", "user", "why"),
    [
        ("nic", "eth2", None, None),
        ("vlan", "eth2", None, None),
        ("macvlan", "eth2", None, None),
        ("tap", "vm1", "nobody", None),
        ("nic", "eth3", None, "may not have eth3"),
        ("vlan", "eth3", None, "may not have eth3"),
        ("nic", "eth22", None, "may not have eth22"),
        ("tap", "docker0", "nobody", "may not have docker0"),
        ("tap", "vm1", "root", "say that its user is nobody"),
        ("tap", "vm1", None, "say that its user is nobody"),
        ("vxlan", "eth2", None, "only root joins machines"),
    ],
)
@pytest.mark.usefixtures("nobody")
def test_operators_have_the_interfaces_that_root_named(kind: str, device: str, user: str | None, why: str | None) -> None:
    told = operators.why_not_taken(port(kind, device, user))
    assert told is None if why is None else told is not None and why in told


def test_root_has_all_of_them() -> None:
    assert operators.why_not_taken(port("nic", "eth3")) is None


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"checkout": 1, "group": "g", "interfaces": []}', '{"checkout": "/"}', "\0"])
def test_settings_that_are_none_make_nobody_an_operator(text: str, nobody: Path) -> None:
    nobody.write_text(text)
    with pytest.raises(NoPrivilege, match=r"operators\.yml again"):
        Settings.read()


@pytest.mark.parametrize("said", ["", "x", "-1", "4000000000", "1e3"])
def test_an_operator_is_a_user_of_the_machine(said: str, nobody: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(operators.VARIABLE, said)
    with pytest.raises(NoPrivilege, match="no user of this machine"):
        operators.operator()


def test_the_machines_own_ports_are_not_for_operators(nobody: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NoPrivilege, match="1024 or more"):
        operators.check_port(80)
    operators.check_port(9469)
    operators.check_port(0)
    monkeypatch.delenv(operators.VARIABLE)
    operators.check_port(80)


def test_an_operators_labs_are_those_that_say_so(nobody: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETBOXIT_STATE", str(tmp_path))
    for name, owner in {"own": "65534\n", "others": "1\n", "damaged": "?"}.items():
        (folder := tmp_path / "labs" / name).mkdir(parents=True)
        (folder / "owner").write_text(owner)
    (tmp_path / "labs/roots").mkdir()
    assert state.own_lab_names() == ["own"]
    assert state.chosen(None) == state.chosen("own") == "own"
    for name, owner in {"others": "daemon", "damaged": "root", "roots": "root"}.items():
        with pytest.raises(state.SomebodyElses, match=f"lab {name} is {owner}'s"):
            state.chosen(name)
    state.make_lab_folder("new")
    assert state.own_lab_names() == ["new", "own"]
    monkeypatch.delenv(operators.VARIABLE)
    assert state.chosen("others") == "others"
