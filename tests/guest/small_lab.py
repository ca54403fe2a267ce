# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab for guests that has every kind of object and little to start: hosts, emulators, veth wires, a memory wire."""

from __future__ import annotations

from typing import Final

from tests.guest.machine import Guest

FILE: Final = "/root/small.yaml"
TEXT: Final = """\
name: small
hosts:
  a: {address: 10.0.0.1/24}
  b: {address: 10.0.0.2/24}
netboxes:
  one: {technology: ethernet, stations: {left: {}, right: {}}}
  two: {technology: ethernet, stations: {left: {}, right: {}}}
wires:
  - [a, one.left]
  - [one.right, two.left]
  - [two.right, b]
"""
#: For a run of it.
TRAFFIC: Final = """\
centre: b
traffic:
  readings: {application: udp-flow, from: a, to: b, rate: 40 kbit/s, payload: 72 B, duration: 2 s}
"""
#: The same with a server of its user's own, as whoever its root is outside.
WITH_SERVER: Final = TEXT.replace(
    "10.0.0.2/24}", '10.0.0.2/24, files: {/srv/site: site}, start: "cd /srv/site && exec python3 -m http.server 80"}'
)
#: The same with a link whose rate its hosts share: a shaper of the kernel keeps to the budget.
MANAGED: Final = TEXT + "management:\n  link: {gateway: b, members: [a], rate: 1 Mbit/s}\n"
#: The same with one more host, whose wire is new.
LARGER: Final = (
    TEXT.replace("netboxes:", "  c: {address: 10.0.0.3/24}\nnetboxes:")
    .replace("left: {}", "spare: {}, left: {}", 1)
    .replace("wires:", "wires:\n  - [c, one.spare]")
)


def write(guest: Guest, text: str = TEXT, file: str = FILE) -> None:
    guest.run(f"cat >{file}", stdin=text).checked()
