# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages by HTTP/1.1 between hosts. Frames are read by tshark; expectations are RFC 9110's and 9112's, and arithmetic."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from netboxes.endpoints.endpoints_under_test import (
    HOST,
    PEER,
    STATIONS,
    arp,
    flow,
    host,
    ipv4,
    is_right,
    needs_tshark,
    pair,
    tshark,
)
from netboxes.endpoints.parameters import Parameters
from netboxes.engine.virtual import EmulationFailed, address, checksum, emulate, run

#: On the link of `pair`.
RATE, DELAY_S = 10e6, 0.02
#: Headers of Ethernet, IPv4 and TCP with timestamps, and of a SYN with all options.
HEADERS, SYN = 66, 74
PAGES = [{"objects": [1000, 30_000, 0, 500], "requests": [300, 250, 250, 60], "parse_s": 0.1, "think_s": 1.0}]


def web(role: str, **keys: Any) -> dict[str, Any]:
    ends = {"client": {"destination": "10.0.0.2", "until_s": 20}, "server": {}}
    return {"name": "w", "application": "web", "role": role, "port": 8080, "pages": PAGES, **ends[role], **keys}


def visited(folder: Path, client: dict[str, Any], server: dict[str, Any], **keys: Any) -> tuple[dict[str, Any], list[Any]]:
    """What both ends counted, and what the client recorded of each object."""
    ran = pair(folder, [web("client", **client)], [web("server", **server)], **keys)
    return ran, ran["records"]


@needs_tshark
def test_a_page_takes_a_handshake_a_round_trip_and_its_frames(tmp_path: Path) -> None:
    page = [{"objects": [1000], "requests": [300], "parse_s": 0, "think_s": 1}]
    ran, [_, got] = visited(tmp_path, {"pages": page, "count": 2, "persistent": False}, {"pages": page})
    [_, capture] = tshark(tmp_path / "pair.pcapng", "-Y", "http.response", "-T", "fields", "-e", "frame.len")
    reply_head = int(capture) - HEADERS - 1000
    bits = 8 * (2 * SYN + HEADERS + 300 + HEADERS + reply_head + 1000)
    # Acknowledgements without data leave just before the request and the reply, and are as long as a frame's headers.
    expected = 4 * DELAY_S + (bits + 2 * 8 * HEADERS) / RATE
    assert got["ended_s"] - got["asked_s"] == pytest.approx(expected, abs=1e-6)
    assert (got["bytes"], got["failure"], got["reused"], ran["left"]["flows"][0]["loaded"]) == (1000, None, False, 2)


@needs_tshark
@pytest.mark.parametrize("destination", ["10.0.0.2", "fd00::2"])
@pytest.mark.parametrize("persistent", [True, False])
def test_requests_and_replies_are_http(persistent: bool, destination: str, tmp_path: Path) -> None:
    client = {"count": 2, "destination": destination, "persistent": persistent, "parallel": 2, "dscp": 10}
    ran, got = visited(tmp_path, client, {"dscp": 18}, loss=0.01)
    assert is_right(tmp_path / "pair.pcapng")
    fields = ("http.request.uri", "http.response.code", "http.content_length", "http.connection", "ip.dsfield.dscp")
    lines = tshark(tmp_path / "pair.pcapng", "-Y", "http", "-T", "fields", *[word for field in fields for word in ("-e", field)])
    asked = [line.split("\t")[0] for line in lines if line.startswith("/")]
    assert sorted(asked) == sorted([f"/0/{number}" for number in range(4)] * 2)
    assert sorted(line.split("\t")[2] for line in lines if "\t200\t" in line) == sorted(["0", "1000", "30000", "500"] * 2)
    assert all(line.split("\t")[3] == ("keep-alive" if persistent else "close") for line in lines if "\t200\t" in line)
    if destination == "10.0.0.2":
        assert {(line.split("\t")[0] != "", line.split("\t")[4]) for line in lines} == {(True, "10"), (False, "18")}
    client_counted, server_counted = ran["left"]["flows"][0], ran["right"]["flows"][0]
    assert (client_counted["loaded"], client_counted["failed"]) == (2, 0)
    assert server_counted["bytes"] == client_counted["bytes"] == 2 * 31_500
    assert client_counted["opened"] == server_counted["accepted"] == (2 if persistent else 8)
    assert client_counted["open"] == server_counted["open"] == 0
    assert next(one["object"] for one in got if one["page"] == 1) == 0
    document = got[0]
    assert min(one["asked_s"] for one in got[1:4]) == pytest.approx(document["ended_s"] + 0.1), "parsing comes before the others"
    assert got[4]["asked_s"] == pytest.approx(max(one["ended_s"] for one in got[:4]) + 1.0), "then the user reads"


