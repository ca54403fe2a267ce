# SPDX-License-Identifier: GPL-2.0-or-later
"""Click routers in virtual time, against RFC 826, 791 and 1812, and the rates that the configurations are given."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from ipaddress import ip_interface
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contracts.installation import CHECKOUT
from netboxes.engine.neighbour_frames import arp_reply, arp_request
from netboxes.engine.virtual import Emulation, EmulationFailed, Netbox, TimedFrame, checksum, ethernet, mac, udp
from netboxes.network.virtual_network import ClickRouter, End, emulate_network

#: The router's own addresses and that of the host at the right, as virtual.address counts them: 10.0.0.200, 10.0.1.200, 10.0.1.2.
LEFT, RIGHT, HOST = 200, 456, 258
LINE_S = 0.001


def click(configuration: Path, **more: str) -> ClickRouter:
    """A router between 10.0.0.0/24 behind its interface a, and 10.0.1.0/24 behind b."""
    defines = dict(more)
    for name, address, number in (("A", "10.0.0.200/24", LEFT), ("B", "10.0.1.200/24", RIGHT)):
        interface = ip_interface(address)
        defines |= {f"{name}_DEV": name.lower(), f"{name}_IP": str(interface.ip), f"{name}_NET": str(interface.network)}
        defines[f"{name}_ETH"] = mac(number).hex(":")
    return ClickRouter(configuration, defines, ("a", "b"))


def routed(
    router: ClickRouter, frames: list[TimedFrame], seconds: float = 3.0, events: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Emulation]:
    """Two lines of 1 ms with a router between them; `frames` enter at the left. The host at the right has told its address."""
    line: dict[str, Any] = {"delay": LINE_S}
    boxes = {
        "left": Netbox("loopwire", ("x", "y"), line, {"x": frames}),
        "right": Netbox("loopwire", ("x", "y"), line, {"y": [(0.5, arp_reply(HOST, RIGHT))]}),
    }
    wires: list[tuple[End, End]] = [(("left", "y"), ("router", "a")), (("router", "b"), ("right", "x"))]
    return emulate_network(boxes, wires, seconds, routers={"router": router}, events=events)


def to_router(number: int = 0, payload: int = 100) -> bytes:
    """From 10.0.0.1 to 10.0.1.2, by the router."""
    frame = udp(1, HOST, payload, identification=number)
    return mac(LEFT) + frame[6:]


def test_a_packet_is_forwarded_at_once_with_one_hop_less() -> None:
    frame = to_router(7)
    ((time, arrived),) = routed(click(CHECKOUT / "click/ip-router.click"), [(1.0, frame)])["right"].received["y"]
    assert time == pytest.approx(1.0 + 2 * LINE_S, abs=1e-9)
    assert arrived[:12] == mac(HOST) + mac(RIGHT)
    assert arrived[22] == frame[22] - 1
    assert checksum(arrived[14:34]) == 0
    assert (arrived[14:22], arrived[26:]) == (frame[14:22], frame[26:])


def test_it_answers_arp_and_pings_for_itself() -> None:
    echo = struct.pack(">BBHHH", 8, 0, 0, 1, 1) + bytes(48)
    echo = echo[:2] + struct.pack(">H", checksum(echo)) + echo[4:]
    addresses = b"\x0a\0\0\x01" + b"\x0a\0\0\xc8"
    header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(echo), 5, 0, 64, 1, 0) + addresses
    header = header[:10] + struct.pack(">H", checksum(header)) + header[12:]
    ping = ethernet(mac(1), mac(LEFT), 0x0800, header + echo)
    asked = [(1.0, arp_request(1, LEFT)), (1.5, arp_reply(1, LEFT)), (2.0, ping)]
    answered = routed(click(CHECKOUT / "click/ip-router.click"), asked)["left"].received["x"]
    time, answer = answered[0]
    assert time == pytest.approx(1.0 + 2 * LINE_S)
    # A router pads no frames: that is for its interfaces.
    assert answer.ljust(60, b"\0") == arp_reply(LEFT, 1)
    time, answer = answered[1]
    assert time == pytest.approx(2.0 + 2 * LINE_S)
    assert (answer[26:34], answer[34]) == (addresses[4:] + addresses[:4], 0)
    assert checksum(answer[34:]) == 0


def test_what_waits_in_a_router_leaves_at_its_rate_and_a_handler_changes_it() -> None:
    """Frames of 542 bytes, offered twice as fast as 1 Mbit/s takes them; at 2 s, it becomes 500 kbit/s."""
    gap_s = 542 * 8 / 2e6
    offered = [(1.0 + i * gap_s, to_router(i, 500)) for i in range(600)]
    router = click(CHECKOUT / "click/shaping.click", B_RATE="1Mbps", QUEUE="1000")
    slower = {"at_s": 1.5, "router": "router", "element": "b_shaper", "handler": "rate", "value": "500kbps"}
    times = np.array([time for time, _ in routed(router, offered, 4.0, [slower])["right"].received["y"]])
    for start, end, rate in ((1.1, 2.0, 1e6), (2.1, 4.0, 5e5)):
        within = times[(times > start) & (times < end)]
        # Click's shapers count milliseconds: single gaps are not exact.
        assert np.mean(np.diff(within)) == pytest.approx(542 * 8 / rate, rel=0.02)


def test_two_runs_are_equal_also_where_click_draws_random_numbers(tmp_path: Path) -> None:
    configuration = tmp_path / "lossy.click"
    configuration.write_text(
        "FromDevice($A_DEV) -> RandomSample(DROP 0.5) -> Queue -> ToDevice($B_DEV); FromDevice($B_DEV) -> Discard;"
    )
    frames = [(1.0 + i / 1000, to_router(i)) for i in range(500)]
    first, again = (routed(click(configuration), frames)["right"].records for _ in range(2))
    assert 150 < first.size < 350
    assert (first == again).all()


BAD = [
    ("FromDevice($A_DEV) -> Nowhere;", r"(?s)bad\.click:1: .*Nowhere"),
    ("FromDevice(eth7) -> Discard;", r"router router: its configuration names interface 'eth7', to which no wire leads"),
    ("InfiniteSource -> Discard; FromDevice($A_DEV) -> Discard;", r"router router never rests, at 0\.0"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_a_bad_configuration_is_told_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    configuration = tmp_path / "bad.click"
    configuration.write_text(text)
    with pytest.raises(EmulationFailed, match=message):
        routed(click(configuration), [(1.0, to_router())])


def test_a_write_that_no_handler_takes_ends_the_run_and_says_why() -> None:
    router = click(CHECKOUT / "click/ip-router.click")
    write = {"at_s": 1.0, "router": "router", "element": "nobody", "handler": "rate", "value": "1"}
    with pytest.raises(EmulationFailed, match=r"event at 1\.0 s: router router: nobody\.rate does not take 1: "):
        routed(router, [(1.0, to_router())], events=[write])


def passed(events: Sequence[Mapping[str, Any]], configuration: Path = CHECKOUT / "click/ip-router.click") -> set[int]:
    """In which tenths of a second after 1 s frames arrive that are sent every 10 ms; the network's time begins at 0.5 s."""
    offered = [(1.0 + i / 100, to_router(i)) for i in range(200)]
    arrived = routed(click(configuration), offered, 3.5, events)["right"].received["y"]
    return {int((time - 1.0) * 10) for time, frame in arrived if frame[12:14] == b"\x08\0"}


