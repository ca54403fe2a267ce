# SPDX-License-Identifier: GPL-2.0-or-later
"""Address resolution over a medium that has none: what the engine answers itself, and what it passes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from netboxes.engine.neighbour_frames import (
    ALL_NODES,
    UNSPECIFIED,
    advertisement,
    arp_reply,
    arp_request,
    icmp6,
    solicitation,
)
from netboxes.engine.virtual import Emulation, TimedFrame, address, mac, run, udp, vlan

DELAY = 0.25
#: How the two protocols ask and answer.
ARP = (arp_request, arp_reply)
DISCOVERY = (solicitation, advertisement)
BOTH = pytest.mark.parametrize(("ask", "answer"), [ARP, DISCOVERY], ids=["arp", "discovery"])
Ask = Callable[..., bytes]


def wire(frames: Mapping[str, Sequence[TimedFrame]], stations: Sequence[str] = ("a", "b", "c"), **options: Any) -> Emulation:
    """Hosts 1, 2 and 3 are behind stations a, b and c."""
    ran = run("loopwire", stations, {"delay": DELAY, "proxy": True, **options.pop("parameters", {})}, frames, **options)
    counted = ran.statistics["frames"]
    assert (counted["inside"], counted["duplicates"], sum(counted["lost"].values())) == (0, 0, 0)
    return ran


def times(ran: Emulation, station: str) -> list[float]:
    return [time for time, _ in ran.received[station]]


@BOTH
def test_a_question_for_a_known_owner_is_answered_at_once_and_goes_no_further(ask: Ask, answer: Ask) -> None:
    ran = wire({"b": [(1.0, answer(2, 1))], "c": [(2.0, ask(3, 2))]})
    assert ran.received["c"] == [(1.25, answer(2, 1)), (2.0, answer(2, 3))]
    assert times(ran, "a") == [1.25]
    assert ran.received["b"] == []
    # The asker has said where it is, too.
    assert ran.statistics["neighbours"]["answered"] == 1


@BOTH
def test_an_unknown_owner_is_asked_over_the_medium_and_its_answer_is_learnt(ask: Ask, answer: Ask) -> None:
    frames = {"a": [(0.0, ask(1, 2)), (1.0, ask(1, 2))], "b": [(0.3, answer(2, 1))], "c": [(1.5, ask(3, 2))]}
    ran = wire(frames)
    assert ran.received["b"] == [(0.25, ask(1, 2))]
    assert ran.received["a"] == [(0.55, answer(2, 1)), (1.0, answer(2, 1))]
    assert ran.received["c"][-1] == (1.5, answer(2, 3))


@BOTH
def test_a_question_that_nobody_answers_passes_ever_more_rarely(ask: Ask, answer: Ask) -> None:
    ran = wire({"a": [(float(second), ask(1, 9)) for second in range(300)]})
    # 1.5 s after the first, twice as long each time, 60 s at most; as hosts ask three times, two of these pass.
    assert times(ran, "b") == [second + DELAY for second in (0, 2, 5, 11, 23, 47, 95, 155, 215, 275)]
    assert ran.statistics["neighbours"]["suppressed"] == 290


@BOTH
def test_a_unicast_question_for_a_known_owner_is_answered_while_it_can_be_reached(ask: Ask, answer: Ask) -> None:
    frames = {"a": [(1.0, ask(1, 2, to=mac(2)))], "b": [(0.0, answer(2, 1))]}
    assert wire(frames).received["a"][-1] == (1.0, answer(2, 1))
    cut = wire(frames, parameters={"unreachable": "b"})
    assert cut.received["a"] == [(0.25, answer(2, 1))]
    assert cut.received["b"] == [(1.25, ask(1, 2, to=mac(2)))]


@BOTH
def test_an_owner_that_was_silent_for_200_s_is_asked_again_and_only_it(ask: Ask, answer: Ask) -> None:
    frames = {"b": [(0.0, answer(2, 1))], "a": [(199.0, ask(1, 2)), (201.0, ask(1, 2)), (202.0, ask(1, 2)), (203.0, ask(1, 2))]}
    ran = wire(frames)
    assert ran.received["a"] == [(0.25, answer(2, 1)), (199.0, answer(2, 1))]
    assert times(ran, "b") == [201.25, 203.25]
    # It may have moved: when it does not answer, everyone is asked.
    assert times(ran, "c")[1:] == [203.25]


@BOTH
def test_an_owner_behind_the_asker_s_own_station_is_left_to_the_wire_between_them(ask: Ask, answer: Ask) -> None:
    ran = wire({"a": [(0.0, answer(4, 2)), (1.0, ask(1, 4))]})
    assert times(ran, "b") == [0.25]
    assert ran.received["a"] == []


@pytest.mark.parametrize(
    ("announce", "ask", "answer"),
    [
        (lambda at: arp_request(2, 2) if at == 2 else arp_request(2, 2).replace(mac(2), mac(at)), arp_request, arp_reply),
        (lambda at: advertisement(2, None, at=at), solicitation, advertisement),
    ],
    ids=["arp", "discovery"],
)
def test_an_announcement_passes_when_it_is_new(announce: Callable[[int], bytes], ask: Ask, answer: Ask) -> None:
    moved = announce(7)
    ran = wire({"b": [(0.0, announce(2)), (1.0, announce(2)), (2.0, moved), (3.0, moved)], "a": [(4.0, ask(1, 2))]})
    assert ran.received["c"] == [(0.25, announce(2)), (2.25, moved)]
    assert ran.received["a"][-1] == (4.0, answer(2, 1, at=7))
    elsewhere = wire({"b": [(0.0, announce(2))], "c": [(1.0, announce(2)), (2.0, ask(3, 2))], "a": [(3.0, ask(1, 2))]})
    assert times(elsewhere, "a") == [0.25, 1.25, 3.0]


def test_duplicate_address_detection_is_told_of_another_owner() -> None:
    ran = wire({"b": [(0.0, advertisement(2, 1))], "a": [(1.0, solicitation(5, 2, probe=True).replace(mac(5), mac(1)))]})
    # RFC 4861, 7.2.4: to all nodes, not solicited.
    assert ran.received["a"][-1] == (1.0, advertisement(2, None))
    arp = wire({"b": [(0.0, arp_reply(2, 1))], "a": [(1.0, arp_request(1, 2, probe=True))]})
    assert arp.received["a"][-1] == (1.0, arp_reply(2, 1, probe=True))


@pytest.mark.parametrize(("ask", "answer"), [ARP, DISCOVERY], ids=["arp", "discovery"])
def test_a_host_that_comes_back_finds_its_own_address_free(ask: Ask, answer: Ask) -> None:
    ran = wire({"b": [(0.0, answer(2, 1)), (1.0, ask(2, 2, probe=True))]})
    assert ran.received["b"] == []
    assert ran.received["c"][-1] == (1.25, ask(2, 2, probe=True))


def test_an_owner_that_has_not_said_whether_it_is_a_router_is_asked_itself() -> None:
    """A wrong R flag would take a default router from the asker (RFC 4861, 7.2.5)."""
    frames = {
        "b": [(0.0, solicitation(2, 1)), (1.3, advertisement(2, 1, router=True))],
        "a": [(1.0, solicitation(1, 2)), (2.0, solicitation(1, 2))],
    }
    ran = wire(frames)
    assert times(ran, "c") == [0.25]
    assert ran.received["b"] == [(1.25, solicitation(1, 2))]
    assert ran.received["a"][1:] == [(1.55, advertisement(2, 1, router=True)), (2.0, advertisement(2, 1, router=True))]


def test_what_is_behind_a_router_is_nobody_s_neighbour() -> None:
    """IP packets teach nothing: those that a router forwards have its MAC address and others' IP addresses."""
    forwarded = udp(5, 1).replace(mac(5), mac(2))
    ran = wire({"b": [(0.0, forwarded)], "a": [(1.0, arp_request(1, 5))]})
    assert ran.statistics["neighbours"]["answered"] == 0
    assert times(ran, "c") == [0.25, 1.25]


