# SPDX-License-Identifier: GPL-2.0-or-later
"""What a user can name to be captured, and where that is."""

from __future__ import annotations

import pytest

from contracts.plan import InterfacePlan, NodeKind, NodePlan, Plan, WireEnd, WirePlan
from testbed.observation.capture_points import BadPoint, points

#: a - field (netbox) - meoc (Click) - b; and from meoc a memory wire to another router by Click.
WIRES = (
    ("a.eth0", "field.responder", "veth"),
    ("field.meoc", "meoc.ian", "memory"),
    ("meoc.jan", "b.eth0", "veth"),
    ("meoc.far", "other.near", "memory"),
    ("b.eth1", "c.eth0", "veth"),
    ("b.eth2", "c.eth1", "veth"),
)
NODES: dict[str, tuple[NodeKind, tuple[tuple[str, str], ...]]] = {
    "a": ("host", (("eth0", "kernel"),)),
    "b": ("host", (("eth0", "kernel"), ("eth1", "kernel"), ("eth2", "kernel"))),
    "c": ("router", (("eth0", "kernel"), ("eth1", "kernel"))),
    "field": ("netbox", (("responder", "packet"), ("meoc", "memory"))),
    "meoc": ("router", (("ian", "memory"), ("jan", "packet"), ("far", "memory"))),
    "other": ("router", (("near", "memory"),)),
}


@pytest.fixture
def plan() -> Plan:
    nodes = [
        NodePlan(
            name,
            kind,
            name,
            name,
            (0,),
            (),
            tuple(InterfacePlan(one, "", "", port=port) for one, port in interfaces),  # type: ignore[arg-type]
        )
        for name, (kind, interfaces) in NODES.items()
    ]
    wires = [
        WirePlan(f"{left}--{right}", WireEnd(*left.split(".")), WireEnd(*right.split(".")), 1500, kind)  # type: ignore[arg-type]
        for left, right, kind in WIRES
    ]
    return Plan("x", "x.yaml", 1, tuple(nodes), tuple(wires), (), 0.001, "mark")


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("field.responder", [("field.responder", "field", "responder", "netbox")]),
        ("field", [("field.responder", "field", "responder", "netbox"), ("field.meoc", "field", "meoc", "netbox")]),
        ("a", [("a.eth0", "a", "eth0", "kernel")]),
        # A wire is captured by its netbox, whatever it is called by.
        ("a--field", [("a--field", "field", "responder", "netbox")]),
        ("field.responder--a.eth0", [("field.responder--a.eth0", "field", "responder", "netbox")]),
        ("[a, field.responder]", [("a--field.responder", "field", "responder", "netbox")]),
        ("field--meoc", [("field--meoc", "field", "meoc", "netbox")]),
        # What Click sends is seen at the other end.
        ("meoc.jan", [("meoc.jan", "b", "eth0", "kernel")]),
        ("meoc.ian", [("meoc.ian", "field", "meoc", "netbox")]),
        ("b.eth1--c", [("b.eth1--c", "b", "eth1", "kernel")]),
    ],
)
def test_nodes_ports_and_wires_can_be_named(plan: Plan, word: str, found: list[tuple[str, ...]]) -> None:
    assert [(one.name, one.node, one.interface, one.by) for one in points(plan, [word])] == found


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["feild"], 'no node "feild"; did you mean "field"'),
        (["field.meco"], 'field has no port "meco"; did you mean "meoc"'),
        (["a--b"], "no wire joins a and b"),
        (["b--c"], "2 wires join b and c; name them with their ports: b.eth1--c.eth0"),
        (["a--"], "neither a node, nor NODE.PORT, nor a wire"),
        (["meoc.far"], "meoc.far cannot be captured"),
        (["a", "field", "a--field"], "a--field and field.responder are both captured at field.responder"),
    ],
)
def test_what_cannot_be_captured_is_told_with_what_can(plan: Plan, words: list[str], said: str) -> None:
    with pytest.raises(BadPoint, match=said.replace("[", r"\[")):
        points(plan, words)
