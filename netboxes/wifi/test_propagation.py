# SPDX-License-Identifier: GPL-2.0-or-later
"""What signals lose on the way, against closed forms. Peers of an ad hoc network, whose broadcasts nobody repeats."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from netboxes.engine.virtual import BROADCAST, emulate, ethernet, mac
from netboxes.wifi.cell_under_test import broadcasts, flow, hello, line, lost
from netboxes.wifi.path_loss import free_space, two_ray


def signal(cell: dict[str, Any], receiver: str = "s1", seed: int = 1) -> float | None:
    """dBm of s0's latest frame at `receiver`; None when it heard none."""
    emulation = emulate("wifi", cell, {"s0": broadcasts(1, 1.0)}, seed=seed)
    links = emulation.statistics["segment"]["stations"][receiver]["links"]
    return links["s0"]["signal"] if "s0" in links else None


def placed(*places: tuple[float, float, float], **changes: Any) -> dict[str, Any]:
    stations = {
        f"s{index}": {"role": "peer", "position": [f"{coordinate} m" for coordinate in place]}
        for index, place in enumerate(places)
    }
    return {"mode": "ad-hoc", "stations": stations, "sensitivity": "-105 dBm"} | changes


@pytest.mark.parametrize("distance", [100.0, 400.0, 800.0])
def test_two_ray_is_free_space_and_then_falls_by_the_fourth_power(distance: float) -> None:
    expected = 20 - two_ray(distance, 1.5)
    cell = line("ad-hoc", 2, distance, propagation="two-ray", tx_power="20 dBm", sensitivity="-105 dBm", noise_figure="0 dB")
    assert signal(cell) == pytest.approx(expected, abs=0.01)


def test_antenna_gains_of_both_ends_count() -> None:
    cell = placed((0, 0, 0), (100, 0, 0), antenna_gain="3 dB")
    cell["stations"]["s1"]["antenna_gain"] = "10 dB"
    assert signal(cell) == pytest.approx(16 + 13 - free_space(100), abs=0.01)


def test_shadowing_has_its_deviation_and_stays_the_same_in_both_directions() -> None:
    shadows = []
    for seed in range(60):
        frames = {"s0": broadcasts(1, 1.0), "s1": [(2.0, ethernet(mac(1), BROADCAST, 0x88B5, b"hello"))]}
        cell = line("ad-hoc", 2, 20, shadowing="6 dB", sensitivity="-105 dBm")
        stations = emulate("wifi", cell, frames, seed=seed).statistics["segment"]["stations"]
        there, back = stations["s1"]["links"]["s0"]["signal"], stations["s0"]["links"]["s1"]["signal"]
        assert there == pytest.approx(back, abs=1e-9)
        shadows.append(16 - free_space(20) - there)
    assert np.mean(shadows) == pytest.approx(0.0, abs=3 * 6 / math.sqrt(60))
    assert np.std(shadows) == pytest.approx(6.0, rel=3 / math.sqrt(2 * 60))


@pytest.mark.parametrize("above_mean", [-6.0, 0.0])
@pytest.mark.parametrize("fading", ["nakagami", "rayleigh"])
def test_rayleigh_outage_is_exponential(fading: str, above_mean: float) -> None:
    """Frames that need so much more than the mean power get through with probability exp(-ratio)."""
    threshold = 16 - free_space(100) + above_mean
    cell = line("ad-hoc", 2, 100, fading=fading, doppler="50 Hz", sensitivity=f"{threshold} dBm", noise_figure="0 dB")
    emulation = emulate("wifi", cell, {"s0": broadcasts(2000, 20e-3)})
    assert len(emulation.received["s1"]) / 2000 == pytest.approx(math.exp(-(10 ** (above_mean / 10))), abs=0.035)


def test_hidden_stations_collide_unless_they_ask_first() -> None:
    stations = {"a": {"role": "station"}, "b": {"role": "station"}, "point": {"role": "access-point"}}
    cell = {"stations": stations, "distance": "30 m", "rate_control": "constant", "rate": "6 Mbit/s"}
    frames = {"a": flow(0, 2, 1000, 8e6, 1.0), "b": flow(1, 2, 1000, 8e6, 1.0), "point": hello(2)}
    carried = {}
    apart: dict[str, Any] = {"hidden": [["a", "b"]]}
    experiments: dict[str, dict[str, Any]] = {"hearing": {}, "hidden": apart, "asking": apart | {"rts_threshold": "0 B"}}
    for name, changes in experiments.items():
        emulation = emulate("wifi", cell | changes, frames, duration_s=2.0)
        carried[name] = sum(0 < time < 2.0 for time, _ in emulation.received["point"])
    assert carried["hidden"] < 0.65 * carried["hearing"] and carried["asking"] > 0.9 * carried["hearing"]


def test_walls_take_their_loss_and_rooms_follow_itu_r_p_1238() -> None:
    house = {"corners": [["0 m", "0 m", "0 m"], ["20 m", "10 m", "6 m"]], "walls": "stone", "floors": 2}
    inside, other_floor, street, behind = (5.0, 5.0, 1.0), (5.0, 5.0, 4.0), (60.0, 5.0, 1.0), (-30.0, 5.0, 1.0)

    def between(a: tuple[float, float, float], b: tuple[float, float, float]) -> float | None:
        return signal(placed(a, b, buildings=[house], noise_figure="0 dB"))

    assert between(inside, street) == pytest.approx(16 - free_space(55) - 12, abs=0.01)
    assert between(behind, street) == pytest.approx(16 - free_space(90) - 2 * 12, abs=0.01)
    assert between(street, (60.0, 65.0, 1.0)) == pytest.approx(16 - free_space(60), abs=0.01)
    room = 20 * math.log10(5180) + 28 * math.log10(10) - 28
    assert between(inside, (15.0, 5.0, 1.0)) == pytest.approx(16 - room, abs=0.01)
    floor = 20 * math.log10(5180) + 28 * math.log10(3) - 28 + 4
    assert between(inside, other_floor) == pytest.approx(16 - floor, abs=0.01)


def test_a_hidden_pair_speaks_through_the_access_point() -> None:
    stations = {"a": {"role": "station"}, "b": {"role": "station"}, "point": {"role": "access-point"}}
    cell = {"stations": stations, "distance": "30 m", "hidden": [["a", "b"]]}
    frames = {"a": flow(0, 1, 500, 0.5e6, 0.5), "b": hello(1)}
    emulation = emulate("wifi", cell, frames)
    assert len(emulation.received["b"]) == 62 and lost(emulation) == {}
