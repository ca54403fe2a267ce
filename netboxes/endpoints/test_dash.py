# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers and clients of adaptive streaming in virtual time. Replies are read by hand as RFC 9112 has them, and by tshark; what a
client decides is held against the same rules in Python."""

from __future__ import annotations

import random
import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from applications.dash.adaptation import RateAdaptation
from applications.dash.play_buffer import PlayBuffer
from netboxes.endpoints.endpoints_under_test import (
    HOST,
    PEER,
    arp,
    flow,
    host,
    ipv4,
    is_right,
    needs_tshark,
    packets,
    pair,
    tshark,
)
from netboxes.engine.virtual import Emulation, EmulationFailed, TimedFrame, address, checksum, run

LADDER = (0.5e6, 1e6, 2e6, 4e6)
SEGMENT_S, DATA, FRAME = 2.0, 1448, 1514
SYN, ACK = 0x02, 0x10


def server(rates: tuple[float, ...] = LADDER, **keys: Any) -> dict[str, Any]:
    """Five segments of each rate: the first 30 % larger than they are on the mean, the last smaller."""
    media = [
        (f"/{at}-{n}.m4s", round(rate * SEGMENT_S / 8 * (1.3 - 0.15 * n))) for at, rate in enumerate(rates) for n in range(5)
    ]
    files = [*media, *((f"/{at}.mp4", 800) for at, _ in enumerate(rates))]
    objects = [{"path": path, "bytes": size} for path, size in files]
    manifest = {"path": "/video.mpd", "text": "<MPD/>"}
    return {"name": "v", "application": "dash", "role": "server", "port": 80, "objects": [manifest, *objects], **keys}


def client(rates: tuple[float, ...] = LADDER, **keys: Any) -> dict[str, Any]:
    return {
        **{"name": "v", "application": "dash", "role": "client", "destination": "10.0.0.1", "port": 80, "until_s": 60},
        **{"manifest": "/video.mpd", "adaptation": "throughput", "safety": 0.9, "segment_s": SEGMENT_S},
        **{"buffer_s": 20, "start_up_s": 4, "rebuffer_s": 4},
        "representations": [
            {"rate": rate, "initialization": f"/{at}.mp4", "segments": [f"/{at}-{n}.m4s" for n in range(5)]}
            for at, rate in enumerate(rates)
        ],
        **keys,
    }


def segments(ran: dict[str, Any]) -> list[dict[str, Any]]:
    return [line for line in ran["records"] if line["record"] == "segment"]


def playback(ran: dict[str, Any]) -> list[tuple[str, float]]:
    return [(line["state"], line["time_s"]) for line in ran["records"] if line["record"] == "playback"]


@pytest.mark.parametrize("rule", ["throughput", "buffer"])
@pytest.mark.parametrize("rate", [1.4e6, 3e6])
def test_a_client_decides_as_the_same_rules_in_python(rule: Any, rate: float, tmp_path: Path) -> None:
    ran = pair(tmp_path, [server()], [client(adaptation=rule, until_s=120)], rate=rate, loss=0.002, duration_s=121.0)
    adaptation, heard = RateAdaptation(rule, LADDER, 0.9, 20.0), []
    buffer = PlayBuffer(4.0, 4.0, lambda state, at: heard.append((state, at)))
    for segment in segments(ran):
        assert segment["estimate_bit_per_s"] == adaptation.estimate(), "to the bit"
        assert segment["representation"] == adaptation.choose(segment["decided_at_s"])
        adaptation.add(segment["bytes"] * 8 / (segment["completed_s"] - segment["requested_s"]))
        buffer.fill(segment["completed_s"], SEGMENT_S)
        assert segment["buffer_s"] == pytest.approx(buffer.level)
    buffer.advance(120.0)
    assert [state for state, _ in playback(ran)] == [state for state, _ in heard]
    assert [at for _, at in playback(ran)] == pytest.approx([at for _, at in heard])
    assert len({segment["representation"] for segment in segments(ran)}) > 1
    assert [segment["segment"] for segment in segments(ran)] == list(range(len(segments(ran))))


def test_a_buffer_that_is_full_has_one_request_in_each_segments_time(tmp_path: Path) -> None:
    ran = pair(tmp_path, [server((1e6,))], [client((1e6,), buffer_s=10)], duration_s=61.0)
    requests = [segment["requested_s"] for segment in segments(ran)]
    assert [late - early for early, late in zip(requests[-21:], requests[-20:], strict=False)] == pytest.approx([SEGMENT_S] * 20)
    assert all(segment["decided_at_s"] == pytest.approx(8.0) for segment in segments(ran)[-20:])
    assert playback(ran) == [("playing", segments(ran)[1]["completed_s"])]


def test_a_rate_above_the_lines_plays_each_segment_and_stands_still_until_the_next_one(tmp_path: Path) -> None:
    """1 Mbit/s over half of that: a segment of 2 s is some 4 s on the line."""
    keys = {"start_up_s": 2, "rebuffer_s": 2, "until_s": 40}
    ran = pair(tmp_path, [server((1e6,))], [client((1e6,), **keys)], rate=0.5e6, queue=500_000, duration_s=41.0)
    came = [segment["completed_s"] for segment in segments(ran)]
    assert len(came) > 5
    expected = [
        (state, at + later) for at in came for state, later in (("playing", 0.0), ("stalled", SEGMENT_S)) if at + later < 40
    ]
    assert [state for state, _ in playback(ran)] == [state for state, _ in expected]
    assert [at for _, at in playback(ran)] == pytest.approx([at for _, at in expected])
    for segment in segments(ran)[1:]:
        on_the_line_s = segment["bytes"] / DATA * FRAME * 8 / 0.5e6
        assert segment["completed_s"] - segment["requested_s"] == pytest.approx(on_the_line_s + 0.04, rel=0.02)


def test_a_client_backs_off_up_to_a_second_while_its_buffer_is_above_the_threshold(tmp_path: Path) -> None:
    """Debloating thesis, algorithm 5: U(0, 1) s before a request; none below."""
    ran = pair(tmp_path, [server((1e6,))], [client((1e6,), buffer_s=300, back_off_above_s=6)], duration_s=61.0)
    came = segments(ran)
    waits = [(early["buffer_s"], late["requested_s"] - early["completed_s"]) for early, late in pairwise(came)]
    assert all(wait == 0 for level, wait in waits if level <= 6)
    above = [wait for level, wait in waits if level > 6]
    assert all(0 < wait < 1 for wait in above)
    assert sum(above) / len(above) == pytest.approx(0.5, abs=4 / (12 * len(above)) ** 0.5), "within 4 standard errors"


@needs_tshark
@pytest.mark.parametrize("destination", ["10.0.0.1", "fd00::1"])
def test_tshark_sees_its_requests_and_nothing_wrong(destination: str, tmp_path: Path) -> None:
    pair(tmp_path, [server(dscp=46)], [client(destination=destination, until_s=10)], duration_s=11.0)
    capture = tmp_path / "pair.pcapng"
    assert is_right(capture)
    asked = tshark(capture, "-Y", "http.request", "-T", "fields", "-e", "http.request.uri")
    assert asked[:3] == ["/video.mpd", "/0.mp4", "/0-0.m4s"]
    answered = tshark(capture, "-Y", "http.response.code == 200", "-T", "fields", "-e", "http.content_length")
    assert answered[:3] == ["6", "800", "162500"]
    field = "ip.dsfield.dscp" if "." in destination else "ipv6.tclass.dscp"
    assert set(tshark(capture, "-Y", "tcp.srcport == 80 && tcp.len > 0", "-T", "fields", "-e", field)) == {"46"}


def data(ports: tuple[int, int], sequence: int, acknowledged: int, content: bytes) -> bytes:
    """A segment of the peer's in a connection with a host."""
    body = struct.pack(">HHIIHHHH", *ports, sequence % 2**32, acknowledged, 5 << 12 | 0x18, 65535, 0, 0) + content
    pseudo = address(PEER, 4).packed + address(HOST, 4).packed + struct.pack(">BBH", 0, 6, len(body))
    return ipv4(PEER, HOST, 6, body[:16] + struct.pack(">H", checksum(pseudo + body)) + body[18:])


