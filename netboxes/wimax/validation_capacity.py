# SPDX-License-Identifier: GPL-2.0-or-later
"""What a saturated cell carries: by burst profile, by packet length, with other frames, and over distance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from netboxes.validation import Chapter, Curve, Figure, Plot
from netboxes.wimax.arithmetic import ETHERNET, PIGGYBACK, PROFILES, Frame, Profile, carried
from netboxes.wimax.cell_under_test import arrived, cell, distance_for, goodput_bps, link, run, snr_db, stream

IP_BYTES = 1000
#: When senders have filled their queues, and for how long is measured: whole cycles of ranging.
STEADY_S, MEASURED_S = 1.0, 4.0
DIRECTIONS = ("downlink", "uplink")


def chapters() -> Iterator[Chapter]:
    yield _profiles()
    yield _frames()
    yield _packets()
    yield _distance()


def expected_bps(frame: Frame, profile: Profile, direction: str, ip_bytes: int = IP_BYTES, **carriage: bool) -> float:
    """Bits of IP a second when each frame has one burst, full of packets of so many bytes."""
    count = round(MEASURED_S / frame.duration)
    if direction == "downlink":
        rooms = [frame.downlink_room(number, profile) for number in range(count)]
    else:
        # The first PDU of a burst says what still waits.
        rooms = [frame.uplink_room(number, profile) - PIGGYBACK for number in range(count)]
    return carried(rooms, ip_bytes + ETHERNET, **carriage) * ip_bytes * 8 / MEASURED_S


def measured_bps(parameters: dict[str, Any], direction: str, offered_bps: float, ip_bytes: int = IP_BYTES) -> tuple[float, Any]:
    """Bits of IP a second that came out, and the run."""
    source, destination, station = (0, 1, "bs") if direction == "downlink" else (1, 0, "ss1")
    sent = stream(source, destination, ip_bytes=ip_bytes, rate_bps=offered_bps, seconds=STEADY_S + MEASURED_S)
    result = run(parameters, {station: sent})
    return goodput_bps(arrived(result, source, destination), STEADY_S, STEADY_S + MEASURED_S), result


def _figure(what: str, expected: float, measured: float, ip_bytes: int = IP_BYTES) -> Figure:
    """One in a thousand, or two packets, may be on the other side of the times between which is counted."""
    packet = 8 * ip_bytes / MEASURED_S
    return Figure(what, "Mbit/s", expected / 1e6, measured / 1e6, relative=1e-3, absolute=2 * packet / 1e6)


def _profiles() -> Chapter:
    figures, curves = [], []
    for direction in DIRECTIONS:
        values = []
        for number, profile in enumerate(PROFILES):
            expected = expected_bps(Frame(), profile, direction)
            parameters = cell(distance=distance_for(profile.thresholds[0] + 1.2))
            measured, result = measured_bps(parameters, direction, 1.1 * expected)
            if (profile_used := link(result)[f"{direction}_profile"]) != profile.name:
                raise AssertionError(f"{profile.name} was wanted, {profile_used} measured")
            values.append((number, expected / 1e6, measured / 1e6))
            figures.append(_figure(f"{profile.name}, {direction}", expected, measured))
        bytes_per_symbol = [PROFILES[number].symbol_bytes for number, _, _ in values]
        curves.append(Curve(direction, bytes_per_symbol, [expected for _, expected, _ in values], False))
        curves.append(Curve(direction, bytes_per_symbol, [measured for _, _, measured in values], True))
    frame = Frame()
    maps, with_ranging = frame.downlink_overhead(1) - 3, frame.downlink_overhead(0) - 3
    requests, ranging = frame.uplink_overhead(1), frame.uplink_overhead(0) - frame.uplink_overhead(1)
    text = f"""
