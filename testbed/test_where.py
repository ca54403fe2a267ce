# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab on one machine is planned, found and taken down without what is there for several."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from ownership import state
from testbed import where
from testbed.back_ends.back_end import LocalLab, OnSeveralMachines
from testbed.plan_part import PARTS_FILE
from testbed.several_hosts.distributed_lab import DistributedLab
from testbed.several_hosts.machine import Machine
from testbed.several_hosts.parts_file import PartsRecord

#: Modules that import the package for labs over several machines, besides its own. netboxit.py does for `part`, the agent.
_DOORS = {"netboxit.py", "testbed/where.py", "testbed/probes/machines.py"}
_ON_ONE = """
name: pair
hosts: {a: {address: 10.1.0.1/24}, b: {address: 10.1.0.2/24}}
wires: [[a, b]]
"""
_PLAN = {
    "lab": "x",
    "nodes": [{"name": "a", "host": "alpha"}, {"name": "b", "host": "beta"}, {"name": "c", "host": "beta"}],
}


def test_who_knows_labs_over_several_machines() -> None:
    files = [CHECKOUT / "netboxit.py", *(CHECKOUT / "testbed").rglob("*.py")]
    known = {
        str(file.relative_to(CHECKOUT))
        for file in files
        if re.search(r"^ *(from|import) testbed\.several_hosts", file.read_text(), re.M)
    }
    assert {name for name in known if not name.startswith("testbed/several_hosts/") and "/test_" not in name} == _DOORS


def test_they_are_not_entered_for_a_topology_that_names_no_machine(tmp_path: Path) -> None:
    (file := tmp_path / "pair.yaml").write_text(_ON_ONE)
    done = """
import sys
from pathlib import Path
from system.realtime_support import realtime_support
from testbed import run, where
from testbed.commands import changing, watching

file = Path(sys.argv[1])
where.checked(file, None, realtime_support())
where.compared(file, None, None)
where.refuse_several(file, None)
with where.planned(file, None) as planned:
    planned.check()
print([name for name in sys.modules if "several_hosts" in name])
"""
    ended = subprocess.run([sys.executable, "-c", done, str(file)], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr) == ("[]\n", "")


def test_a_lab_that_is_up_is_where_its_folder_says(state_folder: Path) -> None:
    folder = state.make_lab_folder("x")
    assert isinstance(where.opened("x"), LocalLab)
    PartsRecord("alpha", "owner", (Machine("beta", "/srv/netboxit"),), _PLAN).write(folder)
    assert isinstance(where.opened("x"), DistributedLab)


def test_a_file_is_no_reason_to_change_a_lab_over_several_machines(state_folder: Path, tmp_path: Path) -> None:
    (file := tmp_path / "x.yaml").write_text(_ON_ONE.replace("pair", "x"))
    where.refuse_several(file, None)
    folder = state.make_lab_folder("x")
    where.refuse_several(file, None)
    (folder / PARTS_FILE).write_text("damaged")
    with pytest.raises(OnSeveralMachines, match="is for labs on one machine; change x by `netboxit set`"):
        where.refuse_several(file, None)
    with pytest.raises(OnSeveralMachines):
        where.refuse_several(file, "x")
    where.refuse_several(file, "another")
