# SPDX-License-Identifier: GPL-2.0-or-later
"""The queues of bearers: their disciplines, their room, and what is told of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from netboxes.engine.virtual import Emulation, EmulationFailed, TimedFrame, emulate
from netboxes.lte.cell_under_test import CLASSES, EF, LARGEST_BLOCK, ONE, delays, flow, goodput, hello, lost

UE, CORE = 0, 1
#: Transport blocks of 549 bytes a millisecond.
CELL: dict[str, Any] = ONE | {"resource_blocks": 6, "distance": "50 m", "uplink_power_control": False}
PEAK = LARGEST_BLOCK[6] * 1e3  # bit/s, of the downlink; the uplink's signalling takes a little


def overload(queue: Any, uplink: bool, *, load: float = 1.5, rlc: str = "um", seconds: float = 2.0, seed: int = 1) -> Emulation:
    """`load` times what the cell carries, of packets of 1000 bytes."""
    ends = (UE, CORE) if uplink else (CORE, UE)
    frames = {"ue": [hello(UE)], "core": [hello(CORE)]}
    frames["ue" if uplink else "core"] += flow(*ends, 1000, load * PEAK, seconds)
    return emulate("lte", CELL | {"queue": queue, "rlc": rlc}, frames, seed=seed)


def of(emulation: Emulation, uplink: bool, bearer: str = "default") -> dict[str, Any]:
    queues = emulation.statistics["segment"]["stations"]["ue"]["queue_uplink" if uplink else "queue_downlink"]
    queue: dict[str, Any] = queues[bearer]
    return queue


def another(frames: list[TimedFrame]) -> list[TimedFrame]:
    """The same with another protocol number in the IPv4 header, by which they are a flow of their own."""
    return [(time, frame[:23] + b"\xfe" + frame[24:]) for time, frame in frames]


@pytest.mark.parametrize("rlc", ["um", "am"])
@pytest.mark.parametrize("uplink", [False, True])
def test_codel_keeps_the_delay_of_an_overloaded_bearer_short_and_fills_the_cell(uplink: bool, rlc: str) -> None:
    source = UE if uplink else CORE
    late, rates = {}, {}
    for discipline in ("fifo", "codel"):
        emulation = overload(discipline, uplink, load=1.15, rlc=rlc, seconds=4.0)
        # CoDel drops ever more often until the load, which does not answer, is met: in about 2 s.
        late[discipline] = float(np.median(delays(emulation, source)[-1000:]))
        rates[discipline] = goodput(emulation, "core" if uplink else "ue", source, 1000, 2.0, 4.5)
        dropped = of(emulation, uplink)["dropped"]
        reason = "queue_full" if discipline == "fifo" else "queue_early"
        assert lost(emulation) == {reason: dropped[reason.removeprefix("queue_")]}
    assert late["fifo"] > 150  # 100 kB at 4.4 Mbit/s are 182 ms
    assert late["codel"] < 0.3 * late["fifo"]
    assert rates["codel"] == pytest.approx(rates["fifo"], rel=0.02)
    assert rates["fifo"] > 0.85 * PEAK


@pytest.mark.parametrize("uplink", [False, True])
def test_fq_codel_lets_a_call_pass_a_flood_of_the_same_bearer(uplink: bool) -> None:
    """All are in one class and one bearer; frames overtake each other in the queue, and none of the call is taken for lost."""
    ends = (UE, CORE) if uplink else (CORE, UE)
    delay = {}
    for discipline in ("fifo", "fq-codel"):
        frames: dict[str, list[TimedFrame]] = {"ue": [hello(UE)], "core": [hello(CORE)]}
        name = "ue" if uplink else "core"
        call = another(flow(*ends, 200, 80e3, 2.0))
        frames[name] += sorted(flow(*ends, 1000, 1.5 * PEAK, 2.0) + call, key=lambda timed: timed[0])
        emulation = emulate("lte", CELL | {"queue": discipline}, frames)
        records = emulation.records[(emulation.records["length"] < 300) & (emulation.records["in_ns"] >= 1e9)]
        arrived = records[records["fate"] == 0]
        if discipline == "fq-codel":
            assert len(arrived) == len(call)
        delay[discipline] = float(np.percentile(arrived["out_ns"] - arrived["in_ns"], 95)) / 1e6
    assert delay["fq-codel"] < 30 < 100 < delay["fifo"]


@pytest.mark.parametrize("discipline", ["fq-codel", "priority"])
@pytest.mark.parametrize("rlc", ["um", "am"])
def test_what_frames_overtake_in_a_queue_is_not_lost(discipline: str, rlc: str) -> None:
    """A burst of 150 frames, one in three a call's: with room for all, all arrive, whatever their order."""
    frames: dict[str, list[TimedFrame]] = {"ue": [hello(UE)], "core": [hello(CORE)]}
    for name, ends in (("ue", (UE, CORE)), ("core", (CORE, UE))):
        bulk = flow(*ends, 1200, 100e6, 0.0096)
        call = another(flow(*ends, 100, 100e6 / 12 / 2, 0.0096, EF))
        frames[name] += sorted(bulk + call, key=lambda timed: timed[0])
    queue = {"discipline": discipline, "bytes": "1 MB"} | ({"target": "1 s"} if discipline == "fq-codel" else {})
    emulation = emulate("lte", CELL | {"queue": queue, "rlc": rlc}, frames, classes=CLASSES)
    assert lost(emulation) == {}
    for name, source in (("ue", CORE), ("core", UE)):
        got = [frame for time, frame in emulation.received[name] if time > 1.0 and len(frame) > 100]
        assert len(got) == 150
        first = [len(frame) < 300 for frame in got[:60]]
        assert sum(first) > 40, (name, source)


