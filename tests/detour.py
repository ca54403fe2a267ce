# SPDX-License-Identifier: GPL-2.0-or-later
"""A network with two paths between two hosts, of which OSPF takes the one with more wires, since it costs less."""

from __future__ import annotations


def network(direct: str, detour: str) -> str:
    """Routers `west` and `east` are joined by the netbox `direct`, which is dear, and by `first`, router `relay` and `second`.

    `direct` and `detour` are what these netboxes are, in YAML, but for their stations x and y.
    """
    return f"""
name: detour
centre: b
hosts:
  a: {{address: 10.1.0.11/24, gateway: 10.1.0.1}}
  b: {{address: 10.2.0.11/24, gateway: 10.2.0.1}}
netboxes:
  direct: {{{direct}, stations: {{x: {{}}, y: {{}}}}}}
  first: {{{detour}, stations: {{x: {{}}, y: {{}}}}}}
  second: {{{detour}, stations: {{x: {{}}, y: {{}}}}}}
routers:
  west:
    engine: linux
    ospf: {{costs: {{direct: 100}}}}
    interfaces: {{lan: 10.1.0.1/24, direct: 10.7.0.1/30, up: 10.8.0.1/30}}
  relay: {{engine: linux, interfaces: {{down: 10.8.0.2/30, on: 10.9.0.1/30}}, ospf: {{}}}}
  east:
    engine: linux
    ospf: {{costs: {{direct: 100}}}}
    interfaces: {{lan: 10.2.0.1/24, direct: 10.7.0.2/30, up: 10.9.0.2/30}}
wires:
  - [a, west.lan]
  - [west.direct, direct.x]
  - [direct.y, east.direct]
  - [west.up, first.x]
  - [first.y, relay.down]
  - [relay.on, second.x]
  - [second.y, east.up]
  - [east.lan, b]
"""
