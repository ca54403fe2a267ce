# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts that share a link by budgets: C2ML and DyBRA in a network of Grazia's dissertation (2.2.2.1), by its formulas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from netboxes.endpoints.parameters import Parameters
from netboxes.engine.virtual import Change, Emulation, EmulationFailed, Netbox, mac, run
from netboxes.network.virtual_network import emulate_network
from netboxes.technology import technologies

#: S1 of the dissertation: 1 Mbit/s, 300 ms one way, segments of 500 bytes, which are 552 with the headers and timestamps of IPv4.
RATE, DELAY_S, DATA, PACKET = 1e6, 0.3, 500, 552
#: An IPv6 header has 20 bytes more.
PACKET_OF_IPV6 = 572
ROUND_TRIP_S = 2 * DELAY_S
#: A standard buffer there: what the link carries in a round trip, bytes.
BUFFER = RATE * ROUND_TRIP_S / 8
#: Noordwijk's first burst and timer with C2ML (2.2.2.1).
BURST = 5
BURSTS = {"burst": BURST, "burst_timer": "50 ms"}
#: Of a group, its beginning and its length; the gateway's number there. The last one is the server's.
NETWORKS = {4: "10.{}.0.", 6: "fd00:0:{}::"}
LENGTHS = {4: 16, 6: 48}
GATEWAY = 250
#: Of what a share is measured: windows are whole segments, and a round trip has the time that a frame is sent.
TOLERANCE = 0.05
FAST = {"rate": f"{10 * RATE:.0f} bit/s"}


@dataclass(frozen=True)
class Group:
    """Hosts at one station, behind a line of their own to the gateway."""

    hosts: int
    flows: Sequence[Mapping[str, Any]] = ()
    #: What a member is told besides; None: they are no members.
    member: Mapping[str, Any] | None = field(default_factory=dict)
    line: Mapping[str, Any] = field(default_factory=dict)
    #: Live changes of the line and of the hosts.
    line_events: Sequence[Change] = ()
    events: Sequence[Change] = ()


def bulk(variant: str, until_s: float, tcp: Mapping[str, Any] = {}, **keys: Any) -> dict[str, Any]:
    own = {"variant": variant, "mss": DATA + 12, **tcp}
    return {"application": "bulk", "role": "sender", "name": "load", "port": 5001, "until": f"{until_s} s", "tcp": own, **keys}


#: A connection to the gateway itself, of 20 segments on their way at most: it has most of such a line, and fills no queue.
NEAR = {**bulk("reno-1999", 30.0), "name": "near", "destination": f"10.1.0.{GATEWAY}", "port": 5002}
TAKES_NEAR = {"host": "gateway", "name": "near", "application": "bulk", "role": "receiver", "port": 5002, "tcp": NEAR["tcp"]}


