# SPDX-License-Identifier: GPL-2.0-or-later
"""What has to be done to a lab that is up so that it becomes another plan, and why: data, made without touching the system.

Every field of a plan is compared. What a field asks for is said in the tables below; a field that is in none of them asks for the
restart of its node, or a new wire, so that no difference is lost.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, Literal

from contracts.changes import ParameterChange
from contracts.plan import NodePlan, Plan
from testbed.plans.finding import Finding, said, two
from testbed.plans.node_difference import Wires, compare, is_another

Action = Literal["created", "removed", "replaced", "restarted", "changed", "unchanged"]

#: Of a plan: what only the lab's record has, as a run of it does not concern a lab that is up.
_RECORDED: Final = {
    "topology": "topology file",
    "seed": "seed",
    "traffic": "traffic of runs",
    "lateness_limit_s": "limit of lateness",
    "lateness_policy": "policy of lateness",
    "notes": "planner's notes",
    "events": "events of runs",
    "hosts": "machines",
    "take": "interfaces that it may have though they are in use",
    "elsewhere": "names of nodes on other machines",
}
_NEW: Final = "it is new"
_GONE: Final = "the topology has it no longer"
_HALF_WAY: Final = "a change that did not end was making or removing it"


@dataclass(frozen=True)
class PartDifference:
    """What is done to a part of the lab, and why."""

    name: str
    kind: str
    action: Action
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class NodeDifference(PartDifference):
    """A node that is `changed` keeps running with all its programs."""

    #: Live parameters to be set; none where the node starts anyway.
    parameters: tuple[ParameterChange, ...] = ()


@dataclass(frozen=True)
class WireDifference(PartDifference):
    """A wire that is `changed` goes on carrying frames."""


@dataclass(frozen=True)
class EquipmentDifference(PartDifference):
    """Its name is that by which the node's interface knows it. What is attached to a running lab is `unchanged`, and stays."""

    #: What it is called in the topology, or by who attached it.
    equipment: str = ""


@dataclass(frozen=True)
class Difference:
    """What is done to a lab: to each node and wire of the old plan and the new one, and to what they share."""

    lab: str
    nodes: tuple[NodeDifference, ...]
    wires: tuple[WireDifference, ...]
    equipment: tuple[EquipmentDifference, ...] = ()
    #: What changes for the lab as a whole, and what only its record will have.
    common: tuple[str, ...] = ()
    recorded: tuple[str, ...] = ()

    def nothing(self) -> bool:
        """Whether the lab is what it should be."""
        return all(part.action == "unchanged" for part in self.parts()) and not self.common and not self.recorded

    def parts(self) -> tuple[PartDifference, ...]:
        return (*self.nodes, *self.wires, *self.equipment)

    def nodes_to_be(self, *actions: Action) -> list[NodeDifference]:
        """Those to which one of these is done."""
        return [node for node in self.nodes if node.action in actions]

    def wires_to_be(self, *actions: Action) -> list[WireDifference]:
        return [wire for wire in self.wires if wire.action in actions]

    def equipment_to_be(self, *actions: Action) -> list[EquipmentDifference]:
        return [port for port in self.equipment if port.action in actions]


def difference(states: Sequence[Plan], after: Plan, ended: Collection[str] = ()) -> Difference:
    """From the plan that the lab is of to `after`; `ended` are nodes that do not run though they should.

    With several states each part of the lab may be of any of them, as after a change that did not end: what one of them asks for
    is done.
    """
    known = {node.name: [_node_of(plan, node.name) for plan in states] for node in after.nodes}
    anew = {node.name for node in after.nodes if _is_made_anew(known[node.name], node)}
    wires, equipment = _wires(states, after, anew), _equipment(states, after, anew)
    nodes = _nodes(states, after, known, {one.name: one.action for one in (*wires, *equipment)}, ended)
    common, recorded = [list(dict.fromkeys(line for was in states for line in of(was, after))) for of in (_common, _recorded)]
    return Difference(after.lab, tuple(nodes), tuple(wires), tuple(equipment), tuple(common), tuple(recorded))


def _is_made_anew(before: Sequence[NodePlan | None], node: NodePlan) -> bool:
    """Whether its wires cannot stay."""
    return None in before or any(is_another(old, node) for old in before if old is not None)


def _wires(states: Sequence[Plan], after: Plan, anew: Collection[str]) -> list[WireDifference]:
    was = [{wire.name: wire for wire in plan.wires} for plan in states]
    found = []
    for wire in after.wires:
        ends = [end.node for end in (wire.left, wire.right)]
        found.append(WireDifference(wire.name, wire.kind, *_part(wire, [before.get(wire.name) for before in was], ends, anew)))
    gone = {name: wire for before in was for name, wire in before.items() if wire.name not in {one.name for one in found}}
    return [*found, *(WireDifference(name, wire.kind, "removed", (_GONE,)) for name, wire in gone.items())]