def pieces(content: bytes, size: int = 1000) -> list[bytes]:
    return [content[at : at + size] for at in range(0, len(content), size)] or [b""]


def asked(request: bytes, size: int = 1000, port: int = 40000) -> list[TimedFrame]:
    """A peer that connects to the server, sends that, and acknowledges nothing of the answer."""
    ports, syn = (port, 80), struct.pack(">HHIIHHHH", port, 80, 1000, 0, 5 << 12 | SYN, 65535, 0, 0)
    pseudo = address(PEER, 4).packed + address(HOST, 4).packed + struct.pack(">BBH", 0, 6, len(syn))
    opening = ipv4(PEER, HOST, 6, syn[:16] + struct.pack(">H", checksum(pseudo + syn)) + syn[18:])
    sent = [
        (0.02 + 0.001 * number, data(ports, 1001 + size * number, 1, piece)) for number, piece in enumerate(pieces(request, size))
    ]
    return [(0.0, opening), (0.01, arp(2, PEER, HOST)), *sent]


def answer(ran: Emulation) -> bytes:
    """Its stream, as far as it goes without an acknowledgement."""
    stream = b""
    for _, frame in packets(ran):
        content = frame[34 + (frame[46] >> 4) * 4 : 14 + int.from_bytes(frame[16:18])]
        if frame[23] == 6 and content and int.from_bytes(frame[38:42]) == 1 + len(stream):
            stream += content
    return stream