def test_room_is_packets_bytes_or_what_the_bearer_sends_in_a_time() -> None:
    burst = flow(CORE, UE, 1000, 200e6, 100 * 40e-6)
    assert len(burst) == 100
    for queue, waits in (({"packets": 10}, 10), ({"bytes": "20 kB"}, 19), (30, 30)):
        emulation = emulate("lte", CELL | {"queue": queue}, {"ue": [hello(UE)], "core": [hello(CORE), *burst]})
        # And the packet that RLC has.
        arrived = 100 - lost(emulation)["queue_full"]
        assert waits + 1 <= arrived <= waits + 6  # a block or several leave while the burst of 4 ms comes
    # 2 bytes of PDCP besides, and 4 ms from a block's scheduling to its end.
    emulation = overload({"buffer": "100 ms"}, False)
    assert np.percentile(delays(emulation, CORE), 95) == pytest.approx(104, abs=6)
    assert set(lost(emulation)) == {"queue_full"}


@pytest.mark.parametrize("uplink", [False, True])
def test_whoever_has_waited_too_long_is_lost(uplink: bool) -> None:
    emulation = overload({"bytes": "1 MB", "time": "60 ms"}, uplink)
    late = delays(emulation, UE if uplink else CORE)
    assert late.max() < 60 + 20  # of sending itself, with a retransmission
    assert set(lost(emulation)) == {"queue_expired"}
    assert of(emulation, uplink)["dropped"]["expired"] == lost(emulation)["queue_expired"]
    assert of(emulation, uplink)["delay_s"] <= 0.06


@pytest.mark.parametrize("discipline", ["pie", "red"])
def test_drops_by_chance_are_the_same_with_the_same_seed(discipline: str) -> None:
    queue = {"discipline": discipline, "bytes": "300 kB"}
    first, second, other = (overload(queue, False, seed=seed) for seed in (3, 3, 4))
    assert (first.records == second.records).all()
    assert not np.array_equal(first.records["fate"], other.records["fate"])
    assert lost(first)["queue_early"] > 50
    assert np.median(delays(first, CORE)[-500:]) < 200


def test_each_bearer_has_a_queue_of_its_own_and_is_told_by_its_class() -> None:
    bearer = {"class": "voice", "qci": 1, "uplink_rate": "64 kbit/s", "downlink_rate": "64 kbit/s"}
    frames = {
        "ue": [hello(UE), *flow(UE, CORE, 200, 64e3, 1.0, EF)],
        "core": [hello(CORE), *flow(CORE, UE, 200, 64e3, 1.0, EF), *flow(CORE, UE, 1000, 2 * PEAK, 1.0)],
    }
    frames["core"].sort(key=lambda timed: timed[0])
    emulation = emulate("lte", CELL | {"queue": 20, "bearers": [bearer]}, frames, classes=CLASSES)
    assert lost(emulation)["queue_full"] == of(emulation, False)["dropped"]["full"] > 100
    assert (
        of(emulation, False, "voice")["dropped"]
        == of(emulation, True, "voice")["dropped"]
        == {
            "full": 0,
            "early": 0,
            "expired": 0,
        }
    )
    assert of(emulation, False)["length_s"]


def test_queues_are_made_anew_at_a_handover_with_what_was_said_last() -> None:
    cell = CELL | {
        "stations": {"ue": {"role": "ue", "position": ["400 m", "0 m"]}, "core": {"role": "gateway"}},
        "enodebs": {"west": {}, "east": {"position": ["1 km", "0 m"]}},
        "handover": "none",
    }
    frames = {
        "ue": [hello(UE), *flow(UE, CORE, 1000, 1.15 * PEAK, 5.0)],
        "core": [hello(CORE), *flow(CORE, UE, 1000, 1.15 * PEAK, 5.0)],
    }
    codel = {"discipline": "codel", "bytes": 300e3, "target": 0.005, "interval": 0.1, "ecn": False}
    events = [(1.6, "queue", codel), (2.0, "ue.handover", "east"), (2.6, "ue.handover", "west")]
    emulation = emulate("lte", cell | {"queue": {"bytes": "300 kB"}}, frames, events=events, duration_s=8.0)
    assert [event["to"] for event in emulation.events("handover")] == ["east", "west"]
    assert set(lost(emulation)) >= {"outage", "queue_early"}
    assert emulation.statistics["frames"]["inside"] == 0
    for source, name in ((CORE, "ue"), (UE, "core")):
        assert np.median(delays(emulation, source)[-1000:]) < 200
        assert goodput(emulation, name, source, 1000, 3.5, 5.5) > 0.8 * PEAK
    handed_over_s = emulation.events("handover")[-1]["at_s"] + hello(UE)[0]
    for uplink in (False, True):
        assert sum(of(emulation, uplink)["length_s"]) == pytest.approx(8.0 - handed_over_s, abs=0.1), "the bearer is no older"


def test_another_queue_takes_what_waits_and_a_bad_one_changes_nothing() -> None:
    frames = {"ue": [hello(UE)], "core": [hello(CORE), *flow(CORE, UE, 1000, 200e6, 2e-3)]}
    short = {"discipline": "fifo", "packets": 5}
    emulation = emulate("lte", CELL, frames, events=[(1.003, "queue", short)])
    assert 35 <= lost(emulation)["queue_full"] <= 44
    with pytest.raises(EmulationFailed, match="packets is a whole number from 1 to"):
        emulate("lte", CELL, frames, events=[(1.003, "queue", {"discipline": "fifo", "packets": 0})])
