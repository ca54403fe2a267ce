# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from netboxes.engine.virtual import Emulation, EmulationFailed, Netbox, TimedFrame, emulate, ethernet, mac, udp
from netboxes.network.virtual_network import End, emulate_network
from netboxes.technology import technologies

#: Two stations of each technology, as in YAML, and how the first and the second are called.
SEGMENTS: Mapping[str, tuple[dict[str, Any], str, str]] = {
    "link": (
        {"stations": {"a": {}, "b": {}}, "rate": "5 Mbit/s", "delay": "3 ms", "loss": 0.05, "jitter": {"deviation": "1 ms"}},
        "a",
        "b",
    ),
    "ethernet": ({"stations": {"a": {}, "b": {}}, "medium": "shared"}, "a", "b"),
    "wifi": (
        {"stations": {"ap": {"role": "access-point"}, "s": {"role": "station"}}, "standard": "802.11a", "distance": "120 m"},
        "s",
        "ap",
    ),
    "satellite": (
        {
            "stations": {"t": {"role": "terminal"}, "g": {"role": "gateway"}},
            "delay": "254 ms",
            "return_rate": "2 Mbit/s",
            "forward_rate": "10 Mbit/s",
            "packet_error_rate": 0.01,
        },
        "t",
        "g",
    ),
    "wimax": (
        {"stations": {"ss": {"role": "subscriber"}, "bs": {"role": "base"}}, "distance": "2.5 km", "tx_power": "30 dBm"},
        "ss",
        "bs",
    ),
    "lte": ({"stations": {"ue": {"role": "ue"}, "core": {"role": "gateway"}}, "distance": "400 m"}, "ue", "core"),
    "pan": ({"stations": {"d": {"role": "device"}, "c": {"role": "coordinator"}}, "distance": "10 m"}, "d", "c"),
    "pmr": ({"stations": {"t": {}, "base": {"role": "base"}}, "distance": "1 km"}, "t", "base"),
    "multiservice": (
        {
            "stations": {"base": {}, "mobile": {}},
            "profile": "wlan",
            "errors": {"level": 4},
            "services": [{"class": "default", "scheme": "rlp"}],
        },
        "base",
        "mobile",
    ),
}


def between_two_cells(begin: str, end: str, **more: Any) -> dict[str, Any]:
    """Of LTE: two eNodeBs, and a UE that drives from a place to another one within five seconds, and so is handed over."""
    path = [{"at": "0 s", "position": [begin, "0 m"]}, {"at": "5 s", "position": [end, "0 m"]}]
    return {
        "stations": {"ue": {"role": "ue", "path": path}, "core": {"role": "gateway"}},
        "enodebs": {"west": {"position": ["0 m", "0 m"]}, "east": {"position": ["1 km", "0 m"]}},
        "tx_power": "36 dBm",
        "propagation": "log-distance",
        "path_loss_exponent": 3,
        **more,
    }


#: Of some, what a twin has otherwise that ns-3 keeps, or takes, as a default of the process.
OF_TWINS: Mapping[str, Sequence[tuple[dict[str, Any], dict[str, Any]]]] = {
    "wifi": [
        ({"fading": "rayleigh", "doppler": "5 Hz"}, {"fading": "rayleigh", "doppler": "80 Hz"}),
        (
            {"mode": "mesh", "stations": {"s": {"role": "mesh-point"}, "ap": {"role": "mesh-point"}}},
            {"mode": "mesh", "stations": {"s": {"role": "mesh-point"}, "ap": {"role": "mesh-point"}}},
        ),
    ],
    "lte": [
        ({"rlc": "am", "fading": "EVA"}, {"rlc": "um", "noise_figure": "9 dB", "resource_blocks": 50}),
        (
            between_two_cells("300 m", "800 m", resource_blocks=25),
            between_two_cells("800 m", "300 m", handover="a2-a4-rsrq", x2_delay="20 ms", core_delay="5 ms"),
        ),
    ],
}
CASES = [
    *((technology, {}, {}) for technology in SEGMENTS),
    *((technology, mine, twin) for technology, cases in OF_TWINS.items() for mine, twin in cases),
]
#: Wi-Fi stations have associated by then, LTE's terminals are attached, WiMAX's subscribers ranged.
START_S, DURATION_S = 3.0, 8.0