OBJECT = {"path": "/a", "text": "abc", "bytes": 2}


@pytest.mark.parametrize(
    ("request_text", "statuses"),
    [
        (b"GET /a HTTP/1.1\r\nHost: h\r\n\r\n", [200]),
        (b"GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\nGET /a HTTP/1.1\r\n\r\n", [200, 404, 200]),
        (b"GET /a HTTP/1.1\r\nCONNECTION:close \r\n\r\nGET /a HTTP/1.1\r\n\r\n", [200]),
        (b"GET /a HTTP/1.0\r\n\r\nGET /a HTTP/1.1\r\n\r\n", [400]),
        (b"POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", [400]),
        (b"HEAD /a HTTP/1.1\r\n\r\n", [405]),
        (b"\r\n\r\n", [400]),
        (b"GET\r\n\r\n", [400]),
        (b"GET /a\r\n\r\n", [400]),
        (b"GET /a HTTP/9.9\r\n\r\n", [400]),
        (b"GET /a HTTP/1.1\r\n" + b"x" * 9000, [400]),
        (b"\0" * 100, []),
        (b"GET /a HTTP/1.1", []),
    ],
)
@pytest.mark.parametrize("size", [1000, 7])
def test_a_server_answers_as_rfc_9112_has_it(request_text: bytes, statuses: list[int], size: int) -> None:
    ends = host(
        {"name": "v", "application": "dash", "role": "server", "port": 80, "objects": [OBJECT], "tcp": {"initial_window": 60}}
    )
    ran = run("endpoints", ["a"], ends, {"a": asked(request_text, size)}, duration_s=5.0)
    replies = answer(ran).split(b"HTTP/1.1 ")[1:]
    assert [int(reply[:3]) for reply in replies] == statuses
    assert all(
        reply.endswith(b"\r\n\r\nabc\0\0") and b"Content-Length: 5\r\n" in reply for reply in replies if reply[:3] == b"200"
    )
    assert flow(ran)["refused"] == sum(status != 200 for status in statuses)


def test_a_server_keeps_no_more_than_64_replies() -> None:
    """70 requests in one segment: the connection is over behind the answer to the last that it takes."""
    ends = host(
        {"name": "v", "application": "dash", "role": "server", "port": 80, "objects": [OBJECT], "tcp": {"initial_window": 60}}
    )
    ran = run("endpoints", ["a"], ends, {"a": asked(b"GET /a HTTP/1.1\r\n\r\n" * 70, 1400)}, duration_s=5.0)
    assert (answer(ran).count(b"HTTP/1.1 200"), answer(ran).count(b"Connection: close")) == (64, 1)


@pytest.mark.parametrize("seed", range(3))
def test_no_request_ends_a_server(seed: int) -> None:
    chance = random.Random(seed)
    words = [b"GET", b" ", b"/a", b" HTTP/1.1", b"\r\n", b"\r\n\r\n", b":", b"connection: close", b"\0", b"Host: x"]
    given: list[TimedFrame] = []
    for port in range(40000, 40040):
        request = b"".join(chance.choice([*words, chance.randbytes(9)]) for _ in range(chance.randrange(1500)))
        frames = asked(request, chance.choice([1, 13, 1000]), port)[:600]
        given += [(at + 0.05 * (port - 40000), frame) for at, frame in frames if chance.random() < 0.98]
    ends = host({"name": "v", "application": "dash", "role": "server", "port": 80, "objects": [OBJECT]})
    ran = run("endpoints", ["a"], ends, {"a": [*sorted(given), (9.5, arp(1, PEER, HOST))]}, duration_s=10.0)
    assert ran.received["a"][-1][0] >= 9.5
    assert flow(ran)["accepted"] >= 30


