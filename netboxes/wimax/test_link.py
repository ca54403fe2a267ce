# SPDX-License-Identifier: GPL-2.0-or-later
"""The radio link: burst profiles by distance, errors at the edge, loss and return of the signal; and who gets which frame."""

from __future__ import annotations

import math

import pytest

from netboxes.engine.virtual import BROADCAST, EmulationFailed, ethernet, mac
from netboxes.wimax.cell_under_test import (
    VOICE,
    arrived,
    cell,
    delays_ms,
    distance_for,
    hello,
    joined,
    link,
    lost,
    run,
    snr_db,
    stream,
)


def test_qpsk_three_quarters_at_two_and_a_half_kilometres() -> None:
    """As the thesis says of its link (30 dBm, 5 GHz, 10 MHz)."""
    result = run(cell(), {"ss1": stream(1, 0, ip_bytes=100, rate_bps=8e3, seconds=0.5)})
    assert (link(result)["uplink_profile"], link(result)["downlink_profile"]) == ("QPSK 3/4", "QPSK 3/4")
    station = result.statistics["segment"]["stations"]["ss1"]
    assert station["snr_db_uplink"] == pytest.approx(snr_db(2500.0), abs=0.05)


@pytest.mark.parametrize(
    ("edition", "noise_figure", "distance", "profile"),
    [
        ("802.16-2004", 5.0, "7.5 km", None),  # 5.5 dB, where BPSK 1/2 wants 6.4
        ("802.16-2004", 4.0, "7.5 km", "BPSK 1/2"),  # 6.5 dB
        ("802.16-2004", 4.0, "2.5 km", "QPSK 3/4"),  # 16.1 dB, where 16-QAM 1/2 wants 16.4
        ("802.16-2009", 5.0, "7.5 km", "BPSK 1/2"),  # wants 3.0
    ],
)
def test_burst_profile_by_edition_and_noise_figure(edition: str, noise_figure: float, distance: str, profile: str | None) -> None:
    parameters = cell(receiver_snr=edition, noise_figure=f"{noise_figure} dB", distance=distance)
    result = run(parameters, {"ss1": stream(1, 0, ip_bytes=100, rate_bps=8e3, seconds=1.0)})
    assert link(result)["uplink_profile"] == profile
    assert lost(result, "outage") == (10 if profile is None else 0)


def test_losses_at_the_threshold_follow_the_anchored_curve() -> None:
    """At BPSK 1/2's receiver SNR the bit error ratio is 1e-6 and nothing but the convolutional code repairs, of which four bits
    are wrong at a time: a block of 12 bytes is wrong with 2.3e-5, a packet of 1000 bytes, in 86 blocks, with 0.2 %."""
    parameters = cell(distance=distance_for(6.4 + 1e-4))
    result = run(parameters, {"bs": stream(0, 1, ip_bytes=1000, rate_bps=1.2e6, seconds=60.0)})
    sent = result.statistics["frames"]["delivered"] + lost(result, "on_air")
    expected = 1.0 - (1.0 - 2.3e-5) ** 86
    spread = 4.0 * math.sqrt(expected / sent)
    assert sent == 9000
    assert lost(result, "on_air") / sent == pytest.approx(expected, abs=spread)


def test_signal_lost_and_found_again() -> None:
    frames = {"ss1": stream(1, 0, ip_bytes=100, rate_bps=40e3, seconds=10.0, dscp=VOICE, start=0.0)}
    result = run(cell(), frames, events=[(3.0, "distance", 12000.0), (6.0, "distance", 2500.0)])
    entered = arrived(result, 1, 0)["in_ns"] / 1e9
    assert (entered < 2.9).sum() == pytest.approx(2.9 * 50, abs=1)
    assert not ((entered > 3.0) & (entered < 6.0)).any()
    # Ranging within a few intervals of 100 ms, then seven frames of registration.
    back = entered[entered > 6.0].min()
    assert 6.07 < back < 6.6
    assert (entered > 6.6).sum() == pytest.approx(3.4 * 50, abs=1)
    assert lost(result, "outage") > 140
    assert link(result)["state"] == "operational"


