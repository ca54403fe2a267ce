# SPDX-License-Identifier: GPL-2.0-or-later
"""Queues in front of the transmitters of all media, in virtual time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError

from netboxes.engine.virtual import Emulation, EmulationFailed, TimedFrame, udp
from netboxes.ethernet.lan_under_test import START_S, delays_s, delivered, lan, measure, on_wire, packets
from netboxes.ethernet.parameters import Parameters
from netboxes.queueing.queue import Queue
from testbed.description.live import parsed, read_value

RATE = 10e6
LENGTH = 1000
#: Of a frame, with the gap behind it.
SERVICE_S = on_wire(LENGTH) / RATE
#: A frame's bytes as a queue counts them.
COUNTED = 14 + LENGTH
MEDIA = ["link", "shared", "switched"]
SPARSE_PORT = 50000


def bottleneck(medium: str, queue: object) -> dict[str, Any]:
    """From s0 to s1 with RATE; at a switch the port to s1 is the bottleneck, on a shared medium and a link the station s0."""
    network = lan(medium, 2, rate=f"{RATE} bit/s", delay="1 us", queue=queue)
    if medium == "switched":
        network["stations"]["s0"] = {"rate": "1 Gbit/s"}
    return network


def queue_of(medium: str, emulation: Emulation) -> dict[str, Any]:
    """What is told of the queue in front of the bottleneck."""
    stations = emulation.statistics["segment"]["stations"]
    queue: dict[str, Any] = stations["s1"]["port"]["queue"] if medium == "switched" else stations["s0"]["queue"]
    return queue


def overload(load: float, seconds: float) -> list[TimedFrame]:
    """A flow with so much of the rate of the bottleneck."""
    return packets(0, 1, LENGTH, list(np.arange(0, seconds, SERVICE_S / load)))


def sparse(times: Sequence[float]) -> list[TimedFrame]:
    """Another flow from s0 to s1, of small frames."""
    return [(START_S + at, udp(0, 1, 100, identification=k, ports=(SPARSE_PORT, 5004))) for k, at in enumerate(times)]


def delays_of_sparse(emulation: Emulation, times: Sequence[float]) -> NDArray[np.float64]:
    delays = [
        at - START_S - times[int.from_bytes(frame[18:20], "big")]
        for at, frame in emulation.received["s1"]
        if frame[34:36] == SPARSE_PORT.to_bytes(2, "big")
    ]
    return np.asarray(delays, float)


def late_delays_s(emulation: Emulation) -> NDArray[np.float64]:
    """Delays of what entered in the second half, when the discipline has found its way."""
    entered = np.asarray(delivered(emulation)["in_ns"], np.int64)
    late: NDArray[np.bool_] = entered > (entered.min() + entered.max()) / 2
    return delays_s(emulation)[late]


def test_who_says_nothing_has_a_fifo_of_1000_packets() -> None:
    expected = Queue(discipline="fifo", packets=1000)
    for queue in ({}, {"queue": "fifo"}, {"queue": 1000}):
        assert Parameters.model_validate(lan("link", 2) | queue).queue == expected
    assert Parameters.model_validate(lan("link", 2, queue={"discipline": "codel", "bytes": "1 MB"})).queue.packets is None


@pytest.mark.parametrize("queue", [{"packets": 0}, {"discipline": "fifo", "target": "5 ms"}, "fifteen"])
def test_bad_queues_are_refused(queue: object) -> None:
    with pytest.raises(ValidationError):
        Parameters.model_validate(lan("link", 2, queue=queue))


@pytest.mark.parametrize("medium", MEDIA)
def test_codel_keeps_delays_short_under_an_overload_that_fills_a_fifo(medium: str) -> None:
    traffic = {0: overload(1.05, 5.0)}
    fifo, codel = (measure(bottleneck(medium, discipline), traffic) for discipline in ("fifo", "codel"))
    assert late_delays_s(fifo).mean() > 0.15
    assert late_delays_s(codel).mean() < 0.03
    dropped = queue_of(medium, codel)["dropped"]
    assert dropped["early"] == codel.statistics["frames"]["lost"]["queue_early"] > 100
    assert (dropped["full"], dropped["expired"]) == (0, 0)
    # It drops no more than is too much.
    assert len(delivered(codel)) == pytest.approx(5.0 / SERVICE_S, rel=0.02)


@pytest.mark.parametrize("medium", MEDIA)
def test_fq_codel_lets_a_sparse_flow_pass_a_flood(medium: str) -> None:
    times = [0.5 + 0.02 * k for k in range(100)]
    traffic = {0: overload(1.5, 3.0) + sparse(times)}
    fifo, fair = (measure(bottleneck(medium, discipline), traffic) for discipline in ("fifo", "fq-codel"))
    assert np.median(delays_of_sparse(fifo, times)) > 0.1
    waits = delays_of_sparse(fair, times)
    assert len(waits) == len(times)
    # Behind the frame that is being sent, and one more.
    assert waits.max() < 3 * SERVICE_S


@pytest.mark.parametrize("medium", MEDIA)
def test_a_class_that_comes_first_passes_a_flood(medium: str) -> None:
    times = [0.5 + 0.02 * k for k in range(100)]
    voice = [{"name": "voice", "match": {"ports": [[SPARSE_PORT, SPARSE_PORT]]}}]
    emulation = measure(bottleneck(medium, "priority"), {0: overload(1.5, 3.0) + sparse(times)}, classes=voice)
    waits = delays_of_sparse(emulation, times)
    assert len(waits) == len(times)
    assert waits.max() < 2 * SERVICE_S


@pytest.mark.parametrize("medium", MEDIA)
@pytest.mark.parametrize(("discipline", "longest"), [("pie", 0.03), ("red", 0.03)])
def test_pie_and_red_drop_before_the_queue_is_full(medium: str, discipline: str, longest: float) -> None:
    emulation = measure(bottleneck(medium, discipline), {0: overload(1.1, 8.0)})
    assert late_delays_s(emulation).mean() < longest
    assert queue_of(medium, emulation)["dropped"]["early"] == emulation.statistics["frames"]["lost"]["queue_early"] > 100


@pytest.mark.parametrize("medium", MEDIA)
@pytest.mark.parametrize("queue", [{"packets": 30}, {"bytes": f"{30 * COUNTED} B"}, {"buffer": f"{30 * COUNTED * 8 / RATE} s"}])
def test_room_limits_what_waits_besides_the_frame_that_is_sent(medium: str, queue: dict[str, object]) -> None:
    # As fast as the wire to the switch takes them, so that none waits there.
    times = [k * on_wire(LENGTH) / 1e9 for k in range(200)]
    emulation = measure(bottleneck(medium, queue), {0: packets(0, 1, LENGTH, times)})
    sent_meanwhile = int(times[-1] / SERVICE_S)
    assert len(delivered(emulation)) == pytest.approx(30 + 1 + sent_meanwhile, abs=1)
    lost = emulation.statistics["frames"]["lost"]["queue_full"]
    assert queue_of(medium, emulation)["dropped"]["full"] == lost == 200 - len(delivered(emulation))


@pytest.mark.parametrize("medium", MEDIA)
def test_what_waits_for_longer_than_its_time_is_lost(medium: str) -> None:
    emulation = measure(bottleneck(medium, {"packets": 1000, "time": "20 ms"}), {0: packets(0, 1, LENGTH, [0.0] * 100)})
    delays = delays_s(emulation)
    assert 0.02 < delays.max() < 0.02 + 3 * SERVICE_S
    queue = queue_of(medium, emulation)
    assert queue["dropped"] == {"full": 0, "early": 0, "expired": 100 - len(delays)}
    assert emulation.statistics["frames"]["lost"]["queue_expired"] == 100 - len(delays) > 0


@pytest.mark.parametrize("medium", MEDIA)
def test_statistics_say_what_waits_and_how_long_so_many_did(medium: str) -> None:
    emulation = measure(bottleneck(medium, 100), {0: packets(0, 1, LENGTH, [0.0] * 9)}, 4.5 * SERVICE_S)
    queue = queue_of(medium, emulation)
    # Four have been sent, the fifth is being sent.
    assert (queue["packets"], queue["bytes"]) == (4, 4 * COUNTED)
    assert queue["delay_s"] == pytest.approx(4 * SERVICE_S, rel=0.01)
    none, one, two, four, eight = queue["length_s"]
    assert none == pytest.approx(START_S, abs=0.1)
    assert four == pytest.approx(3.5 * SERVICE_S, rel=0.02)
    assert eight == pytest.approx(SERVICE_S, rel=0.02) or medium == "switched"
    assert max(one, two) < 0.1 * SERVICE_S


@pytest.mark.parametrize("medium", MEDIA)
def test_the_same_seed_drops_the_same_and_another_one_does_not(medium: str) -> None:
    def run(seed: int) -> list[int]:
        return [int(at) for at in delivered(measure(bottleneck(medium, "red"), {0: overload(1.2, 1.0)}, seed=seed))["in_ns"]]

    assert run(3) == run(3)
    assert run(3) != run(4)


@pytest.mark.parametrize("medium", MEDIA)
def test_a_queue_becomes_another_one_while_frames_wait(medium: str) -> None:
    shorter = Queue(packets=10).model_dump()
    events = [(START_S + 0.01, "queue", shorter)]
    emulation = measure(bottleneck(medium, 500), {0: packets(0, 1, LENGTH, [0.0] * 100)}, events=events)
    sent = int(0.01 / SERVICE_S) + 1
    assert len(delivered(emulation)) == pytest.approx(sent + 10, abs=1)
    assert emulation.statistics["frames"]["lost"]["queue_full"] == 100 - len(delivered(emulation))
    assert np.diff(np.sort(delivered(emulation)["out_ns"])) == pytest.approx(SERVICE_S * 1e9, abs=2)


@pytest.mark.parametrize("medium", MEDIA)
def test_a_queue_with_a_rate_of_its_own_sends_so_much_and_none_in_bursts(medium: str) -> None:
    own_s = 8 * (COUNTED + 24) / 2e6
    queue = {"packets": 500, "rate": "2 Mbit/s", "overhead": "24 B"}
    emulation = measure(bottleneck(medium, queue), {0: packets(0, 1, LENGTH, [0.0] * 100)})
    assert np.diff(np.sort(delivered(emulation)["out_ns"])) == pytest.approx([own_s * 1e9] * 99, abs=2)


@pytest.mark.parametrize("medium", MEDIA)
def test_a_queue_that_loses_its_own_rate_sends_at_once_what_waited(medium: str) -> None:
    own_s = 8 * COUNTED / 10e3
    slow, fast = Queue(packets=500, rate="10 kbit/s").model_dump(), Queue(packets=500).model_dump()
    events = [(START_S - 0.1, "queue", slow), (START_S + 1.0, "queue", fast)]
    emulation = measure(bottleneck(medium, "fifo"), {0: packets(0, 1, LENGTH, [0.0] * 5)}, events=events)
    first, second, *others = np.sort(delivered(emulation)["out_ns"]) / 1e9
    assert second - first == pytest.approx(own_s, abs=1e-6)
    assert others == pytest.approx([first + 1.0 + SERVICE_S * place for place in range(3)], abs=1e-4)


def test_a_new_queue_is_said_as_in_yaml() -> None:
    assert read_value(Parameters, *parsed("queue=50")) == Queue(packets=50).model_dump()
    assert read_value(Parameters, *parsed("queue=codel")) == Queue(discipline="codel", packets=1000).model_dump()


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("queue", {"discipline": "hfsc"}, "its discipline is one of fifo"),
        ("queue", 100, "queue cannot be 100"),
        ("s0.queue", {"discipline": "fifo"}, "no live parameter 'queue'"),
    ],
)
def test_bad_live_queues_are_refused(parameter: str, value: object, message: str) -> None:
    with pytest.raises(EmulationFailed) as failed:
        measure(lan("switched", 2), {}, events=[(0.5, parameter, value)], duration_s=1)
    assert message in str(failed.value)


def test_each_port_of_a_switch_has_a_queue_and_each_station_another() -> None:
    network = lan("switched", 3, rate="10 Mbit/s", queue={"packets": 1000, "time": "50 ms"})
    network["stations"]["s2"] = {"rate": "1 Mbit/s"}
    emulation = measure(network, {0: packets(0, 2, LENGTH, [0.0] * 30), 1: packets(1, 0, LENGTH, [0.0] * 10)})
    stations = emulation.statistics["segment"]["stations"]
    dropped = {name: station["port"]["queue"]["dropped"]["expired"] for name, station in stations.items()}
    assert dropped["s0"] == dropped["s1"] == 0 < dropped["s2"] == stations["s2"]["port"]["lost"]["queue_expired"]
    assert [station["queue"]["dropped"]["expired"] for station in stations.values()] == [0, 0, 0]
    # The last of 10, and of 30 frames before the slow port, waited for the others.
    assert stations["s1"]["queue"]["delay_s"] == pytest.approx(9 * SERVICE_S, rel=0.01)
    assert stations["s0"]["queue"]["delay_s"] == pytest.approx(29 * SERVICE_S, rel=0.01)
