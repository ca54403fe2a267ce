# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import json
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest

from contracts.errors import BadTopology
from contracts.management import parts
from contracts.plan import NodePlan, RealtimeSupport
from testbed.description.targets import Targets
from testbed.description.topology_file import load
from testbed.nodes import host_program, management
from testbed.plans.resolve import resolve

TEXT = """\
name: shared
hosts:
  fr1: {{address: 10.0.1.1/24, gateway: 10.0.1.254}}
  fr2: {{address: 10.0.1.2/24, gateway: 10.0.1.254{second}}}
  hub: {{address: 10.0.2.1/24, gateway: 10.0.2.254}}
routers:
  meoc: {{engine: linux, interfaces: {{near: 10.0.1.254/24, far: 10.0.2.254/24}}}}
netboxes:
  lan: {{technology: ethernet, stations: {{x: {{}}, y: {{}}, z: {{}}}}}}
wires: [[fr1, lan.x], [fr2, lan.y], [lan.z, meoc.near], [meoc.far, hub]]
management:
  sat: {{{link}}}
"""
LINK = "gateway: hub, members: [fr1, fr2], rate: 2 Mbit/s"
KEY = "0123456789abcdef" * 2


def nodes(tmp_path: Path, link: str, second: str = "") -> dict[str, NodePlan]:
    (file := tmp_path / "shared.yaml").write_text(TEXT.format(link=link, second=second))
    plan = resolve(load(file), realtime=RealtimeSupport(False, None, "none"), cores=(0, 1))
    return {node.name: node for node in plan.nodes}


def errors(tmp_path: Path, link: str) -> list[str]:
    with pytest.raises(BadTopology) as raised:
        nodes(tmp_path, link)
    return [f"{one.cause}; {one.remedy}" if one.remedy else one.cause for one in raised.value.errors]


def test_its_gateway_and_members_are_told_their_parts(tmp_path: Path) -> None:
    planned = nodes(tmp_path, LINK)
    (allocator,), (first,), (second,) = (parts(planned[name]) for name in ("hub", "fr1", "fr2"))
    assert allocator["role"] == "allocator" and allocator.get("capacity_bps") == 2_000_000
    assert first == second and first["role"] == "member" and first.get("allocator") == "10.0.2.1"
    assert allocator["domain"] == first["domain"] != 0
    assert parts(planned["meoc"]) == []


def test_members_have_a_shaper_in_a_lab_and_windows_in_virtual_time(tmp_path: Path) -> None:
    member = nodes(tmp_path, LINK)["fr1"]
    assert parts(member)[0].get("enforcement") == "shaper"
    assert management.in_virtual_time(member)[0]["enforcement"] == "window"
    told = nodes(tmp_path, LINK + ", unruly: [fr1]")["fr1"]
    assert management.in_virtual_time(told) == parts(told) and parts(told)[0].get("enforcement") == "none"


#: Members and the gateway in one network.
FLAT = LINK.replace("hub", "meoc")


def test_announcements_by_multicast_have_a_group_and_leave_by_the_address_that_members_ask(tmp_path: Path) -> None:
    planned = nodes(tmp_path, f"{FLAT}, announcements: multicast")
    (allocator,), (first,), (second,) = (parts(planned[name]) for name in ("meoc", "fr1", "fr2"))
    assert allocator.get("address") == first.get("allocator") == "10.0.1.254"
    assert ip_address(first["group"]) in ip_network("239.255.0.0/16")
    assert allocator["group"] == first["group"] == second["group"]
    assert management.in_virtual_time(planned["fr1"])[0]["group"] == first["group"]
    copies = nodes(tmp_path, FLAT)
    assert not {"group", "address"} & {*parts(copies["meoc"])[0], *parts(copies["fr1"])[0]}


def test_announcements_by_multicast_are_of_one_ipv4_network(tmp_path: Path) -> None:
    assert errors(tmp_path, f"{LINK}, announcements: multicast") == [
        f"{member} is in no IPv4 network with hub, which it reaches at 10.0.2.1, and announcements by multicast reach no other; "
        "write announcements: copies"
        for member in ("fr1", "fr2")
    ]
    assert errors(tmp_path, "gateway: meoc, members: [fr1, hub], rate: 2 Mbit/s, announcements: multicast") == [
        "hub reaches meoc at 10.0.2.254, and fr1 at 10.0.1.254: announcements by multicast leave by one interface; write "
        "announcements: copies, or join hub to the network of fr1"
    ]
    text = (
        TEXT.replace("10.0.1.", "fd00::")
        .replace("/24, gateway: fd00", "/64, gateway: fd00")
        .replace("fd00::254/24", "fd00::254/64")
    )
    (file := tmp_path / "sixth.yaml").write_text(text.format(link=f"{FLAT}, announcements: multicast", second=""))
    with pytest.raises(BadTopology, match="fr1 is in no IPv4 network with meoc"):
        load(file)