def shared(
    groups: Mapping[str, Group],
    duration_s: float,
    *,
    receiver: Mapping[str, Any] | None = None,
    kind: str = "unweighted",
    far_allocator: bool = False,
    version: int = 4,
    rate: float = RATE,
    delay_s: float = DELAY_S,
    loss: float = 0.0,
    gateway_flows: Sequence[Mapping[str, Any]] = (),
    gateway_events: Sequence[Change] = (),
    link_events: Sequence[Change] = (),
    follows: float | None = None,
) -> dict[str, Emulation]:
    """Groups, the gateway, a `link` and a `server`. The allocator is in the gateway, or in the server behind the link.

    With `follows` it divides that part of the rate that the link tells."""
    networks = {name: NETWORKS[version].format(number) for number, name in enumerate([*groups, "sat"], 1)}
    link = {"link": "sat", "domain": 17, "kind": kind}

    def divides(host: str) -> dict[str, Any]:
        part = {**link, "role": "allocator", "host": host}
        if follows is None:
            return {"capacity": f"{rate:.0f} bit/s", "management": [part]}
        told = {"interface": "eth", "follows": "receive"} if far_allocator else {"interface": "sat", "follows": "transmit"}
        return {"management": [{**part, **told, "exploitation": follows}]}

    stations = {
        name: {"host": "gateway", "addresses": f"{network}{GATEWAY}/{LENGTHS[version]}", "forwarding": True}
        for name, network in networks.items()
    }
    gateway = {"stations": stations, "flows": list(gateway_flows), **({} if far_allocator else divides("gateway"))}
    server = {
        "stations": {"eth": {"addresses": f"{networks['sat']}2/{LENGTHS[version]}", "gateway": f"{networks['sat']}{GATEWAY}"}},
        "flows": [
            {"host": "eth", "name": "load", "application": "bulk", "role": "receiver", "port": 5001, "tcp": receiver or {}},
            {"host": "eth", "name": "flood", "application": "datagrams", "role": "receiver", "port": 5004},
        ],
        **(divides("eth") if far_allocator else {}),
    }
    queue = {"bytes": f"{rate * 2 * delay_s / 8:.0f} B"}
    bottleneck = {"rate": f"{rate:.0f} bit/s", "delay": f"{delay_s} s", "overhead": "0 B", "queue": queue, "loss": loss}
    boxes = {
        "gateway": netbox(gateway, gateway_events),
        "link": line(bottleneck, link_events),
        "server": netbox(server),
    }
    wires = [(("gateway", "sat"), ("link", "x")), (("link", "y"), ("server", "eth"))]
    for name, group in groups.items():
        own = f"{networks[name]}{GATEWAY}"
        member = {**link, "role": "member", "host": name, "allocator": f"{networks['sat']}2" if far_allocator else own}
        crowd = {
            "stations": {name: {"hosts": group.hosts, "addresses": f"{networks[name]}1/{LENGTHS[version]}", "gateway": own}},
            "flows": [{"host": name, "destination": f"{networks['sat']}2", **flow} for flow in group.flows],
            "management": [] if group.member is None else [{**member, **group.member}],
        }
        boxes[name] = netbox(crowd, group.events)
        boxes[f"{name}-line"] = line(group.line, group.line_events)
        wires += [((name, name), (f"{name}-line", "x")), ((f"{name}-line", "y"), ("gateway", name))]
    return emulate_network(boxes, wires, duration_s + 0.5, interval_s=1.0)


def netbox(parameters: Mapping[str, Any], events: Sequence[Change] = ()) -> Netbox:
    return Netbox("endpoints", tuple(parameters["stations"]), Parameters.model_validate(parameters).values(), events=events)


def line(parameters: Mapping[str, Any], events: Sequence[Change]) -> Netbox:
    model = technologies()["link"].model_validate({"stations": {"x": {}, "y": {}}, **parameters})
    return Netbox("link", ("x", "y"), model.values(), events=events, telemetry=True)


def three(
    variant: str, duration_s: float, *, member: Mapping[str, Any] | None, tcp: Mapping[str, Any] = {}, **keys: Any
) -> dict[str, Emulation]:
    receives = {"variant": variant} if variant in ("noordwijk", "reno-1999", "dctcp") else None
    return shared({"crowd": Group(3, [bulk(variant, duration_s, tcp)], member)}, duration_s, receiver=receives, **keys)


def delivered(ran: Emulation, at_s: float) -> list[int]:
    """Of each flow, bytes that had arrived then."""
    [flows] = [line["statistics"]["flows"] for line in ran.journal if "statistics" in line and line["at_s"] == at_s]
    return [sum(connection.get("delivered", 0) for connection in flow["connections"]) for flow in flows]


def rates(ran: Emulation, from_s: float, until_s: float, packet: int = PACKET) -> list[float]:
    """Of each flow, bit/s of IP packets."""
    both = zip(delivered(ran, from_s), delivered(ran, until_s), strict=True)
    return [(after - before) * 8 * packet / DATA / (until_s - from_s) for before, after in both]


