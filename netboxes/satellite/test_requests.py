# SPDX-License-Identifier: GPL-2.0-or-later
"""Terminals that share the return channel: what they wait for by each way of requesting capacity, and what each of them gets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from netboxes.engine.virtual import emulate
from netboxes.satellite.link_under_test import (
    BURST,
    CONTROL_BURST,
    DELAY,
    HUB,
    MEOC,
    OTHER,
    RETURN_RATE,
    RETURN_SLOT,
    SHARED,
    SLOTS,
    SUPERFRAME,
    delays,
    flow,
    goodput,
    hello,
    lost,
    request_loop,
    shared_by,
)

#: Seldom enough that each packet finds the channel as if nobody had ever sent, and at any time in a superframe.
ALONE = 5.0137
#: 500 bytes are three bursts.
BURSTS = 3


def test_vbdc_takes_a_round_trip_more_than_the_bursts() -> None:
    emulation = emulate("satellite", SHARED | {"capacity_request": "VBDC"}, {"meoc": flow(MEOC, HUB, 500, ALONE, 150)})
    soonest, latest = request_loop()
    measured = delays(emulation, HUB) - DELAY
    # The slots assigned are spread over their superframe; the last of three may be its last but one.
    assert len(measured) == 150
    assert measured.min() >= soonest + BURSTS * RETURN_SLOT
    assert measured.max() <= latest + SUPERFRAME
    assert measured.max() - measured.min() == pytest.approx(SUPERFRAME, rel=0.1)
    statistics = emulation.statistics["segment"]["stations"]["meoc"]
    assert statistics["slots_used"] == statistics["slots_assigned"] == 150 * BURSTS
    assert statistics["requests"] == 150


def test_rbdc_starts_as_late_as_vbdc_and_then_keeps_its_rate() -> None:
    rate = 400e3
    emulation = emulate("satellite", SHARED | {"capacity_request": "RBDC"}, {"meoc": flow(MEOC, HUB, 500, 4000 / rate, 3000)})
    took = delays(emulation, HUB)
    soonest, latest = request_loop()
    assert soonest + BURSTS * RETURN_SLOT <= took[0] - DELAY <= latest + 3 * SUPERFRAME
    # From then on slots come at the rate of the packets, and the wait is a few of their distances.
    assert took[2000:].max() <= DELAY + 3 * SUPERFRAME
    assert lost(emulation) == {}


@pytest.mark.parametrize(("interval", "lead"), [(4, 0.02), (1, 0.2), (3, 0.5)])
def test_rarer_control_slots_and_slower_plans_delay_what_is_asked_for(interval: int, lead: float) -> None:
    link = SHARED | {"capacity_request": "VBDC", "control_interval": interval, "plan_lead": f"{lead} s"}
    emulation = emulate("satellite", link, {"meoc": flow(MEOC, HUB, 100, ALONE, 300)})
    # From a control slot, one in so many superframes, to the superframe whose plan has what was asked for in it.
    loop = math.ceil((CONTROL_BURST + 2 * DELAY + lead) / SUPERFRAME) * SUPERFRAME
    slot = (SLOTS // 2 + 1) * RETURN_SLOT
    measured = delays(emulation, HUB) - DELAY - slot
    assert measured.min() == pytest.approx(loop, abs=0.001)
    assert measured.max() == pytest.approx(loop + interval * SUPERFRAME, abs=0.001)


def test_a_rate_that_is_not_asked_for_again_in_time_ends() -> None:
    # Asked for once in eight superframes, each time for 100 ms: two superframes, now and then three.
    link = SHARED | {"capacity_request": "RBDC", "rbdc_max": "800 kbit/s", "rbdc_timeout": "100 ms", "control_interval": 8}
    emulation = emulate("satellite", link, {"meoc": flow(MEOC, HUB, 1500, 0.01, 2000)}, duration_s=21.0)
    assigned = emulation.statistics["segment"]["stations"]["meoc"]["slots_by_method"]["RBDC"] * BURST * 8 / 19.2
    assert assigned == pytest.approx(800e3 * 2 / 8, rel=0.05)


def test_rbdc_is_given_back_when_nothing_comes_any_more() -> None:
    emulation = emulate(
        "satellite",
        SHARED | {"capacity_request": "RBDC", "rbdc_timeout": "5 s"},
        {"meoc": flow(MEOC, HUB, 500, 0.01, 1000)},
        duration_s=30.0,
        interval_s=1.0,
    )
    rates = [line["statistics"]["stations"]["meoc"]["rate"] for line in emulation.journal if "statistics" in line]
    assert max(rates) >= 400e3
    assert emulation.statistics["segment"]["stations"]["meoc"]["slots_assigned"] < 1.2 * 3 * 1000


def test_free_capacity_needs_no_request() -> None:
    emulation = emulate("satellite", SHARED | {"capacity_request": "FCA"}, {"meoc": flow(MEOC, HUB, 500, ALONE, 150)})
    measured = delays(emulation, HUB) - DELAY
    # Half of the slots each: a slot waited for two slots, and three sent, every other one.
    assert measured.max() <= (2 * (BURSTS + 2) + 2) * RETURN_SLOT
    assert emulation.statistics["segment"]["stations"]["meoc"]["requests"] == 0


def test_cra_waits_for_slots_spread_over_the_superframe() -> None:
    link = SHARED | {"capacity_request": "CRA", "cra_rate": "200 kbit/s"}
    emulation = emulate("satellite", link, {"meoc": flow(MEOC, HUB, 100, 0.7137, 500)})
    measured = delays(emulation, HUB) - DELAY
    distance = BURST * 8 / 200e3
    assert measured.mean() == pytest.approx(distance / 2 + RETURN_SLOT, rel=0.3)
    assert measured.max() <= 2.5 * distance + RETURN_SLOT


@pytest.mark.parametrize("method", ["CRA", "RBDC", "VBDC", "AVBDC", "FCA"])
def test_terminals_share_equally_what_is_too_little_for_all(method: str) -> None:
    count = 5
    frames = {f"t{i}": hello(i) + flow(i, count, 1500, 12000 / 800e3, 1500) for i in range(count)}
    emulation = emulate(
        "satellite", shared_by(count, capacity_request=method, queue={"buffer": "2 s"}), {"hub": hello(count)} | frames
    )
    records = emulation.records[(emulation.records["fate"] == 0) & (emulation.records["station_out"] == count)]
    middle = records[(records["out_ns"] > 8e9) & (records["out_ns"] < 20e9)]
    goodputs = np.array([np.count_nonzero(middle["station_in"] == i) for i in range(count)]) * 1500 * 8 / 12.0
    assert goodputs.max() / goodputs.min() < 1.06
    slots = SLOTS - (0 if method in ("CRA", "FCA") else math.ceil(count / 3))
    alone = RETURN_RATE * slots / SLOTS * 1500 / ((1500 + 6) / (1 - 2 / BURST))
    assert goodputs.sum() == pytest.approx(alone, rel=0.01)


def test_a_second_carrier_doubles_the_channel_but_no_terminal_sends_on_both() -> None:
    link = SHARED | {"capacity_request": "FCA", "return_carriers": 2}
    both = {"meoc": hello(MEOC) + flow(MEOC, HUB, 1500, 12000 / 3e6, 2000), "hub": hello(HUB)}
    alone = emulate("satellite", link, both)
    carrier = RETURN_RATE * 1500 / ((1500 + 6) / (1 - 2 / BURST))
    assert goodput(alone.received["hub"][3:], 1500) == pytest.approx(carrier, rel=0.01)
    together = emulate("satellite", link, both | {"other": hello(OTHER) + flow(OTHER, HUB, 1500, 12000 / 3e6, 2000)})
    assert goodput(together.received["hub"][3:], 1500) == pytest.approx(2 * carrier, rel=0.01)


def test_a_class_with_a_rate_of_its_own_does_not_wait_for_requests() -> None:
    classes = [{"name": "voice", "match": {"dscp": [46]}}]
    link = SHARED | {
        "queue": "priority",
        "capacity_request": "VBDC",
        "request_classes": {"voice": {"capacity_request": "CRA", "cra_rate": "100 kbit/s"}},
    }
    frames = flow(MEOC, HUB, 100, 0.02, 300, dscp=46) + flow(MEOC, HUB, 1000, 0.05, 120)
    emulation = emulate("satellite", link, {"meoc": frames}, classes=classes)
    at_hub = emulation.records[emulation.records["station_out"] == HUB]
    took = (at_hub["out_ns"] - at_hub["in_ns"]) / 1e9
    voice = took[at_hub["class"] == 0] - DELAY
    # The packet in service is sent first (1000 bytes: 6 bursts), then a slot is waited for, then comes its own.
    assert voice.max() <= 8 * BURST * 8 / 100e3
    assert took[at_hub["class"] == 1].mean() > 2 * DELAY


def test_hops_of_a_star_and_of_a_mesh() -> None:
    for connectivity, hops in (("star", 2), ("mesh", 1)):
        link = SHARED | {"connectivity": connectivity, "capacity_request": "FCA"}
        frames = {"meoc": hello(MEOC) + flow(MEOC, OTHER, 500, 0.1, 50), "hub": hello(HUB), "other": hello(OTHER)}
        emulation = emulate("satellite", link, frames)
        took = emulation.records[(emulation.records["station_out"] == OTHER) & (emulation.records["in_ns"] > 0.9e9)]
        assert len(took) == 50
        assert ((took["out_ns"] - took["in_ns"]) / 1e9).mean() == pytest.approx(hops * DELAY, abs=0.01)


def test_requests_lost_in_a_fade_are_made_again() -> None:
    # At -0.2 dB a third of the control bursts is lost, and all of waveform 14.
    link = SHARED | {"capacity_request": "VBDC"}
    events: list[tuple[float, str, Any]] = [(3.0, "meoc.fade_up", 20.2), (4.5, "meoc.fade_up", 0.0)]
    emulation = emulate("satellite", link, {"meoc": flow(MEOC, HUB, 500, 0.05, 200)}, events=events)
    late = emulation.records[(emulation.records["in_ns"] > 6.0e9) & (emulation.records["station_out"] == HUB)]
    assert np.all(late["fate"] == 0)
    assert ((late["out_ns"] - late["in_ns"]) / 1e9).max() <= DELAY + request_loop()[1] + SUPERFRAME


def test_live_rates_of_a_shared_channel() -> None:
    link = SHARED | {"capacity_request": "CRA", "cra_rate": "200 kbit/s"}
    frames = {"meoc": flow(MEOC, HUB, 500, 0.004, 4000)}
    events: list[tuple[float, str, Any]] = [(5.0, "meoc.cra_rate", 800e3), (10.0, "return_rate", 4e6)]
    emulation = emulate("satellite", link, frames, events=events)
    times = np.array([time for time, _ in emulation.received["hub"]])

    def rate(start: float, end: float) -> float:
        return float(np.count_nonzero((times > start) & (times < end)) * 500 * 8 / (end - start))

    share = 500 / ((500 + 6) / (1 - 2 / BURST))
    assert rate(2.0, 5.0) == pytest.approx(200e3 * share, rel=0.05)
    assert rate(6.0, 10.0) == pytest.approx(800e3 * share, rel=0.05)
    assert rate(11.0, 16.0) == pytest.approx(800e3 * share, rel=0.05)  # agreed rates stay; slots are half as long


def test_an_idle_shared_channel_has_no_events() -> None:
    quiet = emulate("satellite", SHARED | {"capacity_request": ["RBDC", "FCA"]}, {"meoc": flow(MEOC, HUB, 100, 3000.0, 2)})
    assert quiet.statistics["segment"]["stations"]["meoc"]["slots_assigned"] > 1_900_000
    assert len(quiet.received["hub"]) == 2
