# SPDX-License-Identifier: GPL-2.0-or-later
"""What each scheduling service costs in delay, packet by packet beside the clock of the frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contracts.nature import SPEED_OF_LIGHT
from netboxes.engine.virtual import TimedFrame
from netboxes.validation import Chapter, Curve, Figure, Plot
from netboxes.wimax.arithmetic import (
    CRC,
    ETHERNET,
    FRAGMENT,
    HEADER,
    PROFILES,
    REQUEST,
    SHORT_PREAMBLE,
    TAIL,
    Frame,
    next_of,
)
from netboxes.wimax.cell_under_test import VOICE, arrived, cell, delays_ms, run, stream

Times = NDArray[np.float64]

FRAME = Frame()
#: At the 2.5 km of the cell (QPSK 3/4).
PROFILE, PROPAGATION_S = PROFILES[2], 2500.0 / SPEED_OF_LIGHT
IP_BYTES = 102
#: Packets are further apart than the longest delay, and at all phases of a frame.
PACKETS, APART_S = 400, 0.2
#: Standard deviations that a mean may be off.
SIGMAS = 4.0


def chapters() -> Iterator[Chapter]:
    yield _services()
    yield _backoff()
    yield _talkspurts()


@dataclass(frozen=True)
class Service:
    """A way upwards, and when a packet would arrive by it."""

    name: str
    flow: dict[str, Any]
    #: Seconds from a packet's arrival at its station to its arrival at the base station, by the time of the former.
    delays: Callable[[Times], Times]
    #: What it comes to over all phases of the frame, ms.
    mean_ms: float
    uniform_ms: float
    #: Of the cell.
    changes: dict[str, Any] = field(default_factory=dict)
    apart_s: float = APART_S
    #: No chance decides on when a packet goes.
    certain: bool = True


def _slots(times: Times) -> list[float]:
    """When the contention slots of each frame begin, until after the last packet."""
    return [frame * FRAME.duration + FRAME.uplink_start for frame in range(round(times[-1] / FRAME.duration) + 20)]


def _bursts(times: Times) -> list[float]:
    """When the first granted burst of each frame begins to leave its station."""
    slots = _slots(times)
    return [at + FRAME.uplink_overhead(frame) * FRAME.symbol - PROPAGATION_S for frame, at in enumerate(slots)]


def _on_air(polls: int = 0) -> float:
    """From the beginning of a burst to its only packet's end at the base station, after so many polls.

    A request takes 6 of the bytes of its symbol; the rest takes a fragment of the packet.
    """
    waits = IP_BYTES + ETHERNET
    overhead = HEADER + CRC
    if polls > 0:
        overhead += FRAGMENT
        waits -= polls * (PROFILE.symbol_bytes - TAIL - REQUEST - overhead)
    return (SHORT_PREAMBLE + -(-(waits + overhead) // PROFILE.symbol_bytes)) * FRAME.symbol + PROPAGATION_S


def _granted(times: Times) -> Times:
    """UGS: the next burst."""
    starts = _bursts(times)
    return (
        np.array([starts[index] - time for time, index in zip(times, next_of(times.tolist(), starts), strict=True)]) + _on_air()
    )


def _polled(every: int, later: int = 1) -> Callable[[Times], Times]:
    """A request in the next burst of each so many frames; then the burst of a later frame."""

    def delays(times: Times) -> Times:
        starts = _bursts(times)
        polls = starts[::every]
        indices = next_of(times.tolist(), polls)
        waits = [starts[index * every + later] - time for time, index in zip(times, indices, strict=True)]
        return np.array(waits) + _on_air(polls=later if every == 1 else 1)

    return delays


def _contended(times: Times) -> Times:
    """A request in the next frame's contention slots, which begin the uplink subframe; then the burst of the frame after it."""
    starts = _bursts(times)
    indices = next_of(times.tolist(), _slots(times))
    waits = [starts[index + 1] - time for time, index in zip(times, indices, strict=True)]
    return np.array(waits) + _on_air()