def test_another_configuration_takes_over_and_stays_when_the_router_is_started_again() -> None:
    discards = "FromDevice($A_DEV) -> Discard; FromDevice($B_DEV) -> Discard; Idle -> ToDevice($A_DEV); Idle -> ToDevice($B_DEV);"
    swap = {"at_s": 1.0, "router": "router", "configuration": discards}
    power = [{"at_s": at_s, "node": "router", "power": on} for at_s, on in ((1.2, False), (1.5, True))]
    assert passed([swap, *power]) == set(range(5))


def test_a_configuration_that_is_wrong_ends_the_run_and_says_why() -> None:
    with pytest.raises(EmulationFailed, match=r"(?s)event at 1\.0 s: router router: .*Nowhere"):
        passed([{"at_s": 1.0, "router": "router", "configuration": "FromDevice($A_DEV) -> Nowhere;"}])


#: Eleven of the frames, which have 128 bytes from their layer-3 header on, are its burst.
SLOW = {"stage": "police", "rate": 8.0, "burst": 1500.0}


def test_an_interface_gets_other_stages_and_loses_them_with_the_power(tmp_path: Path) -> None:
    (configuration := tmp_path / "bridge.click").write_text(
        "FromDevice($A_DEV) -> Queue -> ToDevice($B_DEV); FromDevice($B_DEV) -> Queue -> ToDevice($A_DEV);"
    )
    first = {"at_s": 1.0, "router": "router", "interface": "a", "stages": [SLOW]}
    second = {"at_s": 1.5, "router": "router", "interface": "a", "stages": []}
    assert passed([first, second], configuration) == {*range(7), *range(10, 20)}
    power = [{"at_s": at_s, "node": "router", "power": on} for at_s, on in ((1.3, False), (1.5, True))]
    assert passed([first, *power], configuration) == {*range(7), *range(10, 20)}


@pytest.mark.parametrize(
    ("interface", "stages", "message"),
    [
        ("c", [], "the router has no interface 'c'; there are a, b"),
        ("a", [{"stage": "punk"}], r"stages of interface 'a': no stage is called \"punk\"; there are green"),
        ("a", [{**SLOW, "rate": -1}], "stages of interface 'a': police: rate is -1, not a number above 0"),
        ("a", {}, "stages of interface 'a': stages are a list of 16 at most"),
    ],
)
def test_stages_that_cannot_be_end_the_run_and_say_why(interface: str, stages: object, message: str) -> None:
    with pytest.raises(EmulationFailed, match=rf"event at 1\.0 s: router router: {message}"):
        passed([{"at_s": 1.0, "router": "router", "interface": interface, "stages": stages}])


def test_a_router_without_power_has_no_stages_to_change() -> None:
    off = {"at_s": 1.0, "node": "router", "power": False}
    with pytest.raises(EmulationFailed, match="router router has no power, so its stages cannot change"):
        passed([off, {"at_s": 1.1, "router": "router", "interface": "a", "stages": []}])


def test_a_router_without_power_forwards_nothing_and_has_forgotten_its_neighbours() -> None:
    """The host at the right has told its address once, before: the router knows it no more, and nobody answers."""
    power = [{"at_s": at_s, "node": "router", "power": on} for at_s, on in ((1.0, False), (1.5, True))]
    assert passed(power) == set(range(5))


def test_a_router_whose_wire_is_unplugged_gets_nothing_and_keeps_what_it_knows() -> None:
    wire = [{"at_s": at_s, "wire": 0, "up": up} for at_s, up in ((1.0, False), (1.5, True))]
    assert passed(wire) == {*range(5), *range(10, 20)}