@needs_tshark
def test_a_cookie_makes_a_request_as_long_as_was_said_and_what_is_too_short_is_as_short_as_it_can_be(tmp_path: Path) -> None:
    visited(tmp_path, {"count": 1, "parallel": 1}, {})
    lengths = tshark(tmp_path / "pair.pcapng", "-Y", "http.request", "-T", "fields", "-e", "tcp.len")
    least = "GET /0/3 HTTP/1.1\r\nHost: 10.0.0.2:8080\r\nUser-Agent: NetBoxIT\r\nAccept: */*\r\n\r\n"
    assert [int(length) for length in lengths] == [300, 250, 250, len(least)]


def test_a_window_decays_while_nothing_is_sent(tmp_path: Path) -> None:
    """RFC 5681, 4.1: after some timeouts without data a connection begins with its initial window again."""
    page = [{"objects": [400_000], "requests": [100], "parse_s": 0, "think_s": 10.0}]
    _, got = visited(tmp_path, {"pages": page, "count": 2}, {"pages": page}, rate=1e9, queue=10e6)
    first, second = (one["ended_s"] - one["first_byte_s"] for one in got)
    assert [one["reused"] for one in got] == [False, True]
    assert second == pytest.approx(first, rel=0.3), "slow start takes as many round trips as before"
    assert second > 3 * 2 * DELAY_S


def test_an_idle_connection_is_closed_by_the_server_and_the_client_opens_another(tmp_path: Path) -> None:
    page = [{"objects": [100], "requests": [100], "parse_s": 0, "think_s": 5.0}]
    ran, got = visited(tmp_path, {"pages": page, "count": 2}, {"pages": page, "idle_s": 2})
    assert [one["reused"] for one in got] == [False, False]
    assert (ran["left"]["flows"][0]["opened"], ran["left"]["flows"][0]["failed"]) == (2, 0)


def test_what_fails_is_told_and_does_not_go_on_for_ever(tmp_path: Path) -> None:
    other = [{"objects": [1000], "requests": [100], "parse_s": 0, "think_s": 0}]
    ran, got = visited(tmp_path, {"until_s": 5}, {"pages": other})
    assert {one["failure"] for one in got} == {None, "status 404", "the traffic ended"} - {"the traffic ended"}
    assert ran["left"]["flows"][0]["failed"] >= 3
    failures = [one["failure"] for one in pair(tmp_path, [web("client", until_s=5, pages=other)], [], duration_s=10.0)["records"]]
    assert 3 <= len(failures) <= 5
    assert set(failures) == {"not connected"}


def test_what_is_on_its_way_at_the_end_has_no_end(tmp_path: Path) -> None:
    page = [{"objects": [10_000_000], "requests": [100], "parse_s": 0, "think_s": 0}]
    ran, [got] = visited(tmp_path, {"pages": page, "until_s": 2}, {"pages": page})
    assert (got["ended_s"], got["failure"]) == (None, "the traffic ended")
    assert 0 < got["bytes"] < 2 * RATE / 8
    assert ran["left"]["flows"][0]["loaded"] == 0


def data(ports: tuple[int, int], sequence: int, acknowledged: int, flags: int, text: bytes) -> bytes:
    """A segment of the peer."""
    header = struct.pack(">HHIIHHHH", *ports, sequence % 2**32, acknowledged, 5 << 12 | flags, 65535, 0, 0)
    pseudo = address(PEER, 4).packed + address(HOST, 4).packed + struct.pack(">BBH", 0, 6, len(header + text))
    return ipv4(PEER, HOST, 6, header[:16] + struct.pack(">H", checksum(pseudo + header + text)) + header[18:] + text)


GOOD_REQUEST = b"GET /0/0 HTTP/1.1\r\nHost: a\r\n\r\n"
GOOD_REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"
NASTY = [
    b"", b"\r\n\r\n", b"\0" * 1400, b"x" * 1400, b"GET  HTTP/1.1\r\n\r\n", b"GET / HTTP/9\r\n\r\n",
    b"GET /0/0 HTTP/1.1\r\n\r\n" * 40,
    b"POST /0/0 HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc", b"GET /0/0 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"GET /" + b"9" * 400 + b"/0 HTTP/1.1\r\n\r\n", b"GET /-1/0 HTTP/1.1\r\n\r\n", b"GET /0/1 HTTP/1.1\r\n:\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 99", b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1\r\n\r\n",
    GOOD_REQUEST, GOOD_REPLY,
]  # fmt: skip


def nasty(chance: random.Random) -> bytes:
    text = bytearray(chance.choice(NASTY) + chance.choice([b"", *NASTY]))
    for _ in range(chance.randrange(3) if text else 0):
        text[chance.randrange(len(text))] = chance.randrange(256)
    return bytes(text[: chance.choice([1400, 1400, chance.randrange(1, 40)])])