def services() -> list[Service]:
    """All of them as they are measured."""
    frame, air = 1e3 * FRAME.duration, 1e3 * _on_air()
    # A burst behind the contention slots; a tenth of them behind a ranging opportunity, too.
    behind = 1e3 * FRAME.symbol * (0.9 * FRAME.uplink_overhead(1) + 0.1 * FRAME.uplink_overhead(0)) - 1e3 * PROPAGATION_S
    grant = {"reserved_rate": "120 kbit/s", "packet_size": f"{IP_BYTES + ETHERNET} B"}
    return [
        Service("UGS", {"scheduling": "UGS"} | grant, _granted, frame / 2 + air, frame),
        # No longer apart than grants are kept that are not needed.
        Service("ertPS", {"scheduling": "ertPS"} | grant, _granted, frame / 2 + air, frame, apart_s=25e-3),
        Service("rtPS", {"scheduling": "rtPS"}, _polled(1), 1.5 * frame + air, frame),
        Service(
            "rtPS, polled each 40 ms",
            {"scheduling": "rtPS", "polling_interval": "40 ms"},
            _polled(4),
            3 * frame + air,
            4 * frame,
        ),
        Service(
            "rtPS, map for the next frame",
            {"scheduling": "rtPS"},
            _polled(1, 2),
            2.5 * frame + 1e3 * _on_air(polls=2),
            frame,
            {"uplink_map": "next-frame"},
        ),
        Service(
            "nrtPS, polled each 80 ms, contention shut",
            {"scheduling": "nrtPS", "polling_interval": "80 ms"},
            _polled(8),
            5 * frame + air,
            8 * frame,
            {"backoff_start": 15, "backoff_end": 15},
            certain=False,
        ),
        Service("nrtPS, contention free", {"scheduling": "nrtPS"}, _contended, 1.5 * frame + behind + air, frame),
        Service("BE", {"scheduling": "BE"}, _contended, 1.5 * frame + behind + air, frame),
    ]


def _apart(apart_s: float = APART_S) -> list[TimedFrame]:
    seconds = PACKETS * apart_s
    return stream(1, 0, ip_bytes=IP_BYTES, rate_bps=8 * IP_BYTES / apart_s, seconds=seconds, start=0.0, dscp=VOICE)


def measure(flow: dict[str, Any], sent: Sequence[TimedFrame], seed: int = 1, **changes: Any) -> tuple[Times, Times]:
    """When packets of a class with that flow entered their station (s), and how long they took (ms)."""
    parameters = cell(service_flows=[{"class": "voice", "direction": "uplink"} | flow], **changes)
    records = arrived(run(parameters, {"ss1": list(sent)}, seed=seed), 1, 0, VOICE)
    if len(records) != len(sent):
        raise AssertionError(f"{len(sent)} packets were sent with {flow}, {len(records)} arrived")
    records = records[np.argsort(records["in_ns"])]
    return records["in_ns"].astype(np.float64) / 1e9, delays_ms(records)


def _services() -> Chapter:
    figures, curves = [], []
    for service in services():
        times, delays = measure(service.flow, _apart(service.apart_s), **service.changes)
        expected = 1e3 * service.delays(times)
        scatter = service.uniform_ms / sqrt(12 * len(delays))
        figures.append(Figure(f"{service.name}: mean", "ms", service.mean_ms, delays.mean(), absolute=SIGMAS * scatter))
        if service.certain:
            worst = float(np.abs(delays - expected).max())
            figures.append(Figure(f"{service.name}: greatest difference of a packet", "ms", 0.0, worst, absolute=1e-3))
        if not service.changes and service.name != "nrtPS, contention free":
            points = list(range(53))
            curves.append(Curve(service.name, points, [float((delays <= at).mean()) for at in points], True))
            lowest = service.mean_ms - service.uniform_ms / 2
            axis = [at / 10 for at in range(521)]
            shares = [min(1.0, max(0.0, (at - lowest) / service.uniform_ms)) for at in axis]
            curves.append(Curve(service.name, axis, shares, False))
    data = round((_on_air() - PROPAGATION_S) / FRAME.symbol) - SHORT_PREAMBLE
    text = f"""
One station at 2.5 km (QPSK 3/4), frames of 10 ms; {PACKETS} packets of {IP_BYTES} bytes, 200 ms apart (25 ms with ertPS, which
else gives its grants up: next chapter but one), at all phases of the frame. Up to the start of the burst that takes it a packet
waits:

- UGS, ertPS: for the next granted burst, 0 to 10 ms;
- rtPS: for the burst with its poll, 0 to an interval, and from there for the burst of the next frame, 10 ms, or of the one
  after it, when maps grant for the next frame;
- nrtPS: where contention takes too long (a first window of 32 768 opportunities) for its poll, as rtPS, but for the few packets
  that draw an early opportunity; else as best effort;
- best effort, alone: for the contention slots of the next frame, where each of four opportunities does, and 10 ms and the
  length of the slots for the burst.

In the symbol of a poll a fragment goes along with the request. The burst has a preamble of a symbol and {data} of data, and
light needs {1e6 * PROPAGATION_S:.1f} us. Ranging opportunities shift one burst of ten by 0.25 ms. Executor are expected as of
arrivals at any phase; tolerance {SIGMAS:g} standard deviations of a mean of {PACKETS} uniform waits. And the same arithmetic
is done for each packet with its own arrival: no packet may be off by more than 1 us."""
    plot = Plot("wimax-delay", "Uplink delay by scheduling service", "ms", "share of packets", curves)
    return Chapter("802.16: uplink delay of each scheduling service", text, figures, [plot])