def parts(ran: Emulation) -> list[dict[str, Any]]:
    return [part for host in ran.statistics["segment"]["hosts"].values() for part in host.get("management", [])]


def budgets(ran: Emulation) -> list[int | None]:
    return [part["budget"] for part in parts(ran) if part["role"] == "member"]


def queue(ran: Mapping[str, Emulation]) -> tuple[int, int]:
    """Of the bottleneck: the most packets that waited, and those that it dropped."""
    values = ran["link"].statistics["segment"]["stations"]["x"]["queue"]
    return values["length"]["max"], sum(values["dropped"].values())


def told(ran: Emulation, since_s: float) -> Iterable[tuple[float, str, int | None]]:
    return [(event["at_s"], event["host"], event["budget_bps"]) for event in ran.events("budget") if event["at_s"] >= since_s]


@pytest.mark.parametrize("variant", ["cubic", "newreno", "noordwijk"])
def test_three_senders_have_a_third_each_and_nothing_is_lost(variant: str) -> None:
    """Windows of budget times round trip (Eq. 2.2), or bursts at the budget's rate: n of them at most can wait (2.2.4.2)."""
    ran = three(variant, 30.0, member={}, tcp=BURSTS if variant == "noordwijk" else {})
    assert rates(ran["crowd"], 10, 30) == pytest.approx([RATE / 3] * 3, rel=TOLERANCE)
    waited, dropped = queue(ran)
    window = RATE / 3 * ROUND_TRIP_S / 8 / PACKET
    assert waited <= 3 * (BURST if variant == "noordwijk" else window)
    assert dropped == 0
    assert budgets(ran["crowd"]) == [333_333] * 3
    [allocator] = parts(ran["gateway"])
    assert (allocator["members"], allocator["assigned"]) == (3, 999_999)


def test_without_management_the_queue_fills() -> None:
    waited, dropped = queue(three("cubic", 30.0, member=None))
    assert waited * PACKET > 0.95 * BUFFER
    assert dropped > 0


@pytest.mark.parametrize(
    "variant", ["linux-reno", "bic", "hybla", "highspeed", "westwood+", "vegas", "dctcp", "bbr", "reno-1999"]
)
def test_other_variants_keep_to_their_share_and_lose_nothing(variant: str) -> None:
    """reno-1999 has 20 segments on their way at most; BBR now and then lets its queue drain (4 segments for 200 ms each 10 s)."""
    ran = three(variant, 30.0, member={})
    measured = rates(ran["crowd"], 10, 30)
    assert max(measured) < RATE / 3 * (1 + TOLERANCE)
    least = {"reno-1999": 20 * PACKET * 8 / ROUND_TRIP_S * (1 - 2 * TOLERANCE), "bbr": 0.85 * RATE / 3}
    assert min(measured) > least.get(variant, RATE / 3 * (1 - TOLERANCE))
    assert queue(ran)[1] == 0


def test_a_share_is_of_the_members_that_send_now() -> None:
    """One sends, two, three, two: CLIENT_HELLO with the first connection and CLIENT_BYE with the last one (2.2.3.2)."""
    load = bulk("cubic", 40.0, apart="10 s", start="1 s")
    crowd = Group(3, [load], {"while_sending": True})
    ran = shared({"crowd": crowd, "brief": Group(1, [bulk("cubic", 50.0, start="40 s")], {"while_sending": True})}, 60.0)
    assert rates(ran["crowd"], 7, 11)[0] == pytest.approx(RATE, rel=TOLERANCE)
    assert rates(ran["crowd"], 15, 21)[:2] == pytest.approx([RATE / 2] * 2, rel=TOLERANCE)
    assert rates(ran["crowd"], 25, 39) == pytest.approx([RATE / 3] * 3, rel=TOLERANCE)
    # The last data of the crowd is acknowledged some round trips after it ended.
    assert rates(ran["brief"], 44, 50) == pytest.approx([RATE], rel=TOLERANCE)
    assert [event["host"] for event in ran["brief"].events("left")] == ["brief-1"]
    assert (parts(ran["gateway"])[0]["members"], queue(ran)[1]) == (0, 0)