def netbox(technology: str, frames: Mapping[str, list[TimedFrame]] | None = None, seed: int = 1, **changes: Any) -> Netbox:
    parameters = technologies()[technology].model_validate(SEGMENTS[technology][0] | changes).model_dump(mode="json")
    return Netbox(technology, tuple(parameters["stations"]), parameters, frames or {}, seed=seed)


def datagrams(count: int, gap_s: float = 0.05, back: bool = False) -> list[TimedFrame]:
    """Irregular frames between stations 1 and 2, small enough for 802.15.4."""
    chance = random.Random(7 + back)
    ends = (2, 1) if back else (1, 2)
    return [
        (START_S + round(i * gap_s + chance.uniform(0, gap_s / 2), 6), udp(*ends, chance.randint(20, 60), identification=i))
        for i in range(count)
    ]


def alone(technology: str, frames: Mapping[str, list[TimedFrame]], seed: int = 1, **changes: Any) -> Emulation:
    return emulate(technology, SEGMENTS[technology][0] | changes, frames, seed=seed, duration_s=DURATION_S)


def same(left: Emulation, right: Emulation) -> None:
    assert left.statistics["frames"]["delivered"] > 0
    assert left.received == right.received
    assert (left.records == right.records).all()
    assert left.statistics["frames"] == right.statistics["frames"]
    assert left.statistics["segment"] == right.statistics["segment"]


@pytest.mark.parametrize(("technology", "mine", "twin"), CASES)
def test_a_netbox_beside_others_gives_what_it_gives_alone(technology: str, mine: dict[str, Any], twin: dict[str, Any]) -> None:
    """Another seed of the same technology, and another technology, are in the process, all with traffic of both directions."""
    _, first, second = SEGMENTS[technology]
    other = "link" if technology != "link" else "ethernet"
    frames = {first: datagrams(60), second: datagrams(60, back=True)}
    boxes = {
        # Its frames come after the first one of the others, with which their time begins also alone.
        "before": netbox(other, {SEGMENTS[other][1]: datagrams(90, 0.03)[1:]}),
        "mine": netbox(technology, frames, **mine),
        "twin": netbox(technology, frames, seed=5, **twin),
    }
    together = emulate_network(boxes, [], DURATION_S)
    same(together["mine"], alone(technology, frames, **mine))
    same(together["twin"], alone(technology, frames, seed=5, **twin))


@pytest.mark.parametrize(("technology", "narrow"), [("lte", {"resource_blocks": 6}), ("pmr", {})])
def test_random_numbers_that_are_first_drawn_while_netboxes_run_are_those_of_their_own_seeds(
    technology: str, narrow: dict[str, Any]
) -> None:
    """LTE's queues are made with the bearers, PMR's with the first packet, when the seed is that of the latest netbox."""
    drops = {**narrow, "queue": {"discipline": "red", "minimum": 1, "maximum": 30, "probability": 0.5, "weight": 1.0}}
    _, first, second = SEGMENTS[technology]
    frames = {first: datagrams(1500, 0.0004), second: datagrams(1500, 0.0004, back=True)}
    together = emulate_network({f"seed {seed}": netbox(technology, frames, seed, **drops) for seed in (1, 5)}, [], DURATION_S)
    for seed in (1, 5):
        ran = together[f"seed {seed}"]
        assert ran.statistics["frames"]["lost"]["queue_early"] > 0
        same(ran, alone(technology, frames, seed, **drops))


