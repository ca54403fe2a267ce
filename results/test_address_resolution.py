# SPDX-License-Identifier: GPL-2.0-or-later
"""A host that sends nothing because the network lost its requests, and one of which nobody knows why."""

from __future__ import annotations

import json
from dataclasses import replace
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from applications.registry import analyses
from contracts.flow import Flow
from contracts.plan import InterfacePlan, Plan, RoutePlan
from results.address_resolution import AddressRequests, unreached
from results.analyse import analyse
from results.captured_frames import Frames
from results.conftest import CENTRE, FIELD, MS, START_NS, Journey, SyntheticRun, frame, node_plan, plan_of
from results.frames import passages, together
from results.identity import identities
from results.records import RECORD, Fate

GATEWAY = "10.1.0.254"


def arp(operation: int, sender: str, target: str) -> bytes:
    """RFC 826, of Ethernet and IPv4."""
    addresses = [bytes(map(int, address.split("."))) for address in (sender, target)]
    packet = b"\x00\x01\x08\x00\x06\x04" + operation.to_bytes(2) + b"\x02" + bytes(5) + addresses[0] + bytes(6) + addresses[1]
    return b"\xff" * 6 + b"\x02" + bytes(5) + b"\x08\x06" + packet + bytes(18)


def discovery(kind: int, source: str, target: str) -> bytes:
    """RFC 4861: 135 is a neighbour solicitation, 136 an advertisement."""
    message = bytes([kind, 0, 0, 0, 0, 0, 0, 0]) + IPv6Address(target).packed
    header = (
        b"\x60\x00\x00\x00" + len(message).to_bytes(2) + b"\x3a\xff" + IPv6Address(source).packed + IPv6Address("ff02::1").packed
    )
    return bytes(12) + b"\x86\xdd" + header + message


class Silent(SyntheticRun):
    """fr1 asks for its gateway's address, and sends nothing."""

    asked_for = GATEWAY

    def ask(self, times: int, lost: tuple[str, Fate] | None) -> None:
        for number in range(times):
            request = arp(1, FIELD, self.asked_for)
            self.journeys["return"].append(Journey(request, START_NS + number * 1000 * MS, (0, 0, 0), (MS, MS), lost))
        for number in range(10):
            voice = frame(CENTRE, FIELD, number, bytes(172))
            self.journeys["forward"].append(
                Journey(voice, START_NS + number * 20 * MS, (0, 0, 0), (MS, MS), ("cell", Fate.OUTAGE))
            )

    def plan(self) -> Plan:
        fr1, *others = (plan := super().plan()).nodes
        return replace(plan, nodes=(replace(fr1, routes=(RoutePlan("default", GATEWAY),)), *others))


@pytest.fixture
def silent(tmp_path: Path) -> Silent:
    return Silent(tmp_path / "run")


def add(requests: AddressRequests, frame: bytes) -> None:
    requests.add(frames := Frames.of([frame]), identities(frames))


def verdict(run: Silent) -> Any:
    return analyse(run.write(), analyses())["verdict"]


def test_a_host_whose_questions_a_netbox_lost_was_out_of_reach_and_the_run_is_valid(silent: Silent) -> None:
    silent.ask(3, ("cell", Fate.OUTAGE))
    told = verdict(silent)
    assert (told["status"], told["reasons"]) == ("valid", [])
    assert told["notes"] == [
        "flow call.voice (return): not one frame was sent: fr1 asked 3 times for the link-layer address of 10.1.0.254, "
        "and cell lost every request"
    ]
    flows = {flow["direction"]: flow for flow in json.loads((silent.folder / "metrics.json").read_text())["flows"]}
    assert flows["return"]["loss_ratio"] is None and flows["forward"]["loss_ratio"] == 1.0
    assert flows["forward"]["unreached"] is None


def test_questions_that_arrived_and_nobody_answered_explain_nothing(silent: Silent) -> None:
    silent.ask(3, None)
    assert verdict(silent)["status"] == "invalid"


def test_questions_for_another_address_than_the_next_hop_explain_nothing(silent: Silent) -> None:
    silent.asked_for = "10.1.0.77"
    silent.ask(3, ("cell", Fate.OUTAGE))
    assert verdict(silent)["status"] == "invalid"


@pytest.mark.parametrize("frame", [arp(1, FIELD, GATEWAY)[:40], b"\xff" * 13, bytes(14), arp(1, FIELD, GATEWAY)[:20] + bytes(40)])
def test_what_is_no_request_is_left_out(frame: bytes) -> None:
    requests = AddressRequests()
    add(requests, frame)
    assert requests == AddressRequests()


def test_an_answer_to_anybody_is_one() -> None:
    requests = AddressRequests()
    add(requests, arp(1, FIELD, GATEWAY))
    assert len(requests.unanswered([FIELD], GATEWAY)) == 1
    add(requests, arp(2, GATEWAY, "10.1.0.9"))
    assert requests.unanswered([FIELD], GATEWAY) == []


def test_neighbours_of_ipv6_are_asked_likewise() -> None:
    requests, here, there = AddressRequests(), "fd00::1", "fd00::2"
    add(requests, discovery(135, here, there))
    (identity,) = requests.unanswered([here], there)
    host = replace(node_plan("a", "host"), interfaces=(InterfacePlan("eth", "w", "02:00:00:00:00:01", (f"{here}/64",)),))
    flow = Flow(
        **{"name": "f", "kind": "udp", "direction": "return", "source": "a", "destination": "b", "protocol": "udp"},
        **{"source_address": here, "destination_address": there},
    )
    rows = np.zeros(1, RECORD)
    rows["identity"], rows["fate"] = identity, Fate.ON_AIR
    lost = together({"cell": passages(rows)})
    assert unreached(flow, plan_of([host]), {"a": requests}, lost) == (
        "a asked once for the link-layer address of fd00::2, and cell lost every request"
    )
    add(requests, discovery(136, there, here))
    assert unreached(flow, plan_of([host]), {"a": requests}, lost) is not None
    add(requests, discovery(136, there, there))
    assert unreached(flow, plan_of([host]), {"a": requests}, lost) is None