def _equipment(states: Sequence[Plan], after: Plan, anew: Collection[str]) -> list[EquipmentDifference]:
    was = [{port.wire: port for port in plan.equipment} for plan in states]
    found = []
    for port in after.equipment:
        what = _part(port, [before.get(port.wire) for before in was], [port.end.node], anew)
        found.append(EquipmentDifference(port.wire, port.kind, *what, equipment=port.name))
    gone = {name: port for before in was for name, port in before.items() if name not in {one.name for one in found}}
    return [*found, *(EquipmentDifference(name, port.kind, "removed", (_GONE,), port.name) for name, port in gone.items())]


def _part(part: Any, before: Sequence[Any], ends: Sequence[str], anew: Collection[str]) -> tuple[Action, tuple[str, ...]]:
    """What is done to a wire or a port of equipment, and why; `ends` are its nodes, `anew` those that do not stay."""
    known = [one for one in before if one is not None]
    if not known:
        return "created", (_NEW,)
    if len(known) < len(before):
        return "replaced", (_HALF_WAY,)
    live: list[str] = []
    reasons = [f"{node} is made anew" for node in ends if node in anew]
    for field in fields(part):
        for old in known:
            one, other = getattr(old, field.name), getattr(part, field.name)
            if one != other:
                (live if field.name in _LIVE else reasons).append(two(_LIVE.get(field.name, f"its {field.name}:"), one, other))
    action: Action = "replaced" if reasons else "changed" if live else "unchanged"
    return action, tuple(dict.fromkeys((*reasons, *live)))


#: Of a wire or equipment: what changes while it carries frames.
_LIVE: Final = {"mtu": "MTU", "reason": "why it is of its kind:"}


def _nodes(
    states: Sequence[Plan],
    after: Plan,
    known: Mapping[str, Sequence[NodePlan | None]],
    wires: Mapping[str, Action],
    ended: Collection[str],
) -> list[NodeDifference]:
    found = []
    for node in after.nodes:
        before = [(plan, old) for plan, old in zip(states, known[node.name], strict=True) if old is not None]
        if not before:
            found.append(NodeDifference(node.name, node.kind, "created", (_NEW,)))
        elif len(before) < len(states):
            found.append(NodeDifference(node.name, node.kind, "replaced", (_HALF_WAY,)))
        else:
            found.append(_node(before, node, after, wires, node.name in ended))
    gone = {node.name: node for plan in states for node in plan.nodes if node.name not in known}
    return [*found, *(NodeDifference(node.name, node.kind, "removed", (_GONE,)) for node in gone.values())]


def _node(
    states: Sequence[tuple[Plan, NodePlan]], node: NodePlan, after: Plan, wires: Mapping[str, Action], ended: bool
) -> NodeDifference:
    findings = [
        finding
        for plan, old in states
        for finding in (*compare(old, node, Wires(plan, after, wires)), *_common_to_all(plan, after, node))
    ]
    asked = {finding.how for finding in findings}
    action: Action = (
        "replaced" if "replace" in asked else "restarted" if ended or "restart" in asked else "changed" if asked else "unchanged"
    )
    reasons = ["it has ended", *(finding.words for finding in findings)] if ended else [finding.words for finding in findings]
    set_live = {one.parameter.parameter: one.parameter for one in findings if one.parameter} if action == "changed" else {}
    return NodeDifference(node.name, node.kind, action, tuple(dict.fromkeys(reasons)), tuple(set_live.values()))


def _common_to_all(before: Plan, after: Plan, node: NodePlan) -> Iterator[Finding]:
    """What the lab as a whole asks of a node."""
    if node.realtime_priority and bool(before.realtime_budget_us) != bool(after.realtime_budget_us):
        yield Finding("restart", "it moves between the lab's real-time group and its own")
    for field in fields(after):
        if field.name in _RECORDED or field.name in _OF_PARTS:
            continue
        if getattr(before, field.name) != getattr(after, field.name):
            yield Finding("restart", two(f"{field.name} of the lab", getattr(before, field.name), getattr(after, field.name)))


#: Of a plan: its parts, which are compared by themselves, and what the lab's nodes share.
_OF_PARTS: Final = ("nodes", "wires", "equipment", "awake_cores", "realtime_budget_us")


def _common(before: Plan, after: Plan) -> Iterator[str]:
    for core in sorted({*after.awake_cores} - {*before.awake_cores}):
        yield f"core {core} is kept awake from now on"
    for core in sorted({*before.awake_cores} - {*after.awake_cores}):
        yield f"core {core} may halt again"
    if before.realtime_budget_us != after.realtime_budget_us:
        yield two("real-time budget of the emulators, us a second:", before.realtime_budget_us, after.realtime_budget_us)


def _recorded(before: Plan, after: Plan) -> Iterator[str]:
    for name, words in _RECORDED.items():
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            short = all(isinstance(value, str | int | float) for value in (old, new))
            yield two(f"{words}:", said(old), said(new)) if short else f"{words}: changed"


def _node_of(plan: Plan, name: str) -> NodePlan | None:
    return next((node for node in plan.nodes if node.name == name), None)