NO_REPLY = "no reply of HTTP/1.1 with a length"


def answered(reply: bytes) -> dict[str, Any]:
    """What a client of a peer that answers its first request so says of itself in the end."""
    ends = host(client(destination="10.0.0.2", until_s=4))
    met = [(0.0, arp(1, PEER, HOST)), (0.001, arp(2, PEER, HOST))]
    (source,) = {
        frame[34:36] for _, frame in packets(run("endpoints", ["a"], ends, {"a": met}, duration_s=0.5)) if frame[23] == 6
    }
    ports = (80, int.from_bytes(source))
    opened = struct.pack(">HHIIHHHH", *ports, 0, 1, 5 << 12 | SYN | ACK, 65535, 0, 0)
    pseudo = address(PEER, 4).packed + address(HOST, 4).packed + struct.pack(">BBH", 0, 6, len(opened))
    accepts = ipv4(PEER, HOST, 6, opened[:16] + struct.pack(">H", checksum(pseudo + opened)) + opened[18:])
    request = len(b"GET /video.mpd HTTP/1.1\r\nHost: 10.0.0.2:80\r\nUser-Agent: NetBoxIT\r\nAccept: */*\r\n\r\n")
    sent = [
        (1.2 + 0.001 * number, data(ports, 1 + 1000 * number, 1 + request, piece)) for number, piece in enumerate(pieces(reply))
    ]
    given = [*met, (1.1, accepts), *sent, (4.5, arp(1, PEER, HOST))]
    ran = run("endpoints", ["a"], ends, {"a": given}, duration_s=5.0)
    assert ran.received["a"][-1][0] >= 4.5
    return flow(ran)


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "the server answers 404"),
        (b"HTTP/1.1 200 OK\r\n\r\n", NO_REPLY),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", NO_REPLY),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", NO_REPLY),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc", "more than the reply's length"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 9000, "a header of more than 8 KiB"),
        (b"\xff" * 3000 + b"\r\n\r\n", NO_REPLY),
        (b"HTTP/1.1 \xff\xff\xff\r\n\r\n", NO_REPLY),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", None),
    ],
)
def test_a_client_says_what_was_wrong_with_a_reply(reply: bytes, failure: str | None) -> None:
    assert answered(reply)["failure"] == failure


@pytest.mark.parametrize("seed", range(3))
def test_no_reply_ends_a_client(seed: int) -> None:
    chance = random.Random(seed)
    words = [b"HTTP/1.1 200 OK\r\n", b"Content-Length: ", b"5", b"0", b"\r\n", b"\r\n\r\n", b":", b"\0", b"abc"]
    for _ in range(3):
        answered(b"".join(chance.choice([*words, chance.randbytes(9)]) for _ in range(chance.randrange(3000))))


@pytest.mark.parametrize(
    ("end", "message"),
    [
        (client(role="sender"), r'flows\[0\].role: is "sender", not "client" or "server"'),
        (client(adaptation="best"), r'adaptation: is "best", not "throughput" or "buffer"'),
        (client(until_s=0), "until_s: is not after start_s"),
        (client(buffer_s=5), "buffer_s: has no room for a segment"),
        (client(representations=[]), "representations: missing"),
        (client((2e6, 1e6)), r"representations\[1\].rate: rates rise"),
        (client(manifest="video mpd"), 'write a path like "/1.m4s"'),
        (client(segments=3), r"flows\[0\].segments: no such key"),
        (server(objects=[OBJECT, OBJECT]), r"objects\[1\].path.*write each once"),
        (server(objects=[{**OBJECT, "path": "a"}]), r"objects\[0\].path"),
        (server(objects=[{**OBJECT, "bytes": -1}]), r"objects\[0\].bytes: is -1"),
    ],
)
def test_what_makes_no_sense_is_refused(end: dict[str, Any], message: str) -> None:
    with pytest.raises(EmulationFailed, match=message):
        run("endpoints", ["a"], host(end), {}, duration_s=0.1)
