# SPDX-License-Identifier: GPL-2.0-or-later
"""What a file and the configuration of a netbox may say, and what is refused."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from contracts.errors import NetBoxITError
from netboxes.endpoints.endpoints_under_test import STATIONS, bulk, host, interface, sender
from netboxes.endpoints.parameters import Parameters
from netboxes.engine.virtual import (
    EmulationFailed,
    emulate,
    run,
)
from testbed.description.topology_file import load


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hosts": {}}, "station a is no host's"),
        (
            {"hosts": {"h": {"interfaces": {"x": interface(1, "10.0.0.1/24")}}}},
            "hosts.h.interfaces.x: the netbox has no such station",
        ),
        ({"hosts": {"h": {"interfaces": {"a": interface(1, "10.0.0.1")}}}}, "has no prefix length"),
        ({"hosts": {"h": {"interfaces": {"a": {"mac": "03:00:00:00:00:01", "addresses": []}}}}}, "is not the MAC address"),
        (host(routes=[{"destination": "default", "gateway": "10.9.0.1"}]), "hosts.h.routes: gateway 10.9.0.1 is in none"),
        (host({**sender(), "host": "x"}), r'flows\[0\].host: there is no host "x"'),
        (host(sender(periods=[])), "either periods or a recording"),
        (host(sender(periods=[[2, 1]])), "a period is"),
        (host(sender(recording="/nowhere.pcapng", periods=[])), "nowhere.pcapng"),
        (host(sender(speed=1)), r"flows\[0\].speed: no such key"),
        (host(bulk("sender", size=1, tcp={"variant": "cubik"})), r'flows\[0\].tcp.variant: is "cubik"; there are newreno'),
        (host(bulk("sender")), "either a size or until_s"),
        (host(bulk("receiver"), bulk("receiver")), "another flow of host h has port 5001"),
        (
            {"hosts": {name: {"interfaces": {"a": interface(1, f"10.0.0.{name}/24")}} for name in ("1", "2")}},
            "two hosts of one station have the MAC address 02:",
        ),
    ],
)
def test_a_netbox_refuses_a_configuration_with_its_place(change: dict[str, Any], message: str) -> None:
    with pytest.raises(EmulationFailed, match=message):
        run("endpoints", ["a"], change, {}, duration_s=0.1)


LISTENING = {"name": "r", "role": "receiver", "application": "bulk", "port": 5001}
SENDS = {"name": "f", "host": "a", "role": "sender", "destination": "10.0.0.2", "port": 5001}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"flows": [{**SENDS, "application": "bulk", "size": "1 MB", "tcp": {"variant": "cubik"}}]}, "did you mean cubic"),
        ({"flows": [{**SENDS, "application": "bulk", "size": "1 MB", "host": "aa"}]}, "did you mean a"),
        ({"flows": [{**SENDS, "application": "bulk"}]}, "either `size` or `until`"),
        ({"flows": [{**SENDS, "application": "bulk", "size": "1 MB", "rate": "5 pps"}]}, "has no rate"),
        ({"flows": [{**SENDS, "application": "datagrams"}]}, "either `periods` or a `recording`"),
        ({"flows": [{**SENDS, "application": "datagrams", "periods": [["0 s", "1 s"]], "rate": "5 pps"}]}, "belong together"),
        ({"flows": [{**SENDS, "application": "bulk", "until": "1 s", "start": "2 s"}]}, "not after `start`"),
        ({"stations": {"a": {"addresses": "10.0.0.1/24", "gateway": "10.0.1.2"}}}, "in none of its networks"),
        ({"stations": {"a": {"addresses": "10.0.0.1/24"}, "b": {"addresses": "10.0.0.1/24"}}}, "both have 10.0.0.1"),
        ({"stations": {"a": {"addresses": "fd00::1/64", "mtu": 1000}}}, "1280 or more"),
        ({"stations": {"a": {"addresses": "10.0.0.1/24", "gateway": "10.0.0.1"}}}, "its own address"),
        ({"flows": [{**SENDS, "application": "bulk", "size": "1 MB", "source_port": 65535, "parallel": 2}]}, "leaves no ports"),
        ({"flows": [{**SENDS, "application": "bulk", "size": "1 MB", "apart": "1 ms"}]}, "`apart` is of the flows of many hosts"),
    ],
)
def test_what_makes_no_sense_is_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Parameters.model_validate({"stations": STATIONS, **parameters})


#: Parts in the management of a link, of hosts as in STATIONS.
ALLOCATOR = {"link": "sat", "host": "a", "role": "allocator"}
MEMBER = {"link": "sat", "host": "a", "role": "member", "allocator": "10.0.0.2"}


@pytest.mark.parametrize(
    ("parts", "more", "message"),
    [
        ([{**MEMBER, "host": "aa"}], {}, "the member of sat: there is no host aa; did you mean a"),
        ([{**MEMBER, "allocator": None}], {}, "a member needs an `allocator`"),
        ([{**MEMBER, "recovers": True}], {}, "a member has no recovers; leave that out"),
        ([{**ALLOCATOR, "enforce": False}], {"capacity": "1 Mbit/s"}, "an allocator has no enforce; leave that out"),
        ([ALLOCATOR], {}, "the allocator of sat needs a `capacity`"),
        ([MEMBER], {"capacity": "1 Mbit/s"}, "management has no allocator"),
        ([ALLOCATOR, {**ALLOCATOR, "link": "dsl"}], {"capacity": "1 Mbit/s"}, "put one into another netbox"),
        ([MEMBER, MEMBER], {}, "host a is member of link sat or domain 0 twice"),
        ([{**MEMBER, "interface": "wan"}], {}, "host a has no interface wan; it has a, b"),
        ([{**MEMBER, "allocator": "10.0.1.1"}], {}, "10.0.1.1 is host a itself"),
        ([{**MEMBER, "host": "c", "allocator": "fd00::1"}], {}, "host c has no address of IPv6, as fd00::1 is; give it one"),
        ([{**MEMBER, "key": "secret"}], {}, "is not 32 hexadecimal digits"),
        (
            [{**ALLOCATOR, "group": "239.255.0.1"}],
            {"capacity": "1 Mbit/s"},
            "from its `address` in the members' network; write both",
        ),
        (
            [{**ALLOCATOR, "group": "239.255.0.1", "address": "10.9.0.1"}],
            {"capacity": "1 Mbit/s"},
            "10.9.0.1 is no address of host a; give the one that members ask",
        ),
        ([{**MEMBER, "group": "224.0.0.5"}], {}, "the group 224.0.0.5 is none of 239.0.0.0/8"),
        ([{**MEMBER, "address": "10.0.0.1"}], {}, "a member has no address; leave that out"),
        ([{**ALLOCATOR, "host": "m"}], {"capacity": "1 Mbit/s"}, "m are 2 hosts, and a link has one allocator"),
    ],
)
def test_management_that_cannot_be_is_refused(parts: list[dict[str, Any]], more: dict[str, Any], message: str) -> None:
    stations = {**STATIONS, "c": {"addresses": "10.2.0.1/24"}, "m": {"addresses": "10.3.0.1/24", "hosts": 2}}
    with pytest.raises(ValidationError, match=re.escape(message)):
        Parameters.model_validate({"stations": stations, "management": parts, **more})


def test_many_hosts_are_members_and_have_the_access_of_their_station() -> None:
    stations = {"lan": {"hosts": 2, "addresses": "10.0.0.1/24", "access": "500 kbit/s"}, "gw": {"addresses": "10.1.0.1/24"}}
    management = [{**MEMBER, "host": "lan", "allocator": "10.0.0.9"}, {**ALLOCATOR, "host": "gw"}]
    told = Parameters.model_validate({"stations": stations, "management": management, "capacity": "2 Mbit/s"}).values()["hosts"]
    members = [told[f"lan-{number}"] for number in (1, 2)]
    assert [[part["role"] for part in host["management"]] for host in members] == [["member"]] * 2
    assert [host["interfaces"]["lan"]["access_bps"] for host in members] == [500_000] * 2
    assert told["gw"]["management"][0]["capacity_bps"] == 2_000_000


#: Many hosts at one station, and what each of them sends.
MANY = {"hosts": 100, "addresses": ["10.0.0.1/16", "fd00::1/64"]}
EACH = {**SENDS, "application": "bulk", "until": "9 s", "destination": "10.0.255.1"}


@pytest.mark.parametrize(
    ("station", "more", "flow", "message"),
    [
        ({"hosts": 10_000}, {}, {}, "less than or equal to 1000"),
        ({"hosts": 0}, {}, {}, "greater than or equal to 1"),
        (
            {"addresses": "10.0.0.1/26"},
            {},
            {},
            "100 hosts from 10.0.0.1/26 on do not fit into 10.0.0.0/26, whose last is 10.0.0.62",
        ),
        ({"addresses": "fd00::1/122"}, {}, {}, "whose last is fd00::3f"),
        ({"mac": "02:00:00:00:00:01"}, {}, {}, "`mac` is of one host"),
        ({"gateway": "10.0.0.7"}, {}, {}, "host a-7: gateway 10.0.0.7 is its own address"),
        ({}, {"b": {"addresses": "10.0.0.100/16"}}, {}, "stations a and b both have 10.0.0.100"),
        ({}, {"b": {"addresses": "10.1.0.1/16", "hosts": 901}}, {}, "1001 hosts in one netbox, 1000 are the most"),
        ({}, {"b": {"addresses": "10.1.0.1/16", "host": "a"}}, {}, "a is one host, and many by `hosts`"),
        ({}, {}, {"parallel": 21}, "2100 at once, 2000 are the most"),
        ({}, {}, {"destination": "10.0.0.5"}, "10.0.0.5 is at station a, too, whose hosts do not reach each other"),
        ({}, {}, {"apart": "100 ms"}, "the last of 100 hosts begins at 9.9 s, and `until` is 9 s"),
        ({}, {}, {"host": "a-101"}, "did you mean a-1"),
        ({}, {}, {"host": "else"}, "there are a-1 to a-100"),
    ],
)
def test_many_hosts_that_cannot_be_are_refused(
    station: dict[str, Any], more: dict[str, Any], flow: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=re.escape(message)):
        Parameters.model_validate({"stations": {"a": {**MANY, **station}, **more}, "flows": [{**EACH, **flow}]})


def test_many_hosts_have_addresses_that_count_up_and_a_flow_each() -> None:
    flows = [{**EACH, "start": "1 s", "apart": "10 ms"}, {**EACH, "name": "g", "host": "a-7"}, {**LISTENING, "host": "b"}]
    stations = {"a": MANY, "b": {"addresses": "10.1.0.1/16"}}
    parameters = Parameters.model_validate({"stations": stations, "flows": flows}).model_dump(mode="json")
    hosts = parameters["hosts"]
    assert list(hosts) == [*(f"a-{number}" for number in range(1, 101)), "b"]
    assert hosts["a-1"]["interfaces"]["a"]["addresses"] == ["10.0.0.1/16", "fd00::1/64"]
    assert hosts["a-100"]["interfaces"]["a"]["addresses"] == ["10.0.0.100/16", "fd00::64/64"]
    assert len({interface["mac"] for each in hosts.values() for interface in each["interfaces"].values()}) == 101
    written = [(each["name"], each["host"], each.get("start_s")) for each in parameters["flows"]]
    assert written[:2] == [("f-1", "a-1", 1.0), ("f-2", "a-2", 1.01)]
    assert written[99:] == [("f-100", "a-100", pytest.approx(1.99)), ("g", "a-7", 0.0), ("r", "b", None)]
    assert not any("apart" in each for each in parameters["flows"])


def test_a_file_says_the_same_as_the_configuration() -> None:
    parameters = Parameters.model_validate(
        {
            "stations": {**STATIONS, "c": {"addresses": "10.0.2.1/24", "gateway": "10.0.2.9", "forwarding": True}},
            "flows": [
                {
                    **SENDS,
                    "application": "datagrams",
                    "periods": [["1 s", "2 s"]],
                    "rate": "1 kpps",
                    "payload": "160 B",
                    "dscp": "EF",
                }
            ],
        }
    ).model_dump(mode="json")
    hosts = parameters["hosts"]
    assert (list(hosts), list(hosts["a"]["interfaces"]), hosts["a"]["forwarding"]) == (["a", "c"], ["a", "b"], False)
    assert (hosts["c"]["routes"], hosts["c"]["forwarding"]) == ([{"destination": "default", "gateway": "10.0.2.9"}], True)
    macs = [one["mac"] for each in hosts.values() for one in each["interfaces"].values()]
    assert len(set(macs)) == 3
    assert all(int(text[:2], 16) & 3 == 2 for text in macs), "locally administered, of one interface (IEEE 802, 8.4)"
    expected = {"per_s": 1000.0, "payload": 160.0, "dscp": 46, "periods": [[1.0, 2.0]]}
    assert {key: parameters["flows"][0][key] for key in expected} == expected


def test_a_netbox_reads_what_a_file_says() -> None:
    flows = [
        {**SENDS, "application": "datagrams", "periods": [["0 s", "1 s"]], "rate": "1 pps", "payload": "160 B"},
        {**SENDS, "application": "bulk", "size": "1 MB"},
        {"name": "r", "host": "a", "role": "receiver", "application": "bulk", "port": 5001},
        {"name": "r", "host": "a", "role": "receiver", "application": "datagrams", "port": 5001},
    ]
    ran = emulate("endpoints", {"stations": STATIONS, "flows": flows}, {}, duration_s=1.0)
    assert [one["role"] for one in ran.statistics["segment"]["flows"]] == ["sender", "sender", "receiver", "receiver"]


def test_the_readmes_examples_are_topologies(tmp_path: Path) -> None:
    examples = re.findall(r"((?: {4}.*\n)+)", (Path(__file__).parent / "README.md").read_text())
    for example in (text for text in examples if text.startswith("    netboxes:")):
        (tmp_path / "example.yaml").write_text("name: example\n" + textwrap.dedent(example))
        try:
            assert len(load(tmp_path / "example.yaml").netboxes) >= 3
        except NetBoxITError as error:
            pytest.fail(str(error))