def test_members_may_be_some_only_while_they_send(tmp_path: Path) -> None:
    for said, expected in (("", False), (", while_sending: true", True)):
        (part,) = management.in_virtual_time(nodes(tmp_path, LINK + said)["fr1"])
        assert part.get("while_sending", False) is expected


def test_their_program_runs_beside_their_users_and_only_members_may_change_queues(tmp_path: Path) -> None:
    planned = nodes(tmp_path, LINK, second=", start: sleep 1000")
    assert host_program.programs(planned["fr2"]).keys() == {"program", "c2ml"}
    assert host_program.of_user(planned["fr1"]) is None
    assert host_program.programs(planned["fr1"])["c2ml"].restart == "always"
    assert "net_admin" in planned["fr1"].capabilities
    assert "net_admin" not in planned["hub"].capabilities


def test_what_members_reach_without_the_links_netbox_takes_nothing_of_their_budgets(tmp_path: Path) -> None:
    text = TEXT.replace("[meoc.far, hub]", "[meoc.far, sky.a], [sky.b, hub]")
    sky = "  sky: {{technology: link, stations: {{a: {{}}, b: {{}}}}}}\nwires:"
    for key, expected in (("", []), (", of: sky", ["10.0.1.0/24", "10.0.2.254/32"])):
        (file := tmp_path / "shared.yaml").write_text(text.replace("wires:", sky).format(link=LINK + key, second=""))
        plan = resolve(load(file), realtime=RealtimeSupport(False, None, "none"), cores=(0, 1))
        (part,) = parts(plan.node("fr1"))
        assert part.get("beside") == expected
        assert management.in_virtual_time(plan.node("fr1"))[0]["beside"] == expected


def test_in_one_network_what_crosses_the_links_netbox_is_held(tmp_path: Path) -> None:
    (file := tmp_path / "flat.yaml").write_text("""\
name: flat
hosts:
  fr1: {address: 10.0.1.1/24}
  fr2: {address: 10.0.1.2/24}
  hub: {address: 10.0.1.3/24}
netboxes:
  lan: {technology: ethernet, stations: {x: {}, y: {}, z: {}}}
  sky: {technology: link, stations: {a: {}, b: {}}}
wires: [[fr1, lan.x], [fr2, lan.y], [lan.z, sky.a], [sky.b, hub]]
management:
  sat: {gateway: hub, members: [fr1, fr2], rate: 2 Mbit/s, of: sky}
""")
    plan = resolve(load(file), realtime=RealtimeSupport(False, None, "none"), cores=(0, 1))
    assert parts(plan.node("fr1"))[0].get("beside") == ["10.0.1.1/32", "10.0.1.2/32"]


def test_dybra_has_members_with_a_slow_access(tmp_path: Path) -> None:
    planned = nodes(tmp_path, f"{LINK}, kind: dybra, access: {{fr2: 500 kbit/s}}, threshold: 0.1, key: {KEY}")
    accesses = [parts(planned[name])[0].get("access_bps") for name in ("fr1", "fr2")]
    assert accesses == [None, 500_000]
    assert parts(planned["hub"])[0]["key"] == KEY


def test_dybra_follows_what_the_netbox_at_a_member_tells(tmp_path: Path) -> None:
    text = TEXT.replace("[fr2, lan.y]", "[fr2, radio.a], [radio.b, lan.y]")
    radio = "  radio: {{technology: link, stations: {{a: {{}}, b: {{}}}}, rate: 1 Mbit/s, telemetry: true}}\nwires:"
    (file := tmp_path / "shared.yaml").write_text(
        text.replace("wires:", radio).format(link=f"{LINK}, kind: dybra, access: {{fr2: netbox}}", second="")
    )
    plan = resolve(load(file), realtime=RealtimeSupport(False, None, "none"), cores=(0, 1))
    assert [parts(plan.node(name))[0].get("telemetry") for name in ("fr1", "fr2")] == [False, True]
    assert json.loads(plan.node("radio").files["netbox.json"])["telemetry"] is True


#: A satellite between the router and the hub, which tells both.
SKY = (
    TEXT.replace("[meoc.far, hub]", "[meoc.far, sky.a], [sky.b, hub]")
    .replace("far: 10.0.2.254/24", "far: 10.0.2.254/24{more}")
    .replace("wires:", "  sky: {{technology: link, stations: {{a: {{}}, b: {{}}}}, rate: 2 Mbit/s, telemetry: true}}\nwires:")
)