One station and the base, 10 MHz, guard 1/4, frames of 10 ms, packets of {IP_BYTES} bytes, more offered than fits; goodput of
IP. {frame.symbols} symbols of {frame.symbol * 1e6:.2f} us are left of a frame by TTG and RTG, half of them each way. Downwards
a preamble of 2, FCH of 1, and maps of {maps} symbols ({with_ranging} with the element of initial ranging) go off; upwards
{requests} of request opportunities, in each tenth frame {ranging} of ranging, and a preamble. A burst has a tail byte, a PDU 10
bytes of header and CRC, an SDU 14 of Ethernet, and one of them is cut where the burst ends (2 bytes a fragment, and another
PDU); upwards the first PDU has 2 bytes of piggybacked request. Expected is how many packets end in the bursts of
{MEASURED_S:g} s by that arithmetic. The times between which is counted cut packets as well: two of them may differ, or 0.1 %."""
    plot = Plot("wimax-profiles", "Capacity by burst profile", "bytes a symbol", "Mbit/s of IP", curves)
    return Chapter("802.16: capacity of each burst profile", text, figures, [plot])


def _frames() -> Chapter:
    figures = []
    best = PROFILES[-1]
    cases = [
        ("1.75 MHz, 20 ms, guard 1/4", Frame(1.75e6, 1 / 4, 20e-3, ranging_every=5)),
        ("3.5 MHz, 20 ms, guard 1/8", Frame(3.5e6, 1 / 8, 20e-3, ranging_every=5)),
        ("5 MHz, 5 ms, guard 1/16", Frame(5e6, 1 / 16, 5e-3, ranging_every=20)),
        ("7 MHz, 8 ms, guard 1/32", Frame(7e6, 1 / 32, 8e-3, downlink_share=0.6, ranging_every=13)),
        ("10 MHz, 2.5 ms, guard 1/8", Frame(10e6, 1 / 8, 2.5e-3, ranging_every=40)),
        ("20 MHz, 5 ms, guard 1/4", Frame(20e6, 1 / 4, 5e-3, downlink_share=0.3, ranging_every=20)),
    ]
    for name, frame in cases:
        parameters = cell(
            distance="10 m",
            bandwidth=f"{frame.bandwidth} Hz",
            guard=f"1/{round(1 / frame.guard)}",
            frame=f"{frame.duration} s",
            downlink_share=frame.downlink_share,
        )
        for direction in DIRECTIONS:
            expected = expected_bps(frame, best, direction)
            measured, _ = measured_bps(parameters, direction, 1.1 * expected)
            figures.append(_figure(f"{name}, {direction}", expected, measured))
    text = """
The same with other bandwidths (each with its own sampling factor), guards, frames and shares of the downlink, at 64-QAM 3/4.
What a frame has beside data weighs most in the shortest one."""
    return Chapter("802.16: other numerologies and frames", text, figures)


def _packets() -> Chapter:
    carriages: dict[str, dict[str, bool]] = {
        "fragmentation": {},
        "packing": {"packing": True},
        "no fragmentation": {"fragmentation": False},
        "no CRC": {"crc": False},
    }
    lengths = (60, 100, 300, 600, 1000, 1500)
    profile = PROFILES[2]
    figures, curves = [], []
    for name, carriage in carriages.items():
        every = range(60, 1501, 20)
        curves.append(Curve(name, list(every), [_downwards(profile, length, carriage) for length in every], False))
        values = []
        for length in lengths:
            expected = _downwards(profile, length, carriage)
            measured, _ = measured_bps(cell(**carriage), "downlink", 1.15e6 * expected, length)
            values.append(measured / 1e6)
            figures.append(_figure(f"{name}, {length} bytes", 1e6 * expected, measured, length))
        curves.append(Curve(name, lengths, values, True))
    text = """
