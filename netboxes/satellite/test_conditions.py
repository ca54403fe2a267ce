# SPDX-License-Identifier: GPL-2.0-or-later
"""What the sky and the orbit do to a link: fades, coding that follows them, rain, satellites that come and go."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contracts.nature import SPEED_OF_LIGHT
from netboxes.engine.virtual import Emulation, EmulationFailed, emulate
from netboxes.satellite.link_under_test import BURST, DELAY, HUB, LINK, MEOC, delays, flow, lost
from netboxes.satellite.orbit import Orbit, slant_range
from netboxes.satellite.parameters import Parameters
from netboxes.satellite.waveforms import efficient, forward_profiles, return_profiles

ADAPTIVE = LINK | {"coding": "adaptive", "forward_frame": "normal"}
Event = tuple[float, str, Any]


def station(emulation: Emulation, name: str = "meoc") -> dict[str, Any]:
    statistics: dict[str, Any] = emulation.statistics["segment"]["stations"][name]
    return statistics


@pytest.mark.parametrize("below_midpoint", [-0.25, 0.0, 0.25])
def test_a_fade_loses_bursts_by_the_waterfall_when_coding_is_fixed(below_midpoint: float) -> None:
    profile = return_profiles(14)[1]
    fade = 20.0 - (profile.midpoint - below_midpoint)
    count = 4000
    frames = {"meoc": flow(MEOC, HUB, 100, 0.01, count)}
    emulation = emulate("satellite", LINK, frames, events=[(1.001, "meoc.fade_up", fade)])
    expected = count * profile.error_rate(20.0 - fade)  # each packet is in one burst of its own
    errors = lost(emulation)["on_air"]
    assert abs(errors - expected) <= 4 * math.sqrt(expected * (1 - expected / count)) + 1


def test_packets_of_one_burst_are_lost_together() -> None:
    profile = return_profiles(14)[1]
    # Bursts of 188 bytes with four packets of 43 bytes each.
    frames = [(t, f) for i in range(2000) for t, f in flow(MEOC, HUB, 43, 1e-6, 4, start=1.0 + i * 0.01)]
    emulation = emulate("satellite", LINK, {"meoc": frames}, events=[(1.0, "meoc.fade_up", 20.0 - profile.midpoint)])
    order = np.argsort(emulation.records["in_ns"], kind="stable")
    fates = (emulation.records["fate"][order] != 0).reshape(-1, 4).sum(axis=1)
    assert np.count_nonzero((fates == 0) | (fates == 4)) >= 1975  # but where a burst began in between
    assert np.count_nonzero(fates == 4) == pytest.approx(1000, abs=90)


def test_adaptive_coding_follows_a_fade_with_the_delay_of_its_loop() -> None:
    emulation = emulate(
        "satellite",
        ADAPTIVE | {"acm_reaction": "100 ms"},
        {"hub": flow(HUB, MEOC, 1000, 0.005, 2000)},
        events=[(3.0, "meoc.fade_down", 10.0), (6.0, "meoc.fade_down", 0.0)],
    )
    changes = [line for line in emulation.events("profile") if line["direction"] == "forward"]
    profiles = efficient(forward_profiles("normal"))
    robust = [p for p in profiles if p.threshold <= 10.0 - 0.5][-1].name
    assert [(line["from"], line["to"]) for line in changes] == [(profiles[-1].name, robust), (robust, profiles[-1].name)]
    # The first frame enters at 1 s: that is the journal's time 0.
    assert [line["at_s"] for line in changes] == pytest.approx([2.0 + 0.1 + DELAY, 5.0 + 0.1 + DELAY], abs=1e-6)
    # What was on its way by the better code when the fade came, or was sent before the hub heard of it, is lost; nothing else.
    failed = emulation.records[emulation.records["fate"] != 0]
    assert failed["in_ns"].min() / 1e9 > 3.0 - DELAY - 0.1
    assert failed["in_ns"].max() / 1e9 < 3.0 + 0.1 + DELAY + 0.02
    assert len(failed) == pytest.approx((2 * DELAY + 0.1) / 0.005, abs=6)


def test_hysteresis_keeps_the_coding_while_the_signal_hovers() -> None:
    threshold = next(p for p in return_profiles(14) if p.name == "19 8PSK 3/4").threshold
    steps = [threshold + 0.5 + 0.2, threshold + 0.5 - 0.1]  # a little above and below what it needs with its margin
    events: list[Event] = [(2.0 + i, "meoc.fade_up", 20.0 - steps[i % 2]) for i in range(8)]
    emulation = emulate("satellite", ADAPTIVE, {"meoc": flow(MEOC, HUB, 100, 0.1, 120)}, events=events)
    changes = [line["to"] for line in emulation.events("profile")]
    assert changes == ["19 8PSK 3/4", "18 8PSK 2/3"]
    freely = emulate("satellite", ADAPTIVE | {"hysteresis": "0 dB"}, {"meoc": flow(MEOC, HUB, 100, 0.1, 120)}, events=events)
    assert len(freely.events("profile")) == 8


def test_a_fade_below_the_most_robust_coding_takes_the_link_down_and_says_so() -> None:
    events: list[Event] = [(3.0, "meoc.fade", 30.0), (6.0, "meoc.fade", 0.0)]
    emulation = emulate("satellite", ADAPTIVE, {"meoc": flow(MEOC, HUB, 100, 0.01, 800)}, events=events)
    down, up = emulation.events("link_down"), emulation.events("link_up")
    assert [(line["at_s"], line["station"], line["reason"]) for line in down] == [(2.0, "meoc", "fade")]
    assert [line["at_s"] for line in up] == [5.0]
    arrivals = np.array([time for time, _ in emulation.received["hub"]])
    assert not np.any((arrivals > 3.0) & (arrivals < 6.0))
    assert station(emulation)["up"] == 1 and station(emulation)["link_losses"] == 1


def test_outage_of_one_station_leaves_the_others_alone() -> None:
    link = LINK | {"stations": LINK["stations"] | {"other": {"role": "terminal"}}}
    frames = {"meoc": flow(0, 1, 100, 0.01, 500), "other": flow(2, 1, 100, 0.01, 500)}
    emulation = emulate("satellite", link, frames, events=[(2.0, "meoc.outage", True), (3.0, "meoc.outage", False)])
    assert {line["station"] for line in emulation.events("link_down")} == {"meoc"}
    assert station(emulation)["lost"]["outage"] == pytest.approx(125.5, abs=1.5)
    assert station(emulation, "other")["lost"] == {}


def test_a_fade_profile_is_a_ramp_from_point_to_point() -> None:
    link = ADAPTIVE | {"fade_profile": [["0 s", "0 dB"], ["2 s", "0 dB"], ["12 s", "20 dB"]], "acm_margin": "0 dB"}
    emulation = emulate("satellite", link, {"hub": flow(HUB, MEOC, 100, 0.1, 160)}, interval_s=0.5)
    samples = [(line["at_s"], line["statistics"]["stations"]["meoc"]) for line in emulation.journal if "statistics" in line]
    for at, sample in samples:
        if 2.0 < at < 12.0:
            assert sample["forward"]["es_n0"] == pytest.approx(20.0 - 2.0 * (at - 2.0), abs=0.21)
    thresholds = {p.name: p.threshold for p in efficient(forward_profiles("normal"))}
    for line in emulation.events("profile"):
        if line["direction"] == "forward":
            # It left a profile when the signal went below what that needs, a loop ago.
            crossed = 2.0 + (20.0 - thresholds[line["from"]]) / 2.0
            assert line["at_s"] - 0.1 - DELAY == pytest.approx(crossed, abs=0.11)


def test_delay_over_time_from_a_file_with_gaps(tmp_path: Path) -> None:
    (tmp_path / "pass.csv").write_text("time_s,delay_s\n0,0.02\n10,0.01\n20,0.02\n")
    (tmp_path / "gaps.csv").write_text("time_s,duration_s\n5,0.5\n12,1\n")
    parameters = LINK | {"delay_profile": "pass.csv", "delay_gaps": "gaps.csv"}
    model = Parameters.model_validate(parameters, context={"folder": tmp_path})
    assert model.delay_gaps == [(5.0, 0.5), (12.0, 1.0)]
    points = [[f"{t} s", f"{d} s"] for t, d in model.delay_profile or []]
    gaps = [["5 s", "500 ms"], ["12 s", "1 s"]]
    emulation = emulate(
        "satellite", LINK | {"delay_profile": points, "delay_gaps": gaps}, {"hub": flow(HUB, MEOC, 100, 0.01, 1800)}
    )
    arrived = emulation.records[emulation.records["fate"] == 0]
    sent = arrived["in_ns"] / 1e9 - 1.0
    took = (arrived["out_ns"] - arrived["in_ns"]) / 1e9
    expected = np.interp(sent, [0, 10, 20], [0.02, 0.01, 0.02])
    assert np.all((took > expected) & (took < expected + 0.0025))
    assert [line["at_s"] for line in emulation.events("link_down")] == [5.0, 12.0]
    assert [line["at_s"] for line in emulation.events("link_up")] == [5.5, 13.0]
    assert lost(emulation)["outage"] == pytest.approx(150, abs=8)


def test_an_orbit_gives_the_delay_of_its_geometry_and_hands_over() -> None:
    orbit = {"altitude": "1200 km", "minimum_elevation": 25, "gap": "200 ms"}
    model = Orbit.model_validate(orbit)
    period = model.period()
    emulation = emulate("satellite", LINK | {"orbit": orbit}, {"hub": flow(HUB, MEOC, 100, period / 200, 500)})
    took = delays(emulation, MEOC)
    assert took.max() == pytest.approx(2 * slant_range(25.0, 1200e3) / SPEED_OF_LIGHT, abs=0.003)
    assert took.min() == pytest.approx(2 * 1200e3 / SPEED_OF_LIGHT, abs=0.003)
    assert [line["at_s"] for line in emulation.events("handover")] == pytest.approx([period, 2 * period], abs=1e-6)
    assert [line["at_s"] for line in emulation.events("link_down")] == pytest.approx([period - 0.2, 2 * period - 0.2], abs=1e-6)


def test_a_seed_gives_the_same_rain() -> None:
    rain = {"rain_rate": 40, "latitude": 45, "elevation": 38, "uplink_frequency": "29.5 GHz", "downlink_frequency": "19.7 GHz"}
    rain |= {"speed_up": 1000, "begins_with": "8 dB"}
    stations = {"meoc": {"role": "terminal", "rain": rain}, "hub": {"role": "gateway"}}

    def series(seed: int) -> list[float]:
        run = emulate(
            "satellite",
            ADAPTIVE | {"stations": stations},
            {"meoc": flow(MEOC, HUB, 100, 0.1, 100)},
            seed=seed,
            duration_s=11.0,
            interval_s=0.5,
        )
        return [line["statistics"]["stations"]["meoc"]["fade_up"] for line in run.journal if "statistics" in line]

    first = series(1)
    assert first[0] == pytest.approx(8.0, abs=0.5)
    assert first == series(1) and first != series(2)


def test_a_return_rate_of_one_terminal_and_waveforms_that_change_it() -> None:
    stations = {"meoc": {"role": "terminal", "return_rate": "1 Mbit/s"}, "hub": {"role": "gateway"}}
    emulation = emulate("satellite", ADAPTIVE | {"stations": stations}, {"meoc": flow(MEOC, HUB, 500, 0.0005, 8000)})
    times = np.array([time for time, _ in emulation.received["hub"]])
    # As many symbols as waveform 14 has at 1 Mbit/s, each with what waveform 22 carries: 599 bytes a burst instead of 188.
    burst = 599
    expected = 1e6 * burst / BURST * 500 / (503 / (1 - 5 / burst))
    assert (len(times) - 1) * 4000 / (times[-1] - times[0]) == pytest.approx(expected, rel=0.01)
    used = station(emulation)["return"]
    assert used["profile"] == "22 16QAM 5/6"
    assert (used["rate"], used["efficiency"]) == pytest.approx((1e6 * burst / BURST, 8 * burst / 1616))
    assert station(emulation)["forward"]["rate"] == pytest.approx(10e6 * 58192 / (90 + 12960) / (48408 / (90 + 32400)))


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("fade", 101.0, "fade cannot be 101.0; it is a number from 0 to 100 dB"),
        ("meoc.fade", -1.0, "from 0 to 100 dB"),
        ("nobody.fade", 1.0, "no station 'nobody'; there are meoc hub"),
        ("meoc.cra_rate", 1e3, "is for `return_channel: shared`"),
        ("hub.delay", 0.1, "is a terminal's; a gateway has fade fade_up fade_down outage"),
        ("meoc.outage", 1, "true or false"),
    ],
)
def test_bad_live_changes_name_what_is_permitted(parameter: str, value: object, message: str) -> None:
    with pytest.raises(EmulationFailed, match=re.escape(message)):
        emulate("satellite", LINK, {"meoc": flow(MEOC, HUB, 100, 0.1, 20)}, events=[(1.5, parameter, value)])


def test_the_delay_of_a_profile_cannot_be_set() -> None:
    link = LINK | {"delay_profile": [["0 s", "20 ms"]]}
    with pytest.raises(EmulationFailed, match="follows `delay_profile` or `orbit`"):
        emulate("satellite", link, {"meoc": flow(MEOC, HUB, 100, 0.1, 20)}, events=[(1.5, "delay", 0.1)])