@pytest.mark.parametrize(("gateway", "direction", "interface"), [("meoc", "transmit", "far"), ("hub", "receive", "eth0")])
def test_an_allocator_divides_what_the_links_netbox_tells(tmp_path: Path, gateway: str, direction: str, interface: str) -> None:
    """Of what the members send: at their own side it leaves, at the far side it comes in."""
    link = f"gateway: {gateway}, members: [fr1, fr2], of: sky, rate: netbox, exploitation: 0.9"
    (file := tmp_path / "shared.yaml").write_text(SKY.format(link=link, second="", more=""))
    plan = resolve(load(file), realtime=RealtimeSupport(False, None, "none"), cores=(0, 1))
    (allocator,), (member,) = parts(plan.node(gateway)), parts(plan.node("fr1"))
    assert (allocator.get("follows"), allocator.get("interface"), allocator.get("exploitation")) == (direction, interface, 0.9)
    assert "capacity_bps" not in allocator
    assert member.get("allocator") == {"meoc": "10.0.1.254", "hub": "10.0.2.1"}[gateway]
    assert management.in_virtual_time(plan.node(gateway))[0]["follows"] == direction
    with pytest.raises(ValueError, match="a netbox tells what sat divides; change the rate there"):
        Targets.of(plan.nodes, plan.wires, ()).managed_link("sat").live("sat", None, "rate", "1 Mbit/s")


@pytest.mark.parametrize(("rate", "notes"), [("2 Mbit/s", 0), ("2.1 Mbit/s", 1), ("netbox", 0)])
def test_more_than_the_link_carries_is_told(tmp_path: Path, rate: str, notes: int) -> None:
    (file := tmp_path / "shared.yaml").write_text(
        SKY.format(link=f"gateway: meoc, members: [fr1], of: sky, rate: {rate}", second="", more="")
    )
    plan = resolve(load(file), realtime=RealtimeSupport(False, None, "none"), cores=(0, 1))
    told = [note for note in plan.notes if "managed link" in note]
    assert len(told) == notes
    assert all("the managed link sat divides 2.1 Mbit/s, and sky carries 2 Mbit/s from a at most" in note for note in told)


def test_members_on_both_sides_have_no_rate_in_common(tmp_path: Path) -> None:
    text = SKY.replace("hub: {{", "far: {{address: 10.0.2.3/24, gateway: 10.0.2.254}}\n  hub: {{")
    text = text.replace("[sky.b, hub]", "[sky.b, yard.a], [yard.b, hub], [yard.c, far]")
    text = text.replace("wires:", "  yard: {{technology: ethernet, stations: {{a: {{}}, b: {{}}, c: {{}}}}}}\nwires:")
    link = "gateway: meoc, members: [fr1, far], of: sky, rate: netbox"
    (file := tmp_path / "shared.yaml").write_text(text.format(link=link, second="", more=""))
    with pytest.raises(BadTopology, match="far sends over sky in the other direction than fr1"):
        load(file)


def test_a_router_is_a_gateway_with_a_program_also_beside_ospf(tmp_path: Path) -> None:
    link = "gateway: meoc, members: [fr1, fr2], rate: 2 Mbit/s"
    for ospf, journal in (("", True), ("}}, ospf: {{hello: 1 s", False)):
        (topology := tmp_path / "shared.yaml").write_text(
            SKY.format(link=link, second="", more=ospf.replace("{{", "{").replace("}}", "}"))
        )
        plan = resolve(load(topology), realtime=RealtimeSupport(False, None, "none"), cores=(0, 1))
        router = plan.node("meoc")
        assert host_program.programs(router).keys() == {"c2ml"}
        assert (router.command == host_program.COMMAND) is journal
        file = Path(json.loads(router.files["management.json"])["journal"])
        assert file.name == ("journal.jsonl" if journal else "parts.jsonl"), "FRRouting's program writes the node's"


def test_a_click_router_runs_no_allocator(tmp_path: Path) -> None:
    text = TEXT.replace("engine: linux, ", "engine: click, configuration: click/ip-router.click, ")
    (file := tmp_path / "shared.yaml").write_text(text.format(link="gateway: meoc, members: [fr1], rate: 2 Mbit/s", second=""))
    with pytest.raises(BadTopology, match="meoc is a Click router, in which no program runs"):
        load(file)


def test_a_netbox_without_rates_tells_nothing(tmp_path: Path) -> None:
    text = TEXT.replace("technology: ethernet", "technology: pan, mode: peer, distance: 10 m, telemetry: true")
    (file := tmp_path / "shared.yaml").write_text(text.format(link=LINK, second=""))
    with pytest.raises(
        BadTopology, match="pan has no rates of links to tell, ethernet, link, lte, multiservice, satellite or wimax have"
    ):
        load(file)