Downwards at QPSK 3/4, by length of the packets (IP). With packing as many as fit share a PDU of at most 2047 bytes, with 3
bytes each; without fragmentation only whole packets go into a burst, and what is left of it is lost; without CRC a PDU has 4
bytes less. Tolerance as above."""
    plot = Plot("wimax-packets", "Capacity by length of packets, QPSK 3/4", "IP packet, bytes", "Mbit/s of IP", curves)
    return Chapter("802.16: fragmentation, packing, CRC", text, figures, [plot])


def _downwards(profile: Profile, length: int, carriage: dict[str, bool]) -> float:
    return expected_bps(Frame(), profile, "downlink", length, **carriage) / 1e6


def _best(snr: float) -> Profile | None:
    return next((profile for profile in reversed(PROFILES) if snr >= profile.thresholds[0]), None)


def _at(distance_m: float) -> float:
    """Expected Mbit/s of the downlink."""
    profile = _best(snr_db(distance_m))
    return expected_bps(Frame(), profile, "downlink") / 1e6 if profile else 0.0


def _distance() -> Chapter:
    figures, points = [], []
    for metres in (300, 700, 1000, 1400, 1700, 2000, 2300, 3000, 3800, 4300, 4700, 5500, 6300, 6700, 7500):
        expected = _at(metres)
        parameters = cell(distance=f"{metres} m")
        measured, _ = measured_bps(parameters, "downlink", 1.1e6 * (expected or 0.5))
        points.append((metres / 1e3, measured / 1e6))
        figures.append(Figure(f"{metres} m: goodput", "Mbit/s", expected, measured / 1e6, relative=0.005))
    changes, speed = _walk()
    for direction, thresholds in changes.items():
        for (name, threshold), where in thresholds.items():
            due = float(distance_for(threshold).split()[0])
            what = f"{direction}, {name}: at a distance of"
            figures.append(Figure(what, "m", due, where, absolute=2 * speed * Frame().duration))
    axis = [metres / 1e3 for metres in range(200, 7801, 10)]
    plot = Plot(
        "wimax-distance",
        "Goodput over distance, downlink",
        "km",
        "Mbit/s of IP",
        [
            Curve("", axis, [_at(1e3 * km) for km in axis], False),
            Curve("", [x for x, _ in points], [y for _, y in points], True),
        ],
    )
    step = speed * Frame().duration
    text = f"""
30 dBm, 5 GHz, no antenna gain, a noise figure of 5 dB, free space: the SNR (thermal noise in the 9 MHz that the carriers take)
decides on the burst profile by the thresholds of 8.3.11.1 (edition of 2004), the burst profile on goodput. Tolerance 0.5 %:
just inside a threshold up to 0.3 % of packets of {IP_BYTES} bytes are lost on the air (chapter on packet errors).

Then a station goes away at {speed:g} m/s and comes back: each profile is left where the SNR falls below its threshold, and
taken up 1 dB above it (`hysteresis`). The base station looks at the beginning of each frame, in which the station goes {step:g}
m; tolerance two frames. That the link is lost below 6.4 dB and comes back above 7.4 dB is shown by the tests."""
    return Chapter("802.16: goodput over distance, adaptive burst profiles", text, figures, [plot])


def _walk() -> tuple[dict[str, dict[tuple[str, float], float]], float]:
    """Where profiles changed: by way, profile and the SNR that decides. And how fast the station was, m/s."""
    near, far, speed = 200.0, 7000.0, 100.0
    leg_s = (far - near) / speed
    path = [
        {"at": "0 s", "position": [f"{near} m", "0 m"]},
        {"at": f"{leg_s} s", "position": [f"{far} m", "0 m"]},
        {"at": f"{2 * leg_s} s", "position": [f"{near} m", "0 m"]},
    ]
    parameters = cell()
    parameters["stations"]["ss1"] |= {"path": path}
    sent = stream(1, 0, ip_bytes=100, rate_bps=8e3, seconds=2 * leg_s + 1, start=0.0)
    result = run(parameters, {"ss1": sent})
    thresholds = {profile.name: profile.thresholds[0] for profile in PROFILES}
    changes: dict[str, dict[tuple[str, float], float]] = {"away": {}, "back": {}}
    for event in result.events("profile"):
        if event["direction"] == "downlink":
            outwards = event["at_s"] < leg_s
            metres = near + speed * (event["at_s"] if outwards else 2 * leg_s - event["at_s"])
            name = f"{event['from']} to {event['to']}"
            decides = thresholds[event["from"]] if outwards else thresholds[event["to"]] + 1.0
            changes["away" if outwards else "back"][name, decides] = metres
    return changes, speed
