# SPDX-License-Identifier: GPL-2.0-or-later
"""Saturated directions against frame arithmetic done by hand; the C++ tests check numerology and layout by themselves."""

from __future__ import annotations

import math

import pytest

from netboxes.wimax.cell_under_test import (
    BYTES_PER_SYMBOL,
    ETHERNET,
    PDU,
    PROFILES,
    THRESHOLDS_2004_DB,
    arrived,
    cell,
    distance_for,
    goodput_bps,
    link,
    run,
    stream,
)

FRAME_S = 10e-3
SYMBOL_S = 1.25 / 45e3
IP_BYTES = 1000
#: (10 ms - 100 us - 50 us) / 27.78 us = 354, half of them each way.
SUBFRAME = 177


def expected_goodput(burst_symbols: float, bytes_per_symbol: int, extra_bytes: int = 0) -> float:
    """IP bits a second when one burst of so many symbols is full of 1000-byte packets in every frame.

    The burst ends with a tail byte. One SDU a frame is cut in two, which costs a second header and CRC and two subheaders.
    """
    room = burst_symbols * bytes_per_symbol - 1 - extra_bytes - (PDU + 2 * 2)
    sdus = room / (IP_BYTES + ETHERNET + PDU)
    return sdus * IP_BYTES * 8 / FRAME_S


def map_symbols(downlink_bursts: int, grants: int, ranging: bool) -> int:
    """DL-MAP 18 + 4 n, UL-MAP 17 + 6 n bytes with an end element each, and a tail byte, in symbols of 12 bytes."""
    elements = grants + 1 + (1 if ranging else 0) + 1
    return math.ceil((18 + 4 * (downlink_bursts + 1) + 17 + 6 * elements + 1) / 12)


@pytest.mark.parametrize("profile", range(len(PROFILES)), ids=PROFILES)
def test_downlink_saturates_at_what_the_frame_holds(profile: int) -> None:
    per_symbol = BYTES_PER_SYMBOL[profile]
    burst = sum(SUBFRAME - 3 - map_symbols(1, 0, ranging) for ranging in [True] + [False] * 9) / 10
    expected = expected_goodput(burst, per_symbol)
    parameters = cell(distance=distance_for(THRESHOLDS_2004_DB[profile] + 1.2))
    sent = stream(0, 1, ip_bytes=IP_BYTES, rate_bps=1.3 * expected, seconds=3.0)
    result = run(parameters, {"bs": sent})
    assert link(result)["downlink_profile"] == PROFILES[profile]
    assert goodput_bps(arrived(result, 0, 1), 1.0, 3.0) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("profile", range(len(PROFILES)), ids=PROFILES)
def test_uplink_saturates_at_what_the_frame_holds(profile: int) -> None:
    per_symbol = BYTES_PER_SYMBOL[profile]
    # Four request opportunities of 2 symbols, a ranging opportunity of 9 in one frame of ten, a short preamble.
    burst = SUBFRAME - 4 * 2 - 9 / 10 - 1
    expected = expected_goodput(burst, per_symbol, extra_bytes=2)  # a piggybacked request
    parameters = cell(distance=distance_for(THRESHOLDS_2004_DB[profile] + 1.2))
    sent = stream(1, 0, ip_bytes=IP_BYTES, rate_bps=1.3 * expected, seconds=3.0)
    result = run(parameters, {"ss1": sent})
    assert link(result)["uplink_profile"] == PROFILES[profile]
    assert goodput_bps(arrived(result, 1, 0), 1.0, 3.0) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("bandwidth", "frame_ms", "guard", "symbol_s"),
    [("7 MHz", 5.0, "1/8", 36e-6), ("3.5 MHz", 20.0, "1/4", 80e-6), ("20 MHz", 4.0, "1/32", 11.4583e-6)],
)
def test_other_numerologies_scale_the_capacity(bandwidth: str, frame_ms: float, guard: str, symbol_s: float) -> None:
    symbols = math.floor((frame_ms * 1e-3 - 150e-6) / symbol_s)
    parameters = cell(
        bandwidth=bandwidth, frame=f"{frame_ms} ms", guard=guard, distance="1 m", downlink_share=0.6, ranging_interval="2 s"
    )
    burst = math.floor(0.6 * symbols) - 3 - map_symbols(1, 0, False)
    expected = expected_goodput(burst, 108) * FRAME_S / (frame_ms * 1e-3)
    result = run(parameters, {"bs": stream(0, 1, ip_bytes=IP_BYTES, rate_bps=1.2 * expected, seconds=2.0)})
    assert goodput_bps(arrived(result, 0, 1), 1.0, 2.0) == pytest.approx(expected, rel=0.015)


def test_largest_packets_are_cut_and_put_together_again() -> None:
    """A frame of 5 ms at BPSK 1/2 has less room than a 1500-byte packet, so each one crosses in fragments."""
    parameters = cell(frame="5 ms", distance=distance_for(THRESHOLDS_2004_DB[0] + 1.2))
    frames = {
        "ss1": stream(1, 0, ip_bytes=1500, rate_bps=300e3, seconds=3.0),
        "bs": stream(0, 1, ip_bytes=1500, rate_bps=300e3, seconds=3.0),
    }
    result = run(parameters, frames)
    assert result.statistics["frames"]["delivered"] == len(frames["ss1"]) + len(frames["bs"])
    assert [data for _, data in result.received["bs"]] == [data for _, data in frames["ss1"]]
    assert [data for _, data in result.received["ss1"]] == [data for _, data in frames["bs"]]