#: What each technology counts of one frame from its first station to its second one, and of none the other way.
ONE_FRAME: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    "link": {"a": {"sent": 1, "delivered": 1}, "b": {"sent": 0, "sent_bytes": 0, "sending_s": 0, "delivered": 0}},
    "wifi": {"s": {"transmissions": 1}, "ap": {"transmissions": 0}},
    "wimax": {
        "ss": {"uplink_frames": 1, "downlink_frames": 0, "downlink_symbols": 0, "requests": 1, "retries": 0},
        "bs": {"frames": 500},  # of 10 ms
    },
    "lte": {
        "ue": {"sent": 1, "received": 0, "transport_blocks_uplink": 1, "transport_blocks_downlink": 0},
        "core": {"sent": 0, "received": 1},
    },
}


@pytest.mark.parametrize("technology", SEGMENTS)
def test_statistics_count_from_the_beginning_of_the_networks_time(technology: str) -> None:
    """Before it, bursts go the other way, which begin before stations have their links and are more than a queue takes."""
    _, first, second = SEGMENTS[technology]
    bursts = {"pattern": "burst", "burst": 100, "rate": "500 pps", "count": 1000, "size": "80 B"}
    source = technologies()["generator"].model_validate({"stations": {"out": {}}, **bursts}).model_dump(mode="json")
    # To the address that the bridge has learnt from the source.
    one = [(START_S, ethernet(mac(1), bytes.fromhex(source["source_mac"].replace(":", "")), 0x88B5, b"hello"))]
    boxes = {
        "source": Netbox("generator", ("out",), source),
        "mine": netbox(technology, {first: one}, queue={"discipline": "fifo", "packets": 10}),
    }
    ran = emulate_network(boxes, [(("source", "out"), ("mine", second))], DURATION_S)["mine"]
    assert ran.statistics["frames"]["delivered"] > 1
    assert ran.statistics["frames"]["lost"]["queue_full"] > 0
    segment = ran.statistics["segment"]
    losses = list(values_under(segment, "lost", "dropped"))
    assert losses and not any(any(lost.values()) if isinstance(lost, dict) else lost for lost in losses)
    lengths_s = [sum(classes) for classes in values_under(segment, "length_s")]
    assert lengths_s and lengths_s == [pytest.approx(DURATION_S - START_S)] * len(lengths_s)
    for station, counters in ONE_FRAME.get(technology, {}).items():
        assert {key: segment["stations"][station][key] for key in counters} == counters


def values_under(statistics: Any, *names: str) -> Iterator[Any]:
    """What stands under keys that begin with one of the names, wherever."""
    for key, value in statistics.items() if isinstance(statistics, dict) else enumerate(statistics):
        if isinstance(key, str) and key.startswith(names):
            yield value
        elif isinstance(value, (dict, list)):
            yield from values_under(value, *names)


def test_a_chain_gives_what_its_segments_give_one_after_another() -> None:
    """Frames of one direction: what leaves one segment is all that enters the next one."""
    order = ["wifi", "link", "satellite"]
    frames = datagrams(80)
    wires: list[tuple[End, End]] = [((left, SEGMENTS[left][2]), (right, SEGMENTS[right][1])) for left, right in pairwise(order)]
    boxes = {name: netbox(name, {SEGMENTS[name][1]: frames} if name == order[0] else {}) for name in order}
    chain = emulate_network(boxes, wires, DURATION_S)
    for name in order:
        _, entry, exit_ = SEGMENTS[name]
        step = emulate(name, SEGMENTS[name][0], {entry: frames}, duration_s=DURATION_S)
        assert (chain[name].records["fate"] == step.records["fate"]).all()
        assert (chain[name].records["identity"] == step.records["identity"]).all()
        frames = step.received[exit_]
    assert chain[order[-1]].received[SEGMENTS[order[-1]][2]] == frames


def test_the_same_seed_gives_the_same_network_to_the_bit() -> None:
    def once(seed: int) -> list[np.ndarray[Any, Any]]:
        boxes = {
            "field": netbox("wifi", {"s": datagrams(80)}, seed=seed),
            "back": netbox("link", {"b": datagrams(80, back=True)}, seed=seed + 1),
        }
        return [ran.records for ran in emulate_network(boxes, [(("field", "ap"), ("back", "a"))], DURATION_S).values()]

    first, again, another = once(1), once(1), once(20)
    assert all((one == two).all() for one, two in zip(first, again, strict=True))
    assert any(one.size != two.size or (one != two).any() for one, two in zip(first, another, strict=True))