def test_a_join_reaches_all_within_three_round_trips() -> None:
    """The allocator is behind the satellite: a challenge, a grant, and the announcement to the others."""
    sends = {"while_sending": True}
    ran = shared(
        {"first": Group(2, [bulk("cubic", 30.0)], sends), "second": Group(1, [bulk("cubic", 30.0, start="10 s")], sends)},
        30.0,
        far_allocator=True,
    )
    [connection] = ran["second"].statistics["segment"]["flows"][0]["connections"]
    last = [told(ran[name], 10.0) for name in ("first", "second")]
    assert [budget for events in last for *_, budget in events] == [333_333] * 3
    assert max(at_s for events in last for at_s, *_ in events) - connection["connected_s"] < 3 * ROUND_TRIP_S
    assert rates(ran["first"], 15, 30) == pytest.approx([RATE / 3] * 2, rel=TOLERANCE)


def test_messages_that_are_lost_delay_a_budget_only() -> None:
    """A tenth each way: what a join or an announcement lacks comes with a repetition, and no lease ends."""
    ran = shared({"crowd": Group(5)}, 60.0, far_allocator=True, loss=0.1)
    assert budgets(ran["crowd"]) == [200_000] * 5
    members = parts(ran["crowd"])
    assert sum(member["repeated"] for member in members) > 0
    assert [member["leases_lost"] for member in members] == [0] * 5


def test_a_member_that_disappears_gives_its_share_back_when_its_lease_ends() -> None:
    """Leases of few members last 16 s (middleware/README.md); the member itself drops its budget, and tells so."""
    gone_s = 12.0
    away = Group(1, line_events=[(gone_s, "up", False)])
    ran = shared({"crowd": Group(2, [bulk("cubic", 40.0)]), "away": away}, 40.0)
    events = told(ran["crowd"], gone_s)
    assert [budget for *_, budget in events] == [500_000] * 2
    assert all(gone_s < at_s < gone_s + 16.5 for at_s, *_ in events)
    assert rates(ran["crowd"], 32, 40) == pytest.approx([RATE / 2] * 2, rel=TOLERANCE)
    assert [event["host"] for event in ran["away"].events("lease_lost")] == ["away-1"]
    assert budgets(ran["away"]) == [None]


def test_it_works_by_ipv6() -> None:
    ran = three("cubic", 30.0, member={}, version=6)
    assert rates(ran["crowd"], 10, 30, PACKET_OF_IPV6) == pytest.approx([RATE / 3] * 3, rel=TOLERANCE)
    assert budgets(ran["crowd"]) == [333_333] * 3
    assert queue(ran)[1] == 0


def test_what_slow_members_cannot_use_goes_to_the_others() -> None:
    """S2 of the dissertation: five of ten have 0.5 Mbit/s of 20 Mbit/s for a while, so the others have 17.5/5 Mbit/s."""
    rate, slow = 20e6, 0.5e6
    changes = [(10.0, "bad.access", slow), (20.0, "bad.access", rate)]
    load = [bulk("cubic", 30.0)]
    ran = shared({"good": Group(5, load), "bad": Group(5, load, events=changes)}, 30.0, kind="dybra", rate=rate, delay_s=0.05)
    assert rates(ran["good"], 12, 20) == pytest.approx([3.5e6] * 5, rel=TOLERANCE)
    assert max(rates(ran["bad"], 12, 20)) < slow * (1 + TOLERANCE)
    assert rates(ran["good"], 23, 30) == pytest.approx([2e6] * 5, rel=TOLERANCE)
    assert budgets(ran["bad"]) == budgets(ran["good"]) == [2_000_000] * 5
    assert queue(ran)[1] == 0