def test_more_addresses_beside_the_link_than_a_queue_can_leave_out_are_refused(tmp_path: Path) -> None:
    """In one network with what is behind the link; every second address, so that no prefix holds several."""
    near = {f"n{number}": f"10.0.{number // 100}.{2 * (number % 100) + 1}/16" for number in range(300)}
    hosts = "".join(f"  {name}: {{address: {address}}}\n" for name, address in near.items())
    lans = {"one": [*near][:150], "two": [*near][150:]}
    netboxes = "".join(
        f"  {lan}: {{technology: ethernet, stations: {{{', '.join(f'{name}: {{}}' for name in (*names, 'up', 'down'))}}}}}\n"
        for lan, names in lans.items()
    )
    wires = ", ".join(f"[{name}, {lan}.{name}]" for lan, names in lans.items() for name in names)
    (file := tmp_path / "flat.yaml").write_text(
        f"name: flat\nhosts:\n{hosts}  hub: {{address: 10.0.9.1/16}}\n  end: {{address: 10.0.9.2/16}}\nnetboxes:\n{netboxes}"
        "  sky: {technology: link, stations: {a: {}, b: {}}}\n"
        f"wires: [{wires}, [end, one.down], [one.up, two.down], [two.up, sky.a], [sky.b, hub]]\n"
        "management:\n  sat: {gateway: hub, members: [n0], rate: 2 Mbit/s, of: sky}\n"
    )
    with pytest.raises(BadTopology, match="n0 reaches 301 networks and addresses without sky, and its queue can leave out 256"):
        load(file)


def test_a_netbox_that_members_do_not_cross_is_refused(tmp_path: Path) -> None:
    island = "  isle: {{technology: link, stations: {{a: {{}}, b: {{}}}}}}\nwires: [[one, isle.a], [two, isle.b], "
    hosts = "hosts:\n  one: {{address: 10.0.3.1/24}}\n  two: {{address: 10.0.3.2/24}}\n"
    text = TEXT.replace("wires: [", island).replace("hosts:\n", hosts)
    (file := tmp_path / "shared.yaml").write_text(text.format(link=f"{LINK}, of: isle", second=""))
    with pytest.raises(BadTopology, match="fr1 reaches nothing by way of isle"):
        load(file)


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("gateway: nobody, members: [fr1], rate: 2 Mbit/s", 'there is no host "nobody"'),
        ("gateway: lan, members: [fr1], rate: 2 Mbit/s", '"lan" is a netbox, not a host'),
        ("gateway: hub, members: [fr1, lan], rate: 2 Mbit/s", '"lan" is a netbox, not a host'),
        ("gateway: hub, members: [], rate: 2 Mbit/s", "has 0, and at least 1 are needed"),
        ("gateway: hub, members: [fr1, fr1], rate: 2 Mbit/s", "fr1 is a member twice"),
        ("gateway: hub, members: [fr1, hub], rate: 2 Mbit/s", "hub is a member, too"),
        (f"{LINK}, threshold: 0.1", "of dybra alone"),
        (f"{LINK}, kind: dybra, access: {{fr3: 1 Mbit/s}}", "fr3 is no member"),
        (
            f"{LINK}, kind: dybra, access: {{fr2: netbox}}",
            "no netbox at fr2 tells what its link is like; add telemetry: true to lan",
        ),
        ("gateway: hub, members: [fr1], rate: netbox", "which netbox tells the rate is not said; add of:"),
        ("gateway: hub, members: [fr1], rate: netbox, of: lan", "lan is at none of the interfaces of hub"),
        ("gateway: meoc, members: [fr1], rate: netbox, of: lan", "lan tells no rates; add telemetry: true to lan"),
        (f"{LINK}, exploitation: 0.9", "of rate: netbox alone"),
        ("gateway: hub, members: [fr1], rate: netbox, of: lan, exploitation: 0", "0"),
        (f"{LINK}, of: hub", 'there is no netbox "hub"; use lan'),
        (f"{LINK}, unruly: [fr1, fr3]", "fr3 is no member"),
        (f"{LINK}, key: '{'0' * 32}'", "32 hexadecimal digits"),
        (f"{LINK}, key: secret", "32 hexadecimal digits"),
        ("gateway: hub, members: [fr1], rate: 0 bit/s", "0 bit/s"),
        (
            f"{LINK}}}\n  other: {{gateway: fr2, members: [fr1], rate: 1 Mbit/s",
            '"fr2" has a part in the management of sat already',
        ),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, link: str, expected: str) -> None:
    assert any(expected in error for error in errors(tmp_path, link)), errors(tmp_path, link)


def test_a_member_that_does_not_reach_the_gateway_is_told(tmp_path: Path) -> None:
    text = TEXT.replace("fr2: {{address: 10.0.1.2/24, gateway: 10.0.1.254{second}}}", "fr2: {{address: 10.0.1.2/24{second}}}")
    (file := tmp_path / "shared.yaml").write_text(text.format(link=LINK, second=""))
    with pytest.raises(BadTopology, match="host fr2 has no gateway"):
        load(file)