@pytest.mark.parametrize("seed", range(4))
def test_no_text_ends_a_server(seed: int) -> None:
    chance = random.Random(seed)
    given = [(0.0105, arp(2, PEER, HOST))]
    for number in range(500):
        ports, at = (4000 + number, 8080), 0.01 + 0.01 * number
        given += [(at, data(ports, 999, 0, 0x02, b"")), (at + 0.001, data(ports, 1000, 1, 0x10, b""))]
        sequence = 1000
        for piece in range(chance.randrange(1, 12)):
            text = nasty(chance)
            given.append((at + 0.002 + piece * 1e-4, data(ports, sequence, 1, chance.choice([0x18, 0x18, 0x19, 0x14]), text)))
            sequence += len(text)
    ports = (3000, 8080)
    given += [(8.0, data(ports, 999, 0, 0x02, b"")), (8.001, data(ports, 1000, 1, 0x10, b""))]
    given += [(8.002, data(ports, 1000, 1, 0x18, GOOD_REQUEST))]
    ran = run("endpoints", ["a"], host(web("server")), {"a": given}, duration_s=9.0)
    answers = [frame for _, frame in ran.received["a"] if frame[34:38] == struct.pack(">HH", 8080, 3000)]
    assert any(frame[54:].startswith(b"HTTP/1.1 200 OK\r\n") for frame in answers), "without options, as the SYN had none"
    assert flow(ran)["refused"] > 100


@pytest.mark.parametrize("seed", range(4))
def test_no_text_ends_a_client(seed: int) -> None:
    """Its ports count up from 49153; each connection gets some text, and the end or a reset."""
    chance = random.Random(seed)
    given = [(0.0, arp(1, PEER, HOST)), (0.001, arp(2, PEER, HOST))]
    for number in range(600):
        ports, at = (8080, 49_153 + number // 10), 0.01 + 0.1 * number
        given.append((at, data(ports, 999, 1, 0x12, b"")))
        sequence = 1000
        for piece in range(chance.randrange(1, 6)):
            text = chance.choice([nasty(chance), GOOD_REPLY])
            given.append((at + 0.001 + piece * 1e-4, data(ports, sequence, 1, 0x18, text)))
            sequence += len(text)
        given.append((at + 0.01, data(ports, sequence, 1, chance.choice([0x11, 0x14]), b"")))
    pages = [{"objects": [3, 3], "requests": [60, 60], "parse_s": 0, "think_s": 0}]
    client = web("client", pages=pages, until_s=60, parallel=2)
    ran = run("endpoints", ["a"], host(client), {"a": [*given, (62.0, arp(1, PEER, HOST))]}, duration_s=63.0)
    assert arp(2, HOST, PEER) in [frame for time, frame in ran.received["a"] if time >= 62.0]
    assert flow(ran)["failed"] > 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pages": []}, r"flows\[0\].pages: there are 1 to"),
        ({"pages": [{"objects": []}]}, r"flows\[0\].pages\[0\].objects: a page has 1 to"),
        ({"pages": [{"objects": [1], "requests": [1, 2]}]}, "as many requests"),
        ({"pages": [{"objects": [-1], "requests": [1]}]}, "has -1, not a number from"),
        ({"pages": [{**PAGES[0], "size": 1}]}, "no such key"),
        ({"until_s": 0}, "is not after start_s"),
        ({"log": "/nowhere/objects.jsonl"}, r"flows\[0\].log: no such key"),
        ({"role": "sender"}, r'is "sender", not "client" or "server"'),
        ({"application": "wep"}, r'is "wep", not "bulk", "dash", "datagrams" or "web"'),
    ],
)
def test_a_netbox_refuses_a_configuration_with_its_place(change: dict[str, Any], message: str) -> None:
    with pytest.raises(EmulationFailed, match=message):
        run("endpoints", ["a"], host({**web("client"), **change}), {}, duration_s=0.1)


CLIENT = {"name": "w", "host": "a", "application": "web", "role": "client", "destination": "10.0.0.2", "port": 80}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"role": "sender"}, "web has no sender; its `role` is client or server"),
        ({"pages": [], "until": "1 s"}, "needs `pages`"),
        ({"pages": [{"objects": ["1 kB"]}]}, "needs an `until`"),
        ({"pages": [{"objects": ["1 kB"]}], "until": "1 s", "parallel": 65}, "at most 64"),
        ({"pages": [{"objects": ["1.5 B"]}], "until": "1 s"}, "multiple of 1"),
        ({"pages": [{"objects": ["1 kB"], "size": 3}], "until": "1 s"}, "Extra inputs"),
        ({"pages": [{"objects": ["1 kB"]}], "until": "1 s", "size": "1 MB"}, "has no size"),
    ],
)
def test_what_makes_no_sense_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Parameters.model_validate({"stations": STATIONS, "flows": [{**CLIENT, **change}]})


def test_a_netbox_reads_what_a_file_says() -> None:
    pages = {"pages": [{"objects": ["1 kB", "5 kB"], "think": "1 s"}]}
    flows = [
        {**CLIENT, **pages, "until": "1 s", "parallel": 6, "count": 3, "persistent": False},
        {"name": "s", "host": "a", "application": "web", "role": "server", "port": 80, **pages, "tcp": {"variant": "bbr"}},
    ]
    ran = emulate("endpoints", {"stations": STATIONS, "flows": flows}, {}, duration_s=1.0)
    assert [one["role"] for one in ran.statistics["segment"]["flows"]] == ["client", "server"]