def test_a_member_follows_the_rate_that_the_netbox_at_its_station_tells() -> None:
    """The same by telemetry: a radio link that falls to 0.5 Mbit/s, of 4 Mbit/s that two share."""
    rate, slow, changed_s = 4e6, 0.5e6, 10.0
    load = [bulk("cubic", 20.0)]
    follows = {"telemetry": True}
    radio = Group(1, load, follows, line_events=[(0.5, "rate", rate), (changed_s, "rate", slow)])
    ran = shared({"good": Group(1, load, follows), "radio": radio}, 20.0, kind="dybra", rate=rate, delay_s=0.05)
    assert (budgets(ran["radio"]), budgets(ran["good"])) == ([500_000], [3_500_000])
    assert all(at_s < changed_s + 0.5 for name in ("radio", "good") for at_s, *_ in told(ran[name], changed_s))
    assert rates(ran["good"], 14, 20) == pytest.approx([3.5e6], rel=TOLERANCE)
    assert ran["radio"].statistics["segment"]["stations"]["radio"]["unsupported"] == 0


def test_budgets_follow_what_the_allocator_divides() -> None:
    """A link that becomes slower, as a satellite in rain, and its allocator knows: nothing is lost."""
    changed_s = 15.0
    ran = shared(
        {"crowd": Group(2, [bulk("cubic", 30.0)])},
        30.0,
        gateway_events=[(changed_s, "capacity", RATE / 2)],
        link_events=[(changed_s, "rate", RATE / 2)],
    )
    assert rates(ran["crowd"], 8, 15) == pytest.approx([RATE / 2] * 2, rel=TOLERANCE)
    assert rates(ran["crowd"], 20, 30) == pytest.approx([RATE / 4] * 2, rel=TOLERANCE)
    assert queue(ran)[1] == 0


@pytest.mark.parametrize("far_allocator", [False, True])
def test_an_allocator_divides_what_the_netbox_at_it_tells(far_allocator: bool) -> None:
    """On either side of a link that becomes slower by itself, comes back, and is down for a while, which changes no budget."""
    part, slow_s, fast_s, down_s = 0.9, 10.0, 25.0, 30.0
    changes: list[Change] = [(0.5, "rate", RATE), (slow_s, "rate", RATE / 2), (fast_s, "rate", RATE), (down_s, "up", False)]
    ran = shared({"crowd": Group(2, [bulk("cubic", 25.0)])}, 25.0, far_allocator=far_allocator, follows=part, link_events=changes)
    whole, half = round(part * RATE / 2), round(part * RATE / 4)
    since_slow = [(at_s, budget) for at_s, _, budget in told(ran["crowd"], slow_s)]
    assert [budget for _, budget in since_slow] == [half] * 2 + [whole] * 2
    # 0.1 s until it is told, 10 ms that changes are collected, and the way to the members.
    way_s = DELAY_S if far_allocator else 0.0
    assert all(at_s < slow_s + 0.2 + way_s for at_s, _ in since_slow[:2])
    assert all(fast_s < at_s < fast_s + 0.2 + way_s for at_s, _ in since_slow[2:])
    # Windows are whole segments, of 30.8, and a segment takes twice the time at the line.
    assert rates(ran["crowd"], 12, 24) == pytest.approx([half] * 2, rel=2 * TOLERANCE)


def test_datagrams_of_a_member_are_not_held_by_its_host() -> None:
    """C2ML holds TCP; a queue at the gateway that polices nodes (QRM) has to hold the others."""
    flood = {"application": "datagrams", "role": "sender", "name": "flood", "port": 5004, "periods": [["1 s", "20 s"]]}
    flood |= {"rate": "400 pps", "payload": "472 B"}
    ran = shared({"crowd": Group(1, [bulk("cubic", 20.0)]), "attacker": Group(1, [flood])}, 20.0)
    assert budgets(ran["attacker"]) == [500_000]
    [sent] = ran["attacker"].statistics["segment"]["flows"]
    assert sent["bytes"] * 8 / 19 > 1.5e6
    assert queue(ran)[1] > 0


