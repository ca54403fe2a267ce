# SPDX-License-Identifier: GPL-2.0-or-later
"""What the satellite link shows of losses: by chance, by the signal, and of coding that follows it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import count as numbers
from typing import Any

import numpy as np

from netboxes.engine.virtual import Emulation, emulate
from netboxes.satellite.link_under_test import (
    BURST,
    DELAY,
    HEADERS,
    HUB,
    LINK,
    MEOC,
    OTHER,
    THREE,
    flow,
    hello,
)
from netboxes.satellite.waveforms import Profile, efficient, forward_profiles, return_profiles
from netboxes.validation import Chapter, Curve, Figure, Plot

COUNT = 20000


def chapters() -> Iterator[Chapter]:
    yield _by_chance()
    yield _by_signal()
    yield _ramp()
    yield _margin()


def _rate(what: str, expected: float, errors: int, count: int = COUNT) -> Figure:
    spread = 4 * math.sqrt(expected * (1 - expected) / count)
    return Figure(f"{what}: packet error rate", "", expected, errors / count, absolute=spread)


def _by_chance() -> Chapter:
    figures = []
    seeds = numbers(1)
    for rate in (1e-3, 1e-2, 1e-1):
        for sender, receiver, direction in ((MEOC, HUB, "terminal to hub"), (HUB, MEOC, "hub to terminal")):
            frames = {"meoc" if sender == MEOC else "hub": flow(sender, receiver, 100, 0.002, COUNT)}
            emulation = emulate("satellite", LINK | {"packet_error_rate": rate}, frames, seed=next(seeds))
            figures.append(_rate(f"{direction}, {rate:g} stated", rate, _errors(emulation)))
        for connectivity, hops in (("star", 2), ("mesh", 1)):
            frames = {"meoc": hello(MEOC) + flow(MEOC, OTHER, 100, 0.002, COUNT), "hub": hello(HUB), "other": hello(OTHER)}
            link = THREE | {"packet_error_rate": rate, "connectivity": connectivity}
            arrived = emulate("satellite", link, frames, seed=next(seeds)).received["other"]
            errors = COUNT - sum(time > 1.0 for time, _ in arrived)
            figures.append(_rate(f"terminal to terminal, {connectivity}, {rate:g} stated", 1 - (1 - rate) ** hops, errors))
    return Chapter(
        "Losses at a stated packet error rate",
        "20 000 packets over each way. Expected: the rate p that is stated, for a hop; 1 - (1 - p)^2 for the two hops of a "
        "star. Tolerance: four standard deviations of the binomial distribution.",
        figures,
    )


def _errors(emulation: Emulation) -> int:
    return int(emulation.statistics["frames"]["lost"]["on_air"])


def _by_signal() -> Chapter:
    figures, curves = [], []
    seeds = numbers(1)
    short = {profile.name: profile for profile in forward_profiles("short")}
    cases: list[tuple[str, dict[str, Any], Profile, bool]] = [
        ("waveform 14 QPSK 1/2", {"return_waveform": 14}, return_profiles(14)[1], False),
        ("waveform 3 QPSK 1/3", {"return_waveform": 3}, return_profiles(3)[0], False),
        ("forward QPSK 3/4, short", {}, short["QPSK 3/4"], True),
    ]
    for name, change, profile, forward in cases:
        signals = [profile.midpoint + z * profile.width for z in (-1.0, 0.0, 1.0, 2.0, 3.0)]
        measured = []
        for signal in signals:
            # Each in a burst or BBFRAME of its own: 28 bytes, one each 10 ms.
            errors = _faded(change | {"return_rate": "1 Mbit/s"}, signal, HEADERS, forward, next(seeds))
            figures.append(_rate(f"{name}, {signal:.2f} dB", profile.error_rate(signal), errors))
            measured.append(errors / COUNT)
        axis = np.linspace(signals[0], signals[-1], 40)
        curves += [
            Curve(name, list(axis), [profile.error_rate(float(x)) for x in axis], measured=False),
            Curve(name, signals, [max(rate, 1e-5) for rate in measured], measured=True),
        ]
    profile = return_profiles(14)[1]
    signal = profile.midpoint + 2 * profile.width
    for length in (500, 1500):
        bursts = math.ceil((length + 6 - 2) / (BURST - 2))
        expected = 1 - (1 - profile.error_rate(signal)) ** bursts
        errors = _faded({"return_waveform": 14}, signal, length, False, next(seeds))
        figures.append(_rate(f"waveform 14, {signal:.2f} dB, {length} bytes in {bursts} bursts", expected, errors))
    return Chapter(
        "Losses by the signal",
        "20 000 packets, each in a burst or BBFRAME of its own, in a fade that takes the signal into the waterfall of its "
        "code; then packets of several bursts, of which none may be lost. Expected: Q((Es/N0 - m) / w) of the README, which "
        "passes through the threshold of EN 302 307-1, Table 13, or of the curves published with SNS3, and 1 - (1 - q)^n for "
        "n bursts; tolerance four standard deviations of the binomial distribution. That those curves are the modems' own is "
        "not shown.",
        figures,
        [Plot("satellite-errors", "Packet error rate", "Es/N0 (dB)", "packet error rate", curves, logarithmic_y=True)],
    )


def _faded(change: dict[str, Any], signal: float, length: int, forward: bool, seed: int) -> int:
    fade = (0.1, "meoc.fade_down" if forward else "meoc.fade_up", 20.0 - signal)
    frames = {"hub": flow(HUB, MEOC, length, 0.01, COUNT)} if forward else {"meoc": flow(MEOC, HUB, length, 0.01, COUNT)}
    return _errors(emulate("satellite", LINK | change, frames, events=[fade], seed=seed))


def _ramp() -> Chapter:
    slope = 0.5  # dB/s
    link = LINK | {
        "coding": "adaptive",
        "forward_frame": "normal",
        "acm_margin": "0 dB",
        "hysteresis": "0 dB",
        "fade_profile": [["0 s", "0 dB"], [f"{24 / slope} s", "24 dB"], [f"{48 / slope} s", "0 dB"]],
    }
    emulation = emulate("satellite", link, {"hub": flow(HUB, MEOC, 100, 0.05, 2000)})
    usable = {"forward": efficient(forward_profiles("normal")), "return": efficient(return_profiles(14))}
    named = {profile.name: profile for profiles in usable.values() for profile in profiles}
    figures = []
    falls: dict[str, list[tuple[float, float]]] = {"forward": [], "return": []}
    farthest = dict.fromkeys(((direction, trend) for direction in usable for trend in ("falls", "rises")), 0.0)
    changes = dict.fromkeys(farthest, 0)
    for line in emulation.events("profile"):
        left, taken = named[line["from"]], named[line["to"]]
        at = line["at_s"] - 0.1 - DELAY
        signal = 20.0 - slope * at if at < 24 / slope else -4.0 + slope * (at - 24 / slope)
        direction, trend = line["direction"], "falls" if at < 24 / slope else "rises"
        threshold = left.threshold if trend == "falls" else taken.threshold
        farthest[direction, trend] = max(farthest[direction, trend], abs(signal - threshold))
        changes[direction, trend] += 1
        if trend == "falls":
            falls[direction].append((signal, left.efficiency))
    for (direction, trend), worst in farthest.items():
        what = f"{direction} coding while the signal {trend}"
        figures.append(Figure(f"{what}: changes", "", len(usable[direction]) - 1, changes[direction, trend]))
        figures.append(Figure(f"{what}: farthest from a threshold", "dB", 0.0, worst, absolute=slope * 0.1 + 0.01))
    down, up = emulation.events("link_down")[0]["at_s"], emulation.events("link_up")[0]["at_s"]
    # The return way is lost first, and found last.
    robust = usable["return"][0]
    figures.append(Figure("link lost", "dB", robust.loss_of_lock, 20.0 - slope * down, absolute=slope * 0.1 + 0.01))
    figures.append(Figure("link found", "dB", robust.threshold, slope * up - 28.0, absolute=slope * 0.1 + 0.01))
    curves = []
    for direction, profiles in usable.items():
        curves.append(Curve(direction, [p.threshold for p in profiles], [p.efficiency for p in profiles], measured=False))
        curves.append(Curve(direction, [s for s, _ in falls[direction]], [e for _, e in falls[direction]], measured=True))
    return Chapter(
        "Adaptive coding during a fade",
        "The signal of 20 dB falls by 0.5 dB a second to -4 dB and rises again; coding is adaptive without margin and "
        "hysteresis (normal FECFRAMEs, bursts of 1616 symbols, `acm_reaction` 100 ms). Expected: all MODCODs and waveforms "
        "worth having are used, each until the signal falls below its threshold, and again from it on (EN 302 307-1, Table "
        "13; README); the sender changes 100 ms and a way of 254 ms later, which is taken off here. The link is lost when "
        "hardly a burst of the most robust waveform is received, three widths below the middle of its waterfall, and found at "
        "its threshold. A profile of fade is looked at ten times a second: so within 0.05 dB, and 0.01 dB for the rounding of "
        "times.",
        figures,
        [Plot("satellite-adaptation", "Coding while the signal falls", "Es/N0 (dB)", "bits a symbol until then", curves)],
    )


def _margin() -> Chapter:
    link = LINK | {
        "coding": "adaptive",
        "forward_frame": "normal",
        "hysteresis": "0 dB",
        "fade_profile": [["0 s", "0 dB"], ["43 s", "21.5 dB"]],
        "return_es_n0": "50 dB",
    }
    figures = []
    for margin in (0.0, 0.2, 0.5):
        emulation = emulate("satellite", link | {"acm_margin": f"{margin} dB"}, {"hub": flow(HUB, MEOC, 1000, 0.005, 8600)})
        expected, deviation = _expected_losses(margin)
        name = f"packets lost of 8600 with a margin of {margin:g} dB"
        figures.append(Figure(name, "", expected, _errors(emulation), absolute=4 * deviation))
    return Chapter(
        "What a margin is for",
        "The same fade, forward, to -1.5 dB, with 200 packets of 1000 bytes a second. Until the hub has heard of it and what "
        "is on its way has arrived, a MODCOD is used below its threshold: for 100 ms, two ways of 254 ms and up to 100 ms "
        "until the fade is looked at, while the signal falls by 0.30 to 0.35 dB, beyond the middle of a waterfall, which is "
        "0.26 dB below the threshold. A margin of 0.5 dB covers that. Expected: the sum over all packets of the error rate "
        "that the MODCOD by the signal of 608 ms before has at the signal at which it arrives; tolerance four standard "
        "deviations.",
        figures,
    )


def _expected_losses(margin: float) -> tuple[float, float]:
    """How many of the packets of _margin are lost, and the standard deviation of that number."""
    profiles = efficient(forward_profiles("normal"))

    def looked_at(seconds: float) -> float:
        return 20.0 - 0.5 * 0.1 * max(0, math.floor(seconds / 0.1))

    expected = variance = 0.0
    for number in range(8600):
        arrival = 0.005 * number + DELAY + 0.005  # a BBFRAME waited for and sent
        signal = looked_at(arrival - 0.1 - 2 * DELAY) - margin
        coding = [profile for profile in profiles if profile.threshold <= signal][-1]
        rate = coding.error_rate(looked_at(arrival))
        expected += rate
        variance += rate * (1 - rate)
    return expected, math.sqrt(variance)
