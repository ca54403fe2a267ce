# SPDX-License-Identifier: GPL-2.0-or-later
"""A run folder in which files hold anything: there is a report, or it is said which file is damaged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from results.analyse import analyse
from results.conftest import SyntheticRun
from results.damage import damaged
from testbed.description.topology_file import load
from testbed.errors import NetBoxITError
from testbed.installation import CHECKOUT
from testbed.plan import RealtimeSupport
from testbed.plans.resolve import resolve
from tests.two_machines import TwoMachines

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda content: content[: len(content) // 2],
    "empty": lambda _: b"",
    "no text": lambda _: bytes(range(128, 256)) * 3,
    "another thing": lambda _: b'[{"a": [1]}]',
    "nothing": lambda _: b"null",
    "nested": lambda _: b"[" * 50_000,
    "text for all": lambda content: content.replace(b": 1", b': "x"').replace(b': "', b": [").replace(b'",', b"],"),
}
FILES = ("plan.json", "run.json", "traffic/call/flows.json")


def write_plan(folder: Path) -> None:
    """A whole one: the fixture's has only what an analysis reads."""
    topology = load(CHECKOUT / "topologies" / "emergency.yaml")
    plan = resolve(topology, cores=(0, 1), realtime=RealtimeSupport(True, 950_000, ""))
    (folder / "plan.json").write_text(json.dumps(plan.to_json()))


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_found_by_what_ought_to_be_in_it(synthetic: SyntheticRun, name: str, damage: str) -> None:
    folder = synthetic.write()
    write_plan(folder)
    (folder / name).write_bytes(DAMAGES[damage]((folder / name).read_bytes()))
    assert any(line.startswith(f"{folder / name}: ") and line.isprintable() for line in damaged(folder))


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_of_machines_is_found_too(tmp_path: Path, damage: str) -> None:
    folder = TwoMachines(tmp_path / "run").write()
    write_plan(folder)
    assert not any("hosts.json" in line for line in damaged(folder))
    (folder / "hosts.json").write_bytes(DAMAGES[damage]((folder / "hosts.json").read_bytes()))
    assert any(line.startswith(f"{folder / 'hosts.json'}: ") and line.isprintable() for line in damaged(folder))


def test_what_a_run_writes_is_not_damaged(synthetic: SyntheticRun) -> None:
    folder = synthetic.write()
    write_plan(folder)
    assert not [line for line in damaged(folder) if "statistics.json" not in line]  # the fixture's have only what is read


@pytest.mark.parametrize(("name", "damage"), [("plan.json", "text for all"), ("traffic/call/flows.json", "cut")])
def test_who_asks_for_a_report_of_a_damaged_run_is_told_which_file_it_is(synthetic: SyntheticRun, name: str, damage: str) -> None:
    folder = synthetic.write()
    (folder / name).write_bytes(DAMAGES[damage]((folder / name).read_bytes()))
    with pytest.raises(NetBoxITError, match=Path(name).name):
        analyse(folder)


def test_a_folder_where_a_file_should_be_is_told(synthetic: SyntheticRun) -> None:
    folder = synthetic.write()
    (folder / "plan.json").unlink()
    (folder / "plan.json").mkdir()
    with pytest.raises(NetBoxITError, match=r"plan\.json"):
        analyse(folder)


@pytest.mark.parametrize("place", [Path("/dev/null"), Path("/dev/zero"), Path("/nowhere")])
def test_what_is_no_folder_is_no_run(place: Path) -> None:
    with pytest.raises(NetBoxITError, match="not the folder of a run"):
        analyse(place)