def test_a_budget_that_is_told_only_changes_no_window() -> None:
    ran = three("cubic", 30.0, member={"enforce": False})
    assert budgets(ran["crowd"]) == [333_333] * 3
    assert {part["enforcement"] for part in parts(ran["crowd"])} == {"none"}
    assert queue(ran)[1] > 0


def test_connections_of_a_host_share_its_budget_while_they_are_there() -> None:
    """Evenly (2.2.3): two have half of it each, and the one that stays has all of it."""
    brief = {"name": "brief", "size": "800 kB", "until": None, "start": "5 s"}
    ran = shared({"crowd": Group(1, [bulk("cubic", 60.0), {**bulk("cubic", 60.0), **brief}])}, 60.0)
    [long, short] = rates(ran["crowd"], 10, 15)
    assert (long, short) == pytest.approx((RATE / 2, RATE / 2), rel=TOLERANCE)
    [took] = ran["crowd"].statistics["segment"]["flows"][1]["connections"]
    assert took["completed_s"] is not None
    assert rates(ran["crowd"], 28, 60)[0] == pytest.approx(RATE, rel=TOLERANCE)


@pytest.mark.parametrize(("beside", "of_link"), [((), RATE / 2), (("10.1.0.0/16",), RATE)])
def test_what_is_sent_beside_the_link_takes_nothing_of_its_budget(beside: Sequence[str], of_link: float) -> None:
    """A second connection, by a line of ten times the link's rate."""
    ran = shared(
        {"crowd": Group(1, [bulk("cubic", 30.0), NEAR], {"beside": beside}, line=FAST)}, 30.0, gateway_flows=[TAKES_NEAR]
    )
    [far, own] = rates(ran["crowd"], 10, 30)
    assert far == pytest.approx(of_link, rel=TOLERANCE)
    # Two segments at least are on their way (Eq 2.2), which is much on such a short one.
    assert own > 5 * RATE or not beside
    assert queue(ran)[1] == 0


def test_a_member_that_sends_beside_the_link_only_does_not_join() -> None:
    member = {"beside": ["10.1.0.0/16"], "while_sending": True}
    ran = shared(
        {"crowd": Group(1, [NEAR], member, line=FAST), "other": Group(1, [bulk("cubic", 10.0)])}, 12.0, gateway_flows=[TAKES_NEAR]
    )
    assert (budgets(ran["crowd"]), budgets(ran["other"])) == ([None], [round(RATE)])


def test_the_same_seed_gives_the_same_run() -> None:
    one, other = (three("cubic", 12.0, member={}, far_allocator=True, loss=0.05) for _ in range(2))
    assert [ran.journal for ran in one.values()] == [ran.journal for ran in other.values()]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"enforcement": "shaper"}, 'enforcement "shaper" is a queue of the kernel'),
        ({"enforcement": "window", "allocator": "10.0.0.1"}, "an address of the host itself"),
        ({"enforcement": "window", "allocator": "fd00::1"}, "the host has none"),
        ({"enforcement": "window", "interface": "wlan0"}, 'there is no interface "wlan0"'),
        ({"enforcement": "window", "speed": 1}, r'hosts.h.management\[0\] has the key "speed"'),
    ],
)
def test_what_a_host_cannot_do_is_refused(part: dict[str, Any], expected: str) -> None:
    member = {"name": "sat", "role": "member", "domain": 1, "allocator": "10.0.0.2", **part}
    interfaces = {"a": {"mac": mac(1).hex(":"), "addresses": ["10.0.0.1/24"]}}
    with pytest.raises(EmulationFailed, match=expected):
        run("endpoints", ["a"], {"hosts": {"h": {"interfaces": interfaces, "management": [member]}}}, {}, duration_s=0.1)
