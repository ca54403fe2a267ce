# SPDX-License-Identifier: GPL-2.0-or-later
"""`c2ml` in network namespaces: members share a gateway's link, come, go and die, and the kernel keeps their budgets."""

from __future__ import annotations

import json
import random
import re
import socket
import statistics
import struct
import subprocess
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from middleware.daemon.conftest import C2ML, GATEWAY, INTERFACE, MEMBERS, SERVER, ManagedNetwork
from tests.namespaces import Namespace, Tap, wait_for

pytestmark = pytest.mark.lab

#: The kernel's own queue of a virtual interface.
NO_QUEUE = "noqueue 0:"
SHAPED = "htb 25ab:"
ALLOCATOR_PORT, MEMBER_PORT = 25522, 25523
#: Expedited Forwarding (RFC 3246), by which calls are marked.
EF = 46
#: A member refreshes its lease each 4 s, and it lasts 16 s (middleware/README.md).
LEASE_S = 16.0


def socket_in(space: Namespace, family: socket.AddressFamily) -> socket.socket:
    """One of UDP."""
    with space.inside():
        return socket.socket(family, socket.SOCK_DGRAM)


def wait_longer(condition: Callable[[], bool], what: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s in vain for {what}"
        time.sleep(0.02)


def test_members_have_equal_shares_of_a_link(network: ManagedNetwork) -> None:
    allocator = network.allocator(3_000_000)
    first = network.member("m1")
    wait_for(lambda: first.budget == 3_000_000, "the budget of one member")
    others = [network.member(name) for name in MEMBERS[1:]]
    wait_for(lambda: all(member.budget == 1_000_000 for member in (first, *others)), "the budgets of three")
    assert allocator.read()["assigned"] == 3_000_000
    assert others[1].end() == 0
    wait_for(lambda: first.budget == others[0].budget == 1_500_000, "the budgets of two")
    assert allocator.read()["leaves"] == 1
    assert "the budget is 1500000 bit/s" in first.log()


@pytest.mark.long
def test_the_share_of_a_member_that_was_killed_is_given_away_when_its_lease_ends(network: ManagedNetwork) -> None:
    allocator = network.allocator(2_000_000)
    stays, killed = network.member("m1"), network.member("m2")
    wait_for(lambda: stays.budget == killed.budget == 1_000_000, "two budgets")
    killed.kill()
    wait_longer(lambda: stays.budget == 2_000_000, "the whole link", LEASE_S + 2)
    assert allocator.read()["expired"] == 1


def test_an_allocator_that_was_killed_comes_back_and_the_sum_is_never_above_the_capacity(network: ManagedNetwork) -> None:
    network.allocator(3_000_000).kill()
    former = network.allocator(3_000_000)
    members = [network.member(name, without_lease="hold") for name in MEMBERS]
    wait_for(lambda: all(member.budget == 1_000_000 for member in members), "the budgets of three")
    former.kill()
    new = network.allocator(3_000_000, recovers=True)

    def are_back() -> bool:
        budgets = [member.budget for member in members]
        assert sum(budget or 0 for budget in budgets) <= 3_000_000
        instances = {member.read()["instances"] for member in members}
        return new.read()["members"] == 3 and instances == {2} and budgets == [1_000_000] * 3

    wait_longer(are_back, "all three", LEASE_S)


def test_what_a_slow_access_cannot_use_goes_to_the_others_also_when_it_changes(network: ManagedNetwork) -> None:
    network.allocator(20_000_000, kind="dybra")
    slow, fast = network.member("m1", access_bps=1_000_000), network.member("m2")
    wait_for(lambda: (slow.budget, fast.budget) == (1_000_000, 19_000_000), "DyBRA's budgets")
    changed = slow.call("set", name="sat", parameter="access_bps", value=None)
    assert changed == {"name": "sat", "parameter": "access_bps", "value": None}
    wait_for(lambda: slow.budget == fast.budget == 10_000_000, "equal budgets")


def test_the_capacity_of_a_link_may_change(network: ManagedNetwork) -> None:
    allocator = network.allocator(2_000_000)
    member = network.member("m1")
    wait_for(lambda: member.budget == 2_000_000, "the budget")
    allocator.call("set", name="sat", parameter="capacity_bps", value=500_000)
    wait_for(lambda: member.budget == 500_000, "the smaller budget")
    for wrong in ("-1", "0.5", "1e+16", '"2M"', "null"):
        assert allocator.call("set", name="sat", parameter="capacity_bps", value=json.loads(wrong))["message"] == (
            f"capacity_bps is {wrong}: give a whole number from 0 to 10^15, in bit/s"
        )
    assert allocator.call("set", name="lte", parameter="capacity_bps", value=1)["message"] == (
        "this host has no part of that role in a link lte"
    )


def test_announcements_come_by_multicast_also_after_the_interface_was_replaced(network: ManagedNetwork) -> None:
    """Of a member in the network of the gateway's own address, which has no other way to learn of a change so soon."""
    own, group = "10.8.1.1", "239.255.0.17"
    allocator = network.allocator(2_000_000, group=group, address=own)
    member = network.member("m1", allocator=own, group=group)
    wait_for(lambda: member.budget == 2_000_000, "the budget")
    assert member.read()["group"] == {"address": group, "error": None}
    with Tap(network.space("m1"), INTERFACE) as tap:
        allocator.call("set", name="sat", parameter="capacity_bps", value=500_000)
        wait_for(lambda: member.budget == 500_000, "the smaller budget")
        told = tap.expect(lambda frame: frame[30:34] == socket.inet_aton(group))
    # The group's address in Ethernet (RFC 1112, section 6.4), CS6, a TTL of 1, and the address that members ask.
    assert told[:6].hex(":") == "01:00:5e:7f:00:11"
    assert (told[15] >> 2, told[22], told[26:30]) == (48, 1, socket.inet_aton(own))
    assert network.space("m1").run("ip", "link", "delete", INTERFACE).returncode == 0
    wait_for(lambda: member.read()["group"]["error"] == "Network is unreachable", "the lost interface")
    network.join_again("m1")
    wait_for(lambda: member.read()["group"]["error"] is None, "the other interface")
    wait_for(lambda: member.read()["reachable"], "the allocator")
    grants = member.read()["grants"]
    allocator.call("set", name="sat", parameter="capacity_bps", value=700_000)
    wait_for(lambda: member.budget == 700_000, "the last budget")
    assert member.read()["grants"] == grants
    assert "do not come by multicast: Network is unreachable" in member.log()


def test_a_gateway_may_be_a_member_of_its_own_link(network: ManagedNetwork) -> None:
    parts = [
        {"name": "sat", "role": "allocator", "domain": 1, "capacity_bps": 1_000_000, "kind": "unweighted", "recovers": False},
        {"name": "sat", "role": "member", "domain": 1, "allocator": GATEWAY[4], "enforcement": "none"},
    ]
    both = network.start("gateway", *parts)
    wait_for(lambda: bool(both.read()) and both.call("read")["management"][1]["budget"] == 1_000_000, "its own budget")


@pytest.mark.parametrize("version", [4, pytest.param(6, marks=pytest.mark.long)])
def test_the_kernels_tcp_has_the_rate_of_the_budget(network: ManagedNetwork, version: int) -> None:
    network.allocator(4_000_000)
    member, other = network.member("m1", version=version, enforcement="shaper"), network.member("m2", version=version)
    wait_for(lambda: member.budget == other.budget == 2_000_000, "equal budgets")
    assert member.read()["shaper"] == {"interface": INTERFACE, "rate": 2_000_000, "error": None}
    with network.upload("m1", version) as measured:

        def has_rate(budget: int) -> None:
            measured(2.0)  # slow start, which fills the queue
            goodput, rate = measured(6.0)
            # The middleware's own messages come on top of the budget, and a burst at the edge of the interval.
            assert 0.9 * budget <= rate <= 1.01 * budget
            # Headers are 4.4 %. While a lost segment is sent again the program gets nothing: up to a queue of 0.25 s.
            assert goodput >= 0.9 * budget

        has_rate(2_000_000)
        assert other.end() == 0
        wait_for(lambda: member.budget == 4_000_000, "the whole link")
        has_rate(4_000_000)
    assert member.end() == 0
    assert network.root_queue("m1") == NO_QUEUE


@pytest.mark.long
def test_a_full_queue_does_not_delay_messages(network: ManagedNetwork) -> None:
    """15 kB wait at 100 kbit/s for 1.2 s: a refresh that had to wait would be sent again."""
    network.allocator(100_000)
    member = network.member("m1", enforcement="shaper")
    wait_for(lambda: member.read().get("shaper", {}).get("rate") == 100_000, "the shaper")
    before = member.read()
    with network.space("m1").inside(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:

        def refreshed() -> bool:
            for _ in range(10):
                sender.sendto(bytes(1000), (SERVER[4], 6000))
            return bool(member.read()["requests"] >= before["requests"] + 2)

        wait_for(refreshed, "two refreshes")
        wait_for(lambda: refreshed() and bool(member.read()["grants"] >= before["grants"] + 2), "their answers")
    after = member.read()
    assert after["repeated"] == before["repeated"]
    assert after["round_trip_s"] < 0.6


def test_packets_that_wait_stay_when_the_budget_changes(network: ManagedNetwork) -> None:
    """UDP, which nobody repeats: all arrive that the queue took, in their order."""
    allocator = network.allocator(1_000_000)
    member = network.member("m1", enforcement="shaper")
    wait_for(lambda: member.read().get("shaper", {}).get("rate") == 1_000_000, "the shaper")
    with network.space("server").inside(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind((SERVER[4], 6000))
        receiver.settimeout(2.0)
        with network.space("m1").inside(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for number in range(20):  # 20 kB, of 31 for which the queue has room: 0.16 s
                sender.sendto(number.to_bytes(2, "big") * 500, (SERVER[4], 6000))
            allocator.call("set", name="sat", parameter="capacity_bps", value=2_000_000)
            numbers = [int.from_bytes(receiver.recv(2000)[:2], "big") for _ in range(20)]
    assert numbers == list(range(20))
    assert member.read()["shaper"]["rate"] == 2_000_000


def test_what_a_tcp_hands_over_in_one_piece_leaves_in_frames(network: ManagedNetwork) -> None:
    """Segmentation offload would make bursts of 64 KiB, half a second at this rate."""
    network.allocator(1_000_000)
    member = network.member("m1", enforcement="shaper")
    wait_for(lambda: member.read().get("shaper", {}).get("rate") == 1_000_000, "the shaper")
    with Tap(network.space("gateway"), "to1") as tap, network.upload("m1") as measured:
        measured(3.0)
        lengths = [len(frame) for _, frame in tap.frames(0.0) if len(frame) > 1000]
    assert len(lengths) > 200
    assert max(lengths) <= 1514


@pytest.mark.parametrize("version", [4, pytest.param(6, marks=pytest.mark.long)])
def test_telephony_does_not_wait_behind_an_upload_of_its_own_member(network: ManagedNetwork, version: int) -> None:
    """By its DSCP. The upload fills a queue of a quarter of a second; a frame of it takes 12 ms, in which telephony may wait."""
    network.allocator(1_000_000)
    member = network.member("m1", version=version, enforcement="shaper")
    wait_for(lambda: member.read().get("shaper", {}).get("rate") == 1_000_000, "the shaper")
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    level, option = (socket.IPPROTO_IP, socket.IP_TOS) if version == 4 else (socket.IPPROTO_IPV6, socket.IPV6_TCLASS)
    delays: dict[int, list[float]] = {0: [], EF << 2: []}
    with network.upload("m1", version) as measured, socket_in(network.space("server"), family) as receiver:
        measured(3.0)
        receiver.bind((SERVER[version], 6000))
        receiver.settimeout(2.0)
        for traffic_class in delays:
            with socket_in(network.space("m1"), family) as sender:
                sender.setsockopt(level, option, traffic_class)
                for _ in range(40):
                    sender.sendto(struct.pack("d", time.monotonic()) + bytes(160), (SERVER[version], 6000))
                    (sent,) = struct.unpack_from("d", receiver.recv(200))
                    delays[traffic_class].append(time.monotonic() - sent)
    assert statistics.median(delays[0]) > 0.06
    assert statistics.median(delays[EF << 2]) < 0.03


def test_all_else_keeps_a_part_of_the_budget_beside_telephony_without_end(network: ManagedNetwork) -> None:
    """An eighth of it, which a TCP that has lost much does not have at once; and all together have no more than the budget."""
    budget = 1_000_000
    network.allocator(budget)
    member = network.member("m1", enforcement="shaper")
    wait_for(lambda: member.read().get("shaper", {}).get("rate") == budget, "the shaper")
    ended = threading.Event()

    def flood() -> None:
        with socket_in(network.space("m1"), socket.AF_INET) as sender:
            sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, EF << 2)
            while not ended.wait(0.02):  # 8 Mbit/s
                for _ in range(20):
                    sender.sendto(bytes(1000), (SERVER[4], 6000))

    with network.upload("m1") as measured:
        thread = threading.Thread(target=flood)
        thread.start()
        try:
            measured(2.0)
            # Long: what waits behind a lost segment is counted when that one comes.
            goodput, rate = measured(15.0)
        finally:
            ended.set()
            thread.join()
    assert 0.95 * budget <= rate <= 1.01 * budget
    assert 0.3 * budget / 8 < goodput < 1.1 * budget / 8


def test_a_budget_of_nothing_lets_nothing_pass_but_what_goes_beside_the_link(network: ManagedNetwork) -> None:
    allocator = network.allocator(1_000_000)
    member = network.member("m1", enforcement="shaper", beside=["10.8.1.0/24"])
    wait_for(lambda: member.read().get("shaper", {}).get("rate") == 1_000_000, "the shaper")
    allocator.call("set", name="sat", parameter="capacity_bps", value=0)
    wait_for(lambda: member.read()["shaper"]["rate"] == 0, "no budget")
    ping = network.space("m1").run("ping", "-c", "2", "-i", "0.2", "-W", "1", SERVER[4])
    assert "0 received" in ping.stdout
    beside = network.space("m1").run("ping", "-c", "2", "-i", "0.2", "-W", "1", "10.8.1.1")
    assert "2 received" in beside.stdout, "the gateway itself is in the network that is reached without the link"


@pytest.mark.long
def test_a_member_without_a_lease_is_not_managed_and_its_queue_is_removed(network: ManagedNetwork) -> None:
    allocator = network.allocator(1_000_000)
    member = network.member("m1", enforcement="shaper")
    wait_for(lambda: network.root_queue("m1") == SHAPED, "the shaper")
    allocator.kill()
    wait_longer(lambda: member.read()["leases_lost"] == 1, "the end of the lease", LEASE_S + 2)
    assert network.root_queue("m1") == NO_QUEUE
    assert member.read()["shaper"] == {"interface": None, "rate": None, "error": None}


def test_a_queue_of_a_killed_run_is_removed_by_the_next_one(network: ManagedNetwork) -> None:
    network.allocator(1_000_000)
    member = network.member("m1", enforcement="shaper")
    wait_for(lambda: network.root_queue("m1") == SHAPED, "the shaper")
    member.kill()
    assert network.root_queue("m1") == SHAPED
    again = network.member("m1", enforcement="shaper")
    wait_for(lambda: again.read().get("shaper", {}).get("rate") == 1_000_000, "the shaper")
    assert again.read()["shaper"]["error"] is None
    again.kill()
    assert network.root_queue("m1") == SHAPED
    unshaped = network.member("m1", enforcement="none")
    wait_for(lambda: unshaped.budget == 1_000_000, "the budget of one that has no shaper")
    assert network.root_queue("m1") == NO_QUEUE


def test_its_journal_has_budgets_and_whether_they_are_in_force(network: ManagedNetwork) -> None:
    allocator = network.allocator(2_000_000)
    drop = ("setpriv", "--bounding-set", "-net_admin", "--inh-caps", "-net_admin")
    begin = time.time()
    member = network.member("m1", enforcement="shaper", before=drop)
    wait_for(lambda: bool(member.read().get("shaper", {}).get("error")), "a word of it")
    allocator.call("set", name="sat", parameter="capacity_bps", value=500_000)
    wait_for(lambda: member.budget == 500_000, "the smaller budget")
    kinds = [(event["event"], event["link"], event.get("budget_bps")) for event in member.events()]
    told = [("lease", "sat", None), ("budget", "sat", 2_000_000), ("unenforced", "sat", None), ("budget", "sat", 500_000)]
    assert [kind for kind in kinds if kind in told] == told, kinds
    assert "Operation not permitted" in member.events()[-2]["error"]
    assert [event["share_bps"] for event in allocator.events() if event["event"] == "share"][-2:] == [2_000_000, 500_000]
    # One that goes on after a daemon that was killed in the middle of a line has a time of its own.
    member.kill()
    with member.journal_file.open("a") as file:
        file.write('{"at_s": 3.')
    again = network.member("m1", enforcement="shaper")
    wait_for(lambda: again.read().get("shaper", {}).get("rate") == 500_000, "the shaper")
    lines = member.journal_file.read_text().splitlines()
    began = [json.loads(line)["began_ns"] for line in lines if line.startswith('{"began_ns"')]
    assert len(began) == 2 and begin < began[0] / 1e9 < began[1] / 1e9 < time.time()
    assert json.loads(lines[-1])["at_s"] < 10


def test_a_journal_that_cannot_be_written_ends_nothing(network: ManagedNetwork) -> None:
    network.allocator(1_000_000)
    (away := network.folder / "m1").mkdir()
    (away / "journal.jsonl").symlink_to("/dev/null")
    member = network.member("m1")
    wait_for(lambda: member.budget == 1_000_000, "the budget")
    assert "cannot write the journal" in member.log()


def test_a_queue_of_somebody_else_is_left_alone(network: ManagedNetwork) -> None:
    network.allocator(1_000_000)
    space = network.space("m1")
    theirs = f"qdisc add dev {INTERFACE} root handle 1: tbf rate 5mbit burst 10000 latency 100ms"
    assert space.run("tc", *theirs.split()).returncode == 0
    member = network.member("m1", enforcement="shaper")
    wait_for(lambda: bool(member.read().get("shaper", {}).get("error")), "a word of it")
    assert "has a root qdisc of somebody else" in member.read()["shaper"]["error"]
    assert network.root_queue("m1") == "tbf 1:"
    assert space.run("tc", "qdisc", "del", "dev", INTERFACE, "root").returncode == 0
    wait_for(lambda: network.root_queue("m1") == SHAPED, "the shaper, which is tried again")
    assert member.end() == 0


def test_a_member_without_the_right_to_shape_says_so(network: ManagedNetwork) -> None:
    network.allocator(1_000_000)
    drop = ("setpriv", "--bounding-set", "-net_admin", "--inh-caps", "-net_admin")
    member = network.member("m1", enforcement="shaper", before=drop)
    wait_for(lambda: bool(member.read().get("shaper", {}).get("error")), "a word of it")
    shaper = member.read()["shaper"]
    assert (shaper["interface"], shaper["rate"]) == (None, None)
    assert "Operation not permitted" in shaper["error"] and "CAP_NET_ADMIN" in shaper["error"]
    assert member.budget == 1_000_000, "the budget is told all the same"


def test_datagrams_of_a_stranger_change_nothing(network: ManagedNetwork) -> None:
    allocator = network.allocator(2_000_000)
    members = [network.member("m1"), network.member("m2")]
    wait_for(lambda: all(member.budget == 1_000_000 for member in members), "the budgets")
    before = allocator.read()
    generator = random.Random(17)
    with network.space("m3").inside(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.bind(("10.8.3.2", MEMBER_PORT))
        for _ in range(3000):
            length = generator.choice((0, 1, 20, 39, 40, 48, 76, 88, 89, 1400, 9000))
            begin = generator.choice((b"", bytes.fromhex("4e420101"), bytes.fromhex("4e420109")))
            data = (begin + generator.randbytes(length))[:length]
            for target in ((GATEWAY[4], ALLOCATOR_PORT), ("10.8.1.2", MEMBER_PORT), ("10.8.2.2", MEMBER_PORT)):
                stranger.sendto(data, target)
    wait_for(lambda: sum(allocator.read()["ignored"].values()) >= 1000, "the stranger's datagrams")
    after = allocator.read()
    assert [after[key] for key in ("epoch", "members", "share")] == [before[key] for key in ("epoch", "members", "share")]
    assert [member.budget for member in members] == [1_000_000] * 2
    assert all(sum(member.read()["ignored"].values()) > 0 and member.read()["epoch"] == before["epoch"] for member in members)


def test_members_with_another_key_are_strangers(network: ManagedNetwork) -> None:
    allocator = network.allocator(2_000_000, key="000102030405060708090a0b0c0d0e0f")
    ours = network.member("m1", key="000102030405060708090A0B0C0D0E0F")
    other = network.member("m2", key="100102030405060708090a0b0c0d0e0f")
    wait_for(lambda: ours.budget == 2_000_000, "the budget")
    wait_for(lambda: allocator.read()["ignored"]["tag"] > 0, "the stranger's message")
    assert other.budget is None


def test_messages_have_the_precedence_of_network_control(network: ManagedNetwork) -> None:
    """DSCP CS6, IPv4 and IPv6, in both directions."""
    network.allocator(2_000_000)
    with Tap(network.space("gateway"), "to1") as first, Tap(network.space("m2"), INTERFACE) as second:
        members = [network.member("m1", version=4), network.member("m2", version=6)]
        wait_for(lambda: all(member.budget == 1_000_000 for member in members), "the budgets")
        asked = first.expect(lambda frame: frame[12:14] == b"\x08\x00" and frame[23] == socket.IPPROTO_UDP)
        answered = second.expect(lambda frame: frame[12:14] == b"\x86\xdd" and frame[20] == socket.IPPROTO_UDP)
    assert asked[15] == 0xC0
    assert (answered[14] << 8 | answered[15]) & 0x0FF0 == 0xC00
    assert answered[22:38] == socket.inet_pton(socket.AF_INET6, GATEWAY[6]), "from the address that was asked"


def test_its_state_is_always_a_whole_document_and_written_each_second_at_most(network: ManagedNetwork) -> None:
    network.allocator(1_000_000)
    member = network.member("m1")
    wait_for(member.state_file.exists, "its state")
    seen = [member.state_file.stat().st_mtime_ns]
    end = time.monotonic() + 6
    while time.monotonic() < end:
        json.loads(member.state_file.read_text())
        if (written := member.state_file.stat().st_mtime_ns) != seen[-1]:
            seen.append(written)
    assert len(seen) >= 2, "the budget came after the first state"
    assert all(later - earlier > 0.9e9 for earlier, later in pairwise(seen))
    part = json.loads(member.state_file.read_text())["management"][0]
    assert [part[key] for key in ("name", "role", "enforcement", "state", "budget")] == [
        "sat",
        "member",
        "none",
        "member",
        1_000_000,
    ]
    assert member.end() == 0
    assert json.loads(member.state_file.read_text())["management"][0]["state"] == "out"


def test_a_member_that_leaves_an_allocator_that_is_away_ends_within_a_second(network: ManagedNetwork) -> None:
    allocator = network.allocator(1_000_000)
    member = network.member("m1", enforcement="shaper")
    wait_for(lambda: network.root_queue("m1") == SHAPED, "the shaper")
    allocator.kill()
    begin = time.monotonic()
    assert member.end() == 0
    assert time.monotonic() - begin < 2.0
    assert network.root_queue("m1") == NO_QUEUE


def test_a_second_daemon_of_a_host_says_that_the_port_is_taken(network: ManagedNetwork) -> None:
    network.allocator(1_000_000)
    part = {"name": "sat", "role": "allocator", "domain": 1, "capacity_bps": 1, "kind": "unweighted"}
    second = network.start("gateway", part)
    assert second.wait() == 1
    assert "c2ml: UDP port 25522 of IPv4: Address already in use" in second.log()


def test_what_is_wrong_in_its_file_is_said(tmp_path: Path) -> None:
    file = tmp_path / "c2ml.json"
    file.write_text('{"management": [{"name": "sat", "role": "member", "domain": -1}], "state": "/nowhere"}')
    for argument, words in (
        (file, r"c2ml\.json: management\[0\]\.domain is -1: give a whole number"),
        (tmp_path / "missing", "missing: it cannot be read"),
    ):
        said = subprocess.run([C2ML, argument], capture_output=True, text=True, check=False, timeout=10)
        assert said.returncode == 2 and re.search(words, said.stderr), said.stderr


def telemetry(transmit_bps: int) -> bytes:
    """As a netbox at the interface sends it (netboxes/engine/README.md)."""
    items = b"".join(struct.pack(">HHQ", kind, 8, value) for kind, value in ((14, 9_000_000), (15, transmit_bps), (16, 50_000)))
    header = bytes.fromhex("0180c200000e024e42000001") + struct.pack(">HHBB", 0x88B5, 0x4E42, 1, 3)
    return (header + items).ljust(60, b"\0")


def test_a_member_follows_what_the_netbox_at_its_interface_tells(network: ManagedNetwork) -> None:
    network.allocator(20_000_000, kind="dybra")
    slow, fast = network.member("m1", telemetry=True), network.member("m2")
    wait_for(lambda: slow.budget == fast.budget == 10_000_000, "equal budgets")
    network.tell("gateway", "to1", telemetry(1_000_000))
    wait_for(lambda: (slow.budget, fast.budget) == (1_000_000, 19_000_000), "DyBRA's budgets")
    assert slow.read()["told"] == 1_000_000
    # What is damaged, what the host itself sends, and what comes in elsewhere is nobody's telemetry.
    network.tell("gateway", "to1", telemetry(2_000_000)[:50])
    network.tell("m1", INTERFACE, telemetry(3_000_000))
    network.tell("m1", "lo", telemetry(4_000_000))
    network.tell("gateway", "to1", telemetry(30_000_000))
    wait_for(lambda: slow.budget == fast.budget == 10_000_000, "equal budgets again")
    assert slow.read()["told"] == 30_000_000


@pytest.mark.parametrize(("follows", "expected"), [("transmit", 900_000), ("receive", 8_100_000)])
def test_an_allocator_divides_what_the_netbox_at_its_interface_tells(
    network: ManagedNetwork, follows: str, expected: int
) -> None:
    """Nothing before it is told; what comes by other interfaces, or is a link that is down, changes nothing."""
    allocator = network.allocator(None, follows=follows, interface="to9", exploitation=0.9)
    member = network.member("m1")
    wait_for(lambda: member.read().get("repeated", 0) > 0, "a member that asks again")
    assert (member.budget, allocator.read()["told"]) == (None, None)
    network.tell("m2", INTERFACE, telemetry(5_000_000))
    network.tell("server", "downlink", telemetry(1_000_000))
    wait_for(lambda: member.budget == expected, "the budget")
    assert allocator.read()["told"] == expected
    network.tell("server", "downlink", telemetry(0).replace(struct.pack(">Q", 9_000_000), bytes(8)))
    network.tell("m2", INTERFACE, telemetry(6_000_000))
    refusal = allocator.call("set", name="sat", parameter="capacity_bps", value=1_000_000)["message"]
    assert refusal == "a netbox tells what the allocator of sat divides: change the link's rate there"
    assert member.budget == expected


def test_telemetry_and_a_rate_that_is_said_are_one_too_many(network: ManagedNetwork) -> None:
    both = network.member("m1", telemetry=True, access_bps=1_000_000)
    assert both.wait() == 2
    assert "telemetry" in both.log() and "access_bps" in both.log()
