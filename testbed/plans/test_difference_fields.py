# SPDX-License-Identifier: GPL-2.0-or-later
"""No field of a plan can differ without `apply` saying so, except what the planner told of its surroundings."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from contracts.installation import CHECKOUT
from contracts.plan import EquipmentPlan, Plan, RealtimeSupport, WireEnd
from testbed.description.topology_file import load
from testbed.plans.difference import difference
from testbed.plans.resolve import resolve

REALTIME = RealtimeSupport(fifo=True, budget_us=950_000, reason="", keep_awake=True)


def _mutants(value: Any) -> Iterator[Any]:
    """The same with one thing different, for each thing that there is in it."""
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            for other in _mutants(getattr(value, field.name)):
                yield replace(value, **{field.name: other})
    elif isinstance(value, tuple):
        yield value[1:] if value else ("more",)
        for at, one in enumerate(value[:1]):
            for other in _mutants(one):
                yield (*value[:at], other, *value[at + 1 :])
    elif isinstance(value, dict):
        yield {**value, "more": "x"}
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield value + 1
    else:
        yield f"{value or ''}x"


def _emergency() -> Plan:
    return resolve(load(CHECKOUT / "topologies/emergency.yaml"), cores=(0, 1, 2), realtime=REALTIME)


def _paths(value: Any) -> Iterator[str]:
    """Every field of every dataclass in it, to see that the mutants have all of them."""
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield f"{type(value).__name__}.{field.name}"
            yield from _paths(getattr(value, field.name))
    elif isinstance(value, tuple):
        for one in value[:1]:
            yield from _paths(one)


def test_no_field_of_a_plan_can_differ_without_being_told() -> None:
    modem = EquipmentPlan("modem", "nic", "eth2", WireEnd("eoc", "modem"), "eoc.modem--modem", 1500)
    plan = replace(_emergency(), equipment=(modem,))
    covered = set(_paths(plan))
    assert {f"{kind.__name__}.{field.name}" for kind in _kinds(plan) for field in dataclasses.fields(kind)} <= covered
    told = 0
    for mutant in _mutants(plan):
        only_told = replace(mutant, notes=plan.notes) == plan
        assert difference([plan], mutant).nothing() == only_told, _where(plan, mutant)
        assert difference([mutant], plan).nothing() == only_told, _where(plan, mutant)
        told += 1
    assert told > len(covered)


def _kinds(plan: Plan) -> list[type[Any]]:
    return [
        type(plan),
        type(plan.nodes[0]),
        type(plan.nodes[0].interfaces[0]),
        type(plan.nodes[0].routes[0]),
        type(plan.wires[0]),
    ]


def _where(plan: Plan, mutant: Plan) -> str:
    return "; ".join(field.name for field in fields(plan) if getattr(plan, field.name) != getattr(mutant, field.name))


def test_a_field_that_nobody_knows_of_restarts_its_node_or_makes_its_wire_anew() -> None:
    plan = _emergency()
    node, wire = plan.nodes[0], plan.wires[0]
    more_of_node = dataclasses.make_dataclass("NodeWithMore", [("more", int, 0)], bases=(type(node),), frozen=True)
    more_of_wire = dataclasses.make_dataclass("WireWithMore", [("more", int, 0)], bases=(type(wire),), frozen=True)

    def with_more(more: int) -> Plan:
        own = {field.name: getattr(node, field.name) for field in fields(node)}
        its = {field.name: getattr(wire, field.name) for field in fields(wire)}
        return replace(
            plan, nodes=(more_of_node(**own, more=more), *plan.nodes[1:]), wires=(more_of_wire(**its, more=more), *plan.wires[1:])
        )

    found = difference([with_more(0)], with_more(1))
    assert found.nodes_to_be("restarted")[0].name == node.name
    assert found.wires_to_be("replaced") == {wire.name}