@BOTH
def test_each_vlan_has_its_own_addresses(ask: Ask, answer: Ask) -> None:
    frames = {"b": [(0.0, vlan(answer(2, 1), 5))], "a": [(1.0, ask(1, 2)), (2.0, vlan(ask(1, 2), 5, priority=3))]}
    ran = wire(frames)
    assert times(ran, "c") == [0.25, 1.25]
    assert ran.received["a"][-1] == (2.0, vlan(answer(2, 1), 5, priority=3))


def test_messages_that_a_receiver_would_discard_are_neither_believed_nor_answered() -> None:
    body = bytes([136, 0, 0, 0, 0x20, 0, 0, 0]) + address(2, 6).packed + b"\2\1" + mac(2)
    owner = address(2, 6)
    routed = icmp6(mac(2), b"\x33\x33\0\0\0\1", owner, ALL_NODES, body, hop_limit=254)
    spoilt = advertisement(2, None)[:-1] + b"\7"
    endless = icmp6(mac(2), b"\x33\x33\0\0\0\1", owner, ALL_NODES, body + b"\1\0" + bytes(6))
    from_nobody = bytes([135, 0, 0, 0]) + bytes(4) + owner.packed + body[-8:]
    nobody = icmp6(mac(2), b"\x33\x33\0\0\0\1", UNSPECIFIED, ALL_NODES, from_nobody)
    foreign = arp_reply(2, 1)[:22] + mac(9) + arp_reply(2, 1)[28:]
    frames: list[TimedFrame] = [(float(i), frame) for i, frame in enumerate([routed, spoilt, endless, nobody, foreign])]
    ran = wire({"b": frames, "a": [(9.0, solicitation(1, 2)), (9.0, arp_request(1, 2))]})
    assert ran.statistics["neighbours"]["answered"] == 0
    assert len(ran.received["c"]) == len(frames) + 2


def test_a_station_that_invents_addresses_does_no_harm_to_the_others() -> None:
    invented = [(i * 1e-4, arp_request(100 + i, 20_000 + i)) for i in range(5000)]
    frames = {"a": [*invented, (3.0, arp_request(1, 2))], "b": [(2.0, arp_reply(2, 3))], "c": [(4.0, arp_request(3, 2))]}
    ran = wire(frames)
    assert ran.received["c"][-1] == (4.0, arp_reply(2, 3))
    assert ran.received["a"][-1] == (3.0, arp_reply(2, 1))
    assert ran.statistics["neighbours"]["known"] <= 1024 + 2
    assert len(ran.received["b"]) == 1024  # and no more of its requests are on the medium


def test_a_medium_with_address_resolution_of_its_own_carries_it() -> None:
    frames = {"b": [(0.0, arp_reply(2, 1))], "a": [(1.0 + i, arp_request(1, 2)) for i in range(3)]}
    ran = wire(frames, parameters={"proxy": False})
    assert times(ran, "b") == [1.25, 2.25, 3.25]
    assert ran.statistics["neighbours"] is None