def _backoff() -> Chapter:
    figures = []
    exponents = (2, 3, 4, 5, 6)
    measured, expected = [], []
    for exponent in exponents:
        window = 2**exponent
        frames = window // FRAME.opportunities
        base = services()[-1]
        _, delays = measure({"scheduling": "BE"}, _apart(0.4), seed=exponent, backoff_start=exponent)
        wait = 1e3 * FRAME.duration * (frames - 1) / 2
        deviation = 1e3 * FRAME.duration * sqrt((frames**2 - 1) / 12 + 1 / 12)
        expected.append(base.mean_ms + wait)
        measured.append(float(delays.mean()))
        figures.append(
            Figure(
                f"window of {window} opportunities: mean",
                "ms",
                expected[-1],
                measured[-1],
                absolute=SIGMAS * deviation / sqrt(PACKETS),
            )
        )
    plot = Plot(
        "wimax-backoff",
        "Best effort, alone: delay by contention window",
        "opportunities in the window",
        "ms",
        [
            Curve("", [2**e for e in exponents], expected, False),
            Curve("", [2**e for e in exponents], measured, True),
        ],
    )
    text = f"""
The same best-effort station with other first windows (`backoff_start`): of W opportunities, {FRAME.opportunities} a frame, it
lets 0 to W - 1 pass, all equally likely (6.3.8), so W / {FRAME.opportunities} - 1 frames more or none. Tolerance as above, of
the mean of two uniform waits."""
    return Chapter("802.16: back-off of a lone station", text, figures, [plot])


def _talkspurts() -> Chapter:
    flow = {"scheduling": "ertPS", "reserved_rate": "120 kbit/s", "packet_size": f"{IP_BYTES + ETHERNET} B"}
    # Speech each 20 ms for a second, then a second of silence.
    whole = stream(1, 0, ip_bytes=IP_BYTES, rate_bps=8 * IP_BYTES / 20e-3, seconds=60.0, start=2.0, dscp=VOICE)
    spurts = [packet for packet in whole if int(packet[0]) % 2 == 0]
    times, delays = measure(flow, spurts)
    # Its grants are given up before the first packet comes, too.
    first = np.concatenate(([True], np.diff(times) > 0.5))
    figures = [
        Figure("after a silence: difference from rtPS", "ms", 0.0, _worst(times, delays, first, _polled(1)), absolute=1e-3),
    ]
    # Whoever comes before the grant that the first one asked for is taken with it.
    settled = ~first & (times - np.maximum.accumulate(np.where(first, times, 0.0)) > 0.025)
    figures.append(Figure("in speech: difference from UGS", "ms", 0.0, _worst(times, delays, settled, _granted), absolute=1e-3))
    text = """
ertPS with speech: 30 times a second of packets each 20 ms, and a second of silence. After four grants that were not needed the
station gives them up, and is polled; the first packet after a silence then takes as long as with rtPS, and from 25 ms later on
packets as long as with UGS. Greatest difference of any packet from that arithmetic; no more than 1 us."""
    return Chapter("802.16: ertPS and silence", text, figures)


def _worst(times: Times, delays: Times, chosen: NDArray[np.bool_], expected: Callable[[Times], Times]) -> float:
    return float(np.abs(delays - 1e3 * expected(times))[chosen].max())
