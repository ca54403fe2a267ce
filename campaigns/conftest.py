# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

#: A network without Click, whose plan takes a few milliseconds.
TOPOLOGY = """\
name: x
centre: b
hosts: {a: {address: 10.0.0.1/24}, b: {address: 10.0.0.2/24}}
netboxes:
  net: {technology: link, stations: {a: {rate: 10 Mbit/s}, b: {rate: 10 Mbit/s}}, delay: 1 ms}
wires:
  - [a, net.a]
  - [net.b, b]
traffic:
  flow: {application: udp-flow, from: a, to: b, rate: 1 Mbit/s, payload: 500 B}
events:
  - {at: 5 s, netbox: net, set: {delay: 5 ms}}
"""

Write = Callable[[str], Path]


@pytest.fixture
def campaign_file(tmp_path: Path) -> Write:
    """Writes a campaign file beside topologies x.yaml and y.yaml."""
    (tmp_path / "x.yaml").write_text(TOPOLOGY)
    (tmp_path / "y.yaml").write_text(re.sub(r"\bnet\b", "path", TOPOLOGY))

    def write(text: str) -> Path:
        (file := tmp_path / "campaign.yaml").write_text(text)
        return file

    return write