def test_lost_link_comes_back_only_with_hysteresis() -> None:
    edge = float(distance_for(6.9).split()[0])  # half a dB above BPSK 1/2, hysteresis is one
    frames = {"ss1": stream(1, 0, ip_bytes=100, rate_bps=8e3, seconds=4.0, start=0.0)}
    result = run(cell(), frames, events=[(1.0, "distance", 12000.0), (2.0, "distance", edge)])
    assert link(result)["state"] == "out of range"


def test_broadcast_reaches_everyone_once_at_the_most_robust_profile_in_use() -> None:
    parameters = cell(subscribers=3)
    parameters["stations"]["ss3"]["distance"] = distance_for(8.0)
    assert parameters["stations"]["ss3"]["role"] == "subscriber"
    frames = {
        "bs": [(0.1, ethernet(mac(0), BROADCAST, 0x0806, bytes(46)))],
        "ss1": [(0.2, ethernet(mac(1), BROADCAST, 0x0806, bytes(46)))],
    }
    result = run(parameters, frames)
    assert [len(result.received[s]) for s in ("bs", "ss1", "ss2", "ss3")] == [1, 1, 2, 2]
    assert link(result, "ss3")["downlink_profile"] == "BPSK 1/2"
    first, second = (delays_ms(arrived(result, 0, n))[0] for n in (1, 2))
    # The near stations hear it in the same burst as the far one, but for the propagation.
    assert first == pytest.approx(second, abs=1e-3)


def test_subscribers_reach_each_other_through_the_base_station() -> None:
    frames = {"ss1": stream(1, 2, ip_bytes=200, rate_bps=16e3, seconds=4.0, start=1.0)}
    result = run(cell(subscribers=2), joined(hello(0, 1, 2), frames))
    delays = delays_ms(arrived(result, 1, 2))
    assert len(delays) == 1 + len(frames["ss1"])  # and its first frame, a broadcast
    assert not any(data[0:6] == mac(2) for _, data in result.received["bs"])
    # A request and a grant upwards, then the next downlink subframe.
    assert 15.0 < delays.mean() < 32.0


def test_same_seed_gives_the_same_run_byte_for_byte() -> None:
    parameters = cell(subscribers=3, distance=distance_for(6.5))
    frames = {f"ss{n}": stream(n, 0, ip_bytes=400, rate_bps=200e3, seconds=3.0, port=5000 + n) for n in (1, 2, 3)}
    first, same, other = (run(parameters, frames, seed=seed) for seed in (7, 7, 8))
    assert first.received == same.received
    assert first.records.tobytes() == same.records.tobytes()
    assert first.received != other.received


def test_live_change_of_an_unknown_or_impossible_value_is_refused() -> None:
    frames = {"ss1": stream(1, 0, ip_bytes=100, rate_bps=8e3, seconds=0.5)}
    with pytest.raises(EmulationFailed, match="distance cannot be -1"):
        run(cell(), frames, events=[(0.2, "distance", -1.0)])
    with pytest.raises(EmulationFailed, match="raise ttg to at least"):
        run(cell(), frames, events=[(0.2, "distance", 40e3)])
    with pytest.raises(EmulationFailed, match="no live parameter 'colour'"):
        run(cell(), frames, events=[(0.2, "colour", 1.0)])


def test_fixed_burst_profile_is_kept_whatever_it_loses() -> None:
    frames = {"bs": stream(0, 1, ip_bytes=500, rate_bps=40e3, seconds=3.0)}
    near, far = (run(cell(burst_profile="16-QAM 1/2", distance=distance), frames) for distance in ("500 m", distance_for(13.0)))
    assert link(near)["downlink_profile"] == link(far)["downlink_profile"] == "16-QAM 1/2"
    assert len(arrived(near, 0, 1)) == len(frames["bs"])
    assert lost(far, "on_air") == len(frames["bs"])
    assert len(run(cell(distance=distance_for(13.0)), frames).received["ss1"]) == len(frames["bs"])
