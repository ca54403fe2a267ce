# SPDX-License-Identifier: GPL-2.0-or-later
"""What is told of a topology whose parts are right and do not fit together."""

from __future__ import annotations

from pathlib import Path

from testbed.description.test_topology import PAIR, changed, errors_of, load_text


def test_an_unwired_station_interface_or_host_is_named(tmp_path: Path) -> None:
    text = changed(("  - [backhaul.hub, eoc]\n", ""))
    assert [error.cause for error in errors_of(tmp_path, text)] == ["host eoc has no wire", "station backhaul.hub has no wire"]
    text = changed(("  - [meoc.jan, backhaul.meoc]\n", ""))
    assert {error.cause for error in errors_of(tmp_path, text)} == {
        "interface meoc.jan has no wire",
        "station backhaul.meoc has no wire",
    }


def test_a_port_takes_one_wire(tmp_path: Path) -> None:
    (error,) = errors_of(tmp_path, PAIR + "  - [b, a]\n")[:1]
    assert "b.eth0 has a wire already: wires.0" in error.cause


def test_a_wire_joins_two_nodes(tmp_path: Path) -> None:
    text = PAIR.replace("a: {address: 10.0.0.1/24}", "a: {interfaces: {x: 10.1.0.1/24, y: 10.2.0.1/24}}").replace(
        "[a, b]", "[a.x, a.y]"
    )
    assert 'the wire joins "a" to itself' in [error.cause for error in errors_of(tmp_path, text)]


def test_hosts_on_one_segment_are_in_one_network(tmp_path: Path) -> None:
    (error,) = errors_of(tmp_path, PAIR.replace("10.0.0.2/24", "10.1.0.2/24"))
    assert error.cause == "b.eth0 is in 10.1.0.0/24, but a.eth0, joined to it without a router between, is in 10.0.0.0/24"


def test_segments_have_networks_that_do_not_overlap(tmp_path: Path) -> None:
    text = """\
name: two
centre: b
hosts:
  a: {address: 10.0.0.1/16}
  b: {address: 10.0.0.2/16}
  c: {address: 10.0.1.1/24}
  d: {address: 10.0.1.2/24}
wires: [[a, b], [c, d]]
"""
    assert any("overlaps with 10.0.0.0/16 of a.eth0, which is on another segment" in e.cause for e in errors_of(tmp_path, text))


def test_traffic_needs_a_way(tmp_path: Path) -> None:
    text = """\
name: two
centre: b
hosts:
  a: {address: 10.0.0.1/24}
  b: {address: 10.0.0.2/24}
  c: {address: 10.1.0.1/24}
  d: {address: 10.1.0.2/24}
wires: [[a, b], [c, d]]
traffic:
  talk: {application: call, from: a, to: d}
"""
    (error,) = errors_of(tmp_path, text)
    assert (error.line, error.cause) == (10, "no wires lead from a to d")


def test_a_host_passes_nothing_on(tmp_path: Path) -> None:
    text = """\
name: chain
centre: c
hosts:
  a: {address: 10.0.0.1/24}
  b: {interfaces: {left: 10.0.0.2/24, right: 10.1.0.2/24}}
  c: {address: 10.1.0.1/24}
wires: [[a, b.left], [b.right, c]]
traffic:
  talk: {application: call, from: a, to: c}
"""
    (error,) = errors_of(tmp_path, text)
    assert error.cause == "no wires lead from a to c"
    assert load_text(
        tmp_path, text.replace("to: c", "to: b").replace("talk: {application: call, from: a", "x: {application: call, from: c")
    )


def test_hosts_of_different_ip_versions_have_no_traffic(tmp_path: Path) -> None:
    """Nothing is said of gateways, which would not help."""
    text = """\
name: versions
centre: b
hosts:
  a: {address: "fd00::1/64"}
  b: {address: 10.0.0.2/24}
wires: [[a, b]]
traffic:
  talk: {application: call, from: a, to: b}
"""
    (error,) = errors_of(tmp_path, text)
    assert (error.line, error.cause) == (8, "a and b have no IP version in common")
