# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs that are planned beside each other share no names, and cores only when they must; their addresses may coincide."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from contracts.plan import Plan, RealtimeSupport
from contracts.run_folder import PLAN_FILE
from ownership import recorded, state
from testbed.plans.planning import plan_file

FILES = [CHECKOUT / "topologies/emergency.yaml", CHECKOUT / "topologies/disaster.yaml"]


def planned(file: Path, lab: str) -> Plan:
    return plan_file(file, lab=lab, cores=tuple(range(40)), realtime=RealtimeSupport(False, None, "not asked for"))


def up(plan: Plan) -> None:
    recorded.write(state.make_lab_folder(plan.lab), plan)


def names(plan: Plan) -> set[str]:
    macs = {interface.mac for node in plan.nodes for interface in node.interfaces}
    return macs | {name for node in plan.nodes for name in (node.container, node.namespace)}


def emulators(plan: Plan) -> set[int]:
    return {node.cores[0] for node in plan.nodes if node.kind == "netbox"}


@pytest.mark.parametrize("second", FILES, ids=["of one file", "of two files"])
def test_two_labs_share_no_names_and_no_cores(state_folder: Path, second: Path) -> None:
    first = planned(FILES[0], "first")
    up(first)
    other = planned(second, "second")
    assert not names(first) & names(other)
    assert not emulators(first) & emulators(other)
    assert not any("first" in note for note in other.notes)


def test_two_labs_of_one_file_have_the_same_addresses(state_folder: Path) -> None:
    one, two = (
        {i.addresses for node in planned(FILES[0], lab).nodes for i in node.interfaces if i.addresses} for lab in ("one", "two")
    )
    assert one == two


def test_a_lab_that_is_planned_again_does_not_count_itself(state_folder: Path) -> None:
    up(planned(FILES[0], "first"))
    assert recorded.emulating("first") == {}


def test_a_lab_that_is_half_up_or_half_down_counts_as_none(state_folder: Path) -> None:
    state.make_lab_folder("empty")
    (state.make_lab_folder("torn") / PLAN_FILE).write_text('{"lab": "to')
    assert recorded.emulating("first") == {}


def test_hosts_of_another_lab_keep_no_core(state_folder: Path) -> None:
    plan = planned(FILES[0], "first")
    up(replace(plan, nodes=tuple(node for node in plan.nodes if node.kind == "host")))
    assert recorded.emulating("second") == {}
