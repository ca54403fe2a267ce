# SPDX-License-Identifier: GPL-2.0-or-later
"""What has to be done to a lab that is up so that it becomes another plan, and why: data, made without touching the system.

Every field of a plan is compared, except what the planner told (`_TOLD`). What a field asks for is said in the tables below; a
field that is in none of them asks for the restart of its node, or a new wire, so that no difference is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final, Literal, NamedTuple, TypeVar

from contracts.changes import LiveChange
from contracts.plan import EquipmentPlan, NodePlan, Plan, WirePlan
from testbed.plans.node_difference import Finding, Wires, changed, compare, is_another, two

Action = Literal["created", "removed", "replaced", "restarted", "changed", "unchanged"]

#: Of a plan: what only the lab's record has, as a run of it does not concern a lab that is up.
_RECORDED: Final = {
    "topology": "topology file",
    "seed": "seed",
    "traffic": "traffic of runs",
    "lateness_limit_s": "limit of lateness",
    "lateness_policy": "policy of lateness",
    "events": "events of runs",
    "hosts": "machines",
    "cores_needed": "cores with which each emulator has its own",
    "take": "interfaces that it may have though they are in use",
    "elsewhere": "names of nodes on other machines",
    "warm_up_s": "warm-up of a run",
}
#: Of a plan: what the planner told of its surroundings, such as other labs on the same cores; no part of the lab.
_TOLD: Final = ("notes",)
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
    parameters: tuple[LiveChange, ...] = ()


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

    def wires_to_be(self, *actions: Action) -> set[str]:
        """The names of those, and of equipment as a node's interface knows it."""
        return {part.name for part in (*self.wires, *self.equipment) if part.action in actions}


class _Verdict(NamedTuple):
    """What is done to a part of the lab, and why; the live parameters that are set."""

    action: Action
    reasons: tuple[str, ...]
    parameters: tuple[LiveChange, ...] = ()


_Part = TypeVar("_Part", bound=NodePlan | WirePlan | EquipmentPlan)


def difference(states: Sequence[Plan], after: Plan, ended: Collection[str] = ()) -> Difference:
    """From the plan that the lab is of to `after`; `ended` are nodes that do not run though they should.

    With several states each part of the lab may be of any of them, as after a change that did not end: what one of them asks for
    is done.
    """
    plans = (*states, after)
    by_name = [{node.name: node for node in plan.nodes} for plan in plans]
    # The nodes whose wires cannot stay.
    anew = {node.name for node in after.nodes if any(is_another(was.get(node.name), node) for was in by_name)}
    wires = tuple(
        WireDifference(name, wire.kind, verdict.action, verdict.reasons)
        for name, wire, verdict in _parts(
            [{wire.name: wire for wire in plan.wires} for plan in plans],
            lambda before, wire: _compared(before, wire, [end.node for end in (wire.left, wire.right) if end.node in anew]),
        )
    )
    equipment = tuple(
        EquipmentDifference(name, port.kind, verdict.action, verdict.reasons, equipment=port.name)
        for name, port, verdict in _parts(
            [{port.wire: port for port in plan.equipment} for plan in plans],
            lambda before, port: _compared(before, port, [port.end.node] if port.end.node in anew else []),
        )
    )
    actions = {part.name: part.action for part in (*wires, *equipment)}
    nodes = tuple(
        NodeDifference(name, node.kind, *verdict)
        for name, node, verdict in _parts(
            by_name,
            lambda before, node: _node([*zip(states, before, strict=True)], node, after, actions, node.name in ended),
        )
    )
    common, recorded = [tuple(dict.fromkeys(line for was in states for line in of(was, after))) for of in (_common, _recorded)]
    return Difference(after.lab, nodes, wires, equipment, common, recorded)


def _parts(
    plans: Sequence[Mapping[str, _Part]], compare: Callable[[Sequence[_Part], _Part], _Verdict]
) -> Iterator[tuple[str, _Part, _Verdict]]:
    """Each part of the last plan, then those that it has no longer; `compare` is for a part that is in all plans."""
    *states, after = plans
    for name, part in after.items():
        before = [parts[name] for parts in states if name in parts]
        if not before:
            yield name, part, _Verdict("created", (_NEW,))
        elif len(before) < len(states):
            yield name, part, _Verdict("replaced", (_HALF_WAY,))
        else:
            yield name, part, compare(before, part)
    gone = {name: part for parts in states for name, part in parts.items() if name not in after}
    yield from ((name, part, _Verdict("removed", (_GONE,))) for name, part in gone.items())


def _compared(before: Sequence[_Part], part: _Part, anew: Sequence[str]) -> _Verdict:
    """For a wire or a port of equipment; `anew` are those of its nodes that do not stay."""
    live: list[str] = []
    reasons: list[str] = [f"{node} is made anew" for node in anew]
    for field in fields(part):
        for old in before:
            values = getattr(old, field.name), getattr(part, field.name)
            if values[0] != values[1]:
                (live if field.name in _LIVE else reasons).append(two(_LIVE.get(field.name, f"its {field.name}:"), *values))
    return _Verdict("replaced" if reasons else "changed" if live else "unchanged", tuple(dict.fromkeys((*reasons, *live))))


#: Of a wire or equipment: what changes while it carries frames.
_LIVE: Final = {"mtu": "MTU", "reason": "why it is of its kind:"}


def _node(
    states: Sequence[tuple[Plan, NodePlan]], node: NodePlan, after: Plan, wires: Mapping[str, Action], ended: bool
) -> _Verdict:
    findings = [
        finding
        for plan, old in states
        for finding in (*compare(old, node, Wires(plan, after, wires)), *_common_to_all(plan, after, node))
    ]
    needs = {finding.how for finding in findings}
    action: Action = (
        "replaced" if "replace" in needs else "restarted" if ended or "restart" in needs else "changed" if needs else "unchanged"
    )
    words = [*(["it has ended"] if ended else []), *(finding.words for finding in findings)]
    parameters = {finding.parameter.parameter: finding.parameter for finding in findings if finding.parameter}
    return _Verdict(action, tuple(dict.fromkeys(words)), tuple(parameters.values()) if action == "changed" else ())


def _common_to_all(before: Plan, after: Plan, node: NodePlan) -> Iterator[Finding]:
    """What the lab as a whole asks of a node."""
    if node.realtime_priority and bool(before.realtime_budget_us) != bool(after.realtime_budget_us):
        yield Finding("restart", "it moves between the lab's real-time group and its own")
    for name, was, becomes in changed(vars(before), vars(after)):
        if name not in (*_RECORDED, *_OF_PARTS, *_TOLD):
            yield Finding("restart", two(f"{name} of the lab", was, becomes))


#: Of a plan: its parts, which are compared by themselves, and what the lab's nodes share.
_OF_PARTS: Final = ("nodes", "wires", "equipment", "awake_cores", "realtime_budget_us")


def _common(before: Plan, after: Plan) -> Iterator[str]:
    old, new = set(before.awake_cores), set(after.awake_cores)
    yield from (f"core {core} is kept awake from now on" for core in sorted(new - old))
    yield from (f"core {core} may halt again" for core in sorted(old - new))
    if before.realtime_budget_us != after.realtime_budget_us:
        yield two("real-time budget of the emulators, us a second:", before.realtime_budget_us, after.realtime_budget_us)


def _recorded(before: Plan, after: Plan) -> Iterator[str]:
    for name, words in _RECORDED.items():
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            short = all(isinstance(value, str | int | float) for value in (old, new))
            yield two(f"{words}:", old, new) if short else f"{words}: changed"
