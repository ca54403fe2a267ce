# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from contracts.errors import BadTopology
from testbed.description.topology_file import load

TEXT = """\
name: three
centre: c
hosts:
  a: {{address: 10.0.0.1/24}}
  b: {{address: 10.0.0.2/24}}
  c: {{address: 10.0.0.3/24}}
netboxes:
  lan: {{technology: ethernet, stations: {{x: {{}}, y: {{}}, z: {{}}}}}}
wires: [[a, lan.x], [b, lan.y], [c, lan.z]]
traffic:
  one: {{{}}}
  two: {{{}}}
"""
FLOW = "application: udp-flow, rate: 1 Mbit/s, payload: 100 B"


def told(tmp_path: Path, one: str, two: str) -> list[str]:
    (file := tmp_path / "three.yaml").write_text(TEXT.format(one, two))
    try:
        load(file)
    except BadTopology as error:
        return [f"{one.line}:{one.column}: {one.cause}; {one.remedy}" for one in error.errors]
    return []


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        (
            "application: camera, from: a, to: c",
            "application: camera, from: b, to: c",
            ["12:8: c has port 21000 of the traffic one already, at the same time; give it another rtp_port"],
        ),
        (
            "application: call, from: a, to: c",
            "application: call, from: c, to: b, rtp_port: 30000",
            ["12:8: c has port 5060 of the traffic one already, at the same time; give it another sip_port"],
        ),
        (
            f"{FLOW}, from: a, to: c, count: 8",
            f"{FLOW}, from: a, to: c, port: 6007",
            ["12:86: a has port 6007 of the traffic one already, at the same time; give it another port"],
        ),
        (
            "application: command, run: x, server: y, listens: 21001, from: a, to: c",
            "application: camera, from: b, to: c",
            ["12:8: c has port 21001 of the traffic one already, at the same time; give it another rtp_port"],
        ),
        # Three seconds after the end it is arranged four seconds before its start.
        (
            "application: camera, from: a, to: c, duration: 10 s",
            "application: camera, from: b, to: c, start: 13 s",
            ["12:8: c has port 21000 of the traffic one already, at the same time; give it another rtp_port"],
        ),
    ],
)
def test_a_host_has_a_port_for_one_application_at_a_time(tmp_path: Path, one: str, two: str, expected: list[str]) -> None:
    assert told(tmp_path, one, two) == expected


def test_each_entry_that_has_another_ones_port_is_told_once(tmp_path: Path) -> None:
    bulk = "application: bulk, from: a, to: c"
    more = "".join(f"\n  more-{number}: {{{bulk}}}" for number in range(3))
    (file := tmp_path / "three.yaml").write_text(TEXT.format(bulk, bulk).rstrip() + more + "\n")
    with pytest.raises(BadTopology) as error:
        load(file)
    assert len(error.value.errors) == 4
    assert all("of the traffic one already" in str(problem) for problem in error.value.errors)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("application: camera, from: a, to: c, duration: 10 s", "application: camera, from: b, to: c, start: 14 s"),
        ("application: camera, from: a, to: c", "application: camera, from: b, to: c, rtp_port: 21002"),
        (f"{FLOW}, from: a, to: c", f"{FLOW}, from: b, to: c"),
        (f"{FLOW}, from: a, to: c", f"{FLOW}, from: a, to: b"),
        ("application: command, run: x, server: y, listens: 80, from: a, to: c", "application: command, run: x, from: b, to: c"),
    ],
)
def test_ports_that_do_not_meet_are_fine(tmp_path: Path, one: str, two: str) -> None:
    assert told(tmp_path, one, two) == []