def test_frames_go_both_ways_and_time_adds_up() -> None:
    """Two lines of 3 ms and 7 ms, one with 1 Mbit/s: the time of a frame is their sum and that of its bytes."""
    plain: dict[str, Any] = {"stations": {"a": {}, "b": {}}}

    def line(delay: str, frames: Mapping[str, list[TimedFrame]], **more: Any) -> Netbox:
        parameters = technologies()["link"].model_validate({**plain, "delay": delay, **more}).model_dump(mode="json")
        return Netbox("link", ("a", "b"), parameters, frames)

    there, back = udp(1, 2, 472), udp(2, 1, 472)
    ran = emulate_network(
        {"left": line("3 ms", {"a": [(1.0, there)]}), "right": line("7 ms", {"b": [(2.0, back)]}, rate="1 Mbit/s")},
        [(("left", "b"), ("right", "a"))],
        4.0,
    )
    ((arrived, frame),) = ran["right"].received["b"]
    assert frame == there
    rate_s = arrived - 1.0 - 0.010
    # Ethernet's header and checksum may count (README of link): 500 bytes of IP at least, 524 with preamble and gap at most.
    assert 500 * 8 / 1e6 <= rate_s <= 524 * 8 / 1e6
    ((returned, frame),) = ran["left"].received["a"]
    assert frame == back
    assert returned - 2.0 - 0.010 == pytest.approx(rate_s, abs=1e-9)


def ring(delays_s: list[float]) -> dict[str, Emulation]:
    """Netboxes of three stations in a circle; a broadcast enters at the first one's third station."""
    boxes = {
        f"n{number}": Netbox(
            "loopwire", ("in", "out", "tap"), {"delay": delay_s}, {"tap": [(1.0, udp(1, 2))]} if number == 0 else {}
        )
        for number, delay_s in enumerate(delays_s)
    }
    wires: list[tuple[End, End]] = [((f"n{i}", "out"), (f"n{(i + 1) % len(boxes)}", "in")) for i in range(len(boxes))]
    return emulate_network(boxes, wires, 1.051)


def test_a_circle_that_takes_time_goes_on() -> None:
    ran = ring([0.001, 0.002, 0.002])
    # To an address that no bridge knows: one frame each way round for 50 ms, at 5 ms a round, which passes each tap once.
    assert len(ran["n1"].received["tap"]) == 20


def test_a_circle_without_delay_is_refused_and_named() -> None:
    with pytest.raises(EmulationFailed, match=r"frames go round at 1\.0+ s without time passing, by n0\.in, .*give a netbox"):
        ring([0.0, 0.0, 0.0])


BAD: list[tuple[dict[str, Netbox], list[tuple[End, End]], str]] = [
    ({"x": netbox("link")}, [(("x", "a"), ("x", "c"))], r"wires: x\.c is no station"),
    ({"x": netbox("link")}, [(("x", "a"), ("y", "a"))], r"wires: y\.a is no station"),
    ({"x": netbox("link")}, [(("x", "a"), ("x", "a"))], r"wires: x\.a is no station .*, or has a wire already"),
    ({"x": Netbox("nothing", ("a",), {})}, [], r"x: technology nothing cannot be loaded"),
    ({"x": Netbox("../bin/x", ("a",), {})}, [], r"x: technology: \"\.\./bin/x\" is no name of one"),
]


@pytest.mark.parametrize(("boxes", "wires", "message"), BAD)
def test_a_bad_network_is_refused_in_one_line(boxes: dict[str, Netbox], wires: list[tuple[End, End]], message: str) -> None:
    with pytest.raises(EmulationFailed, match=message) as refused:
        emulate_network(boxes, wires, 1.0)
    assert str(refused.value).count("\n") == 0
