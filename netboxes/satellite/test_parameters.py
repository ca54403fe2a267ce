# SPDX-License-Identifier: GPL-2.0-or-later
"""What is refused, and with which words; rain against figures of the Recommendations."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import pytest
from pydantic import ValidationError

from contracts.installation import CHECKOUT
from netboxes.satellite import rain
from netboxes.satellite.itu_examples import PERCENTAGES, examples
from netboxes.satellite.link_under_test import LINK, SHARED, SLOTS, shared_by
from netboxes.satellite.orbit import Orbit
from netboxes.satellite.parameters import Parameters
from netboxes.satellite.waveforms import efficient, forward_profiles
from netboxes.satellite.weather import Rain
from testbed.description import topology_file

SKY = {"rain_rate": 42, "latitude": 44.6, "elevation": 38, "uplink_frequency": "29.5 GHz", "downlink_frequency": "19.7 GHz"}


@pytest.mark.parametrize("name", ["satellite", "satellite-meo", "satellite-leo"])
def test_the_example_topologies_are_accepted(name: str) -> None:
    link = topology_file.load(CHECKOUT / "topologies" / f"{name}.yaml").netboxes["backhaul"]
    assert link.technology == "satellite"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"forward_modulation": "8PSK", "forward_code_rate": "1/2"}, "DVB-S2 has no 8PSK 1/2 .*Table 12.*there are 3/5, 2/3"),
        ({"forward_es_n0": "3 dB"}, "QPSK 3/4 needs 4.28 dB .*Table 13.*`forward_es_n0` is 3 dB"),
        ({"return_es_n0": "1 dB", "return_waveform": 14}, "14 QPSK 1/2 needs 1.70 dB"),
        ({"fade": "101 dB"}, "outside 0 dB … 100 dB"),
        ({"orbit": {"altitude": "100 km"}}, "outside 160 km … 20000 km"),
        ({"orbit": {"altitude": "800 km"}, "delay_gaps": [["1 s", "1 s"]]}, "`orbit` says the delay and its gaps"),
        ({"orbit": {"altitude": "800 km", "highest_elevation": 9}}, "must be above `minimum_elevation`"),
        ({"delay_gaps": [["5 s", "2 s"], ["6 s", "1 s"]]}, "begins before that at 5 s ends"),
        ({"stations": {"a": {"role": "terminal"}, "b": {"role": "gateway", "delay": "1 s"}}}, "`delay` is a terminal's"),
        ({"queue": {"buffer": "61 s"}}, "outside 1 ms … 1 min"),
        ({"forward_rate": "5 kbit/s"}, "at `forward_rate` of 5 kbit/s QPSK 3/4 takes 2.3 s, longer than 2 s; choose 5.86 kbit/s"),
        ({"return_rate": "1 kbit/s", "return_waveform": 22}, "`return_rate` of 1 kbit/s 22 16QAM 5/6 takes 4.8 s"),
    ],
)
def test_bad_links_are_refused_with_range_and_source(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Parameters.model_validate(LINK | change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"capacity_request": ["RBDC", "VBDC"]}, "ask for the same packets twice"),
        ({"capacity_request": "DAMA"}, "'CRA', 'RBDC', 'VBDC', 'AVBDC' or 'FCA'"),
        ({"cra_rate": "1.1 Mbit/s"}, "constant rates of 2200 kbit/s are agreed on, and the channel has 2000 kbit/s"),
        ({"superframe": "1 s", "return_rate": "100 Mbit/s"}, "more than the 4096 .*can last 0.062 s"),
        ({"superframe": "1 ms", "capacity_request": "VBDC", "return_rate": "1 Mbit/s"}, "control slots fill the superframe"),
    ],
)
def test_bad_shared_channels_are_refused_with_what_would_do(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Parameters.model_validate(SHARED | change)


def test_a_superframe_is_whole_slots_and_terminals_that_ask_need_control_slots() -> None:
    assert Parameters.model_validate(SHARED).slots_per_carrier == SLOTS
    assert Parameters.model_validate(shared_by(7, capacity_request="RBDC")).traffic_slots() == SLOTS - 3
    assert Parameters.model_validate(shared_by(7, capacity_request="RBDC", control_interval=8)).traffic_slots() == SLOTS - 1


def test_spectral_efficiencies_are_those_of_table_13() -> None:
    # EN 302 307-1, Table 13: information bits a symbol, normal FECFRAMEs; that counts the BBFRAME without its header.
    stated = [
        *(0.490243, 0.656448, 0.789412, 0.988858, 1.188304, 1.322253, 1.487473, 1.587196, 1.654663, 1.766451, 1.788612),
        *(1.779991, 1.980636, 2.228124, 2.478562, 2.646012, 2.679207),
        *(2.637201, 2.966728, 3.165623, 3.300184, 3.523143, 3.567342),
        *(3.703295, 3.951571, 4.119540, 4.397854, 4.453027),
    ]
    assert [(profile.bits - 80) / profile.symbols for profile in forward_profiles("normal")] == pytest.approx(stated, rel=1e-6)
    assert [p.efficiency for p in efficient(forward_profiles("normal"))] == sorted(
        p.efficiency for p in efficient(forward_profiles("normal"))
    )


@pytest.mark.parametrize(
    ("ghz", "horizontal", "vertical"),
    # P.838-3, Table 5: k and alpha at some frequencies.
    [
        (12, (0.02386, 1.1825), (0.02455, 1.1216)),
        (20, (0.09164, 1.0568), (0.09611, 0.9847)),
        (30, (0.2403, 0.9485), (0.2291, 0.9129)),
    ],
)
def test_specific_attenuation_is_that_of_the_tables(
    ghz: float, horizontal: tuple[float, float], vertical: tuple[float, float]
) -> None:
    for tilt, (k, alpha) in ((0.0, horizontal), (90.0, vertical)):
        assert rain.specific_attenuation(ghz * 1e9, 30.0, 0.0, tilt) == pytest.approx(k * 30.0**alpha, rel=0.002)


def test_rain_attenuation_is_that_of_the_examples_of_study_group_3() -> None:
    for path, attenuations in examples():
        measured = [rain.attenuation(path, percentage) for percentage in PERCENTAGES]
        assert measured == pytest.approx(attenuations, rel=1e-6)


def test_rain_attenuation_grows_with_frequency_and_rarity_and_fits_its_log_normal() -> None:
    climate = Rain.model_validate(SKY)
    up, down = climate.path(29.5e9), climate.path(19.7e9)
    assert rain.attenuation(up, 0.01) == pytest.approx(rain.attenuation_001(up))
    assert rain.attenuation(up, 0.1) < rain.attenuation(up, 0.01)
    # P.618-13, 2.2.1.3.2: scaling from one frequency to another gives nearly the same as the prediction.
    assert rain.attenuation(up, 0.01) / rain.attenuation(down, 0.01) == pytest.approx(1.87, rel=0.15)
    fitted = climate.link(29.5e9)
    for percentage in (0.03, 0.1, 0.5, 1.0):
        at = rain.attenuation(up, percentage)
        assert math.log(at) == pytest.approx(fitted.mean + fitted.deviation * _quantile(percentage), abs=0.25)


def _quantile(percentage: float) -> float:
    return NormalDist().inv_cdf(1 - percentage / 100)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rain_rate": 0.5}, "greater than or equal to 1"),
        ({"elevation": 3}, "greater than or equal to 5"),
        ({"uplink_frequency": "60 GHz"}, "outside 1 GHz … 55 GHz"),
        ({"height": "4 km", "rain_height": "3 km"}, "no rain reaches a station at 4000 m: it is at 3000 m"),
    ],
)
def test_rain_that_cannot_be_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Rain.model_validate(SKY | change)


def test_passes_last_as_long_as_their_geometry_says() -> None:
    # Iridium's polar orbit (780 km, 100.4 minutes), overhead, above 10 degrees: 18.7 degrees of it before and after.
    iridium = Orbit(altitude="780 km", minimum_elevation=10.0)
    assert iridium.pass_time() == pytest.approx(2 * 18.67 / 360 * 100.4 * 60, rel=0.002)
    # O3b comes round every 6 hours as seen from the turning earth: 8 satellites, one every 45 minutes.
    o3b = Orbit(altitude="8063 km", inclination=0.0)
    assert 2 * math.pi / o3b.angular_speed() == pytest.approx(6 * 3600, rel=0.01)
