# SPDX-License-Identifier: GPL-2.0-or-later
"""Flows of a file, which Open vSwitch's own parser reads before there is a switch."""

from __future__ import annotations

import pytest

from system import sandbox
from testbed.description.switch import Switch, SwitchPort
from testbed.nodes import switches


def switch(*flows: str) -> Switch:
    return Switch(ports={"a": SwitchPort(), "b": SwitchPort()}, flows=flows)


def test_each_flow_that_open_vswitch_does_not_understand_is_told_by_its_number() -> None:
    flows = (
        "priority=1,in_port=a,actions=output:b",
        "nonsense=3,actions=drop",
        "--help",
        "actions=drop",
        "actions=" + "learn(" * 600,
    )
    told = dict(switches.wrong_flows(switch(*flows)))
    assert set(told) == {1, 2, 4}
    assert "nonsense" in told[1]


def test_a_flow_is_parsed_without_rights_and_within_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switches, "OFCTL", ("/bin/sh", "-c", "id -u >&2; ulimit -v >&2; exit 1"))
    (_, said), *_ = switches.wrong_flows(switch("actions=drop"))
    user, memory = said.split()
    assert int(user) != 0 and int(memory) <= sandbox.Limits(1.0).memory_bytes >> 10


def test_a_parser_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switches, "OFCTL", ("/bin/sleep", "60"))
    monkeypatch.setattr(switches, "_TIMEOUT_S", 0.3)
    monkeypatch.setattr(switches, "_PARSE_EACH", '"$1" "$2"')
    assert "not over after 0.5 s" in dict(switches.wrong_flows(switch("actions=drop")))[0]
