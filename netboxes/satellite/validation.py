# SPDX-License-Identifier: GPL-2.0-or-later
"""What the satellite link shows to be believed: rates and delays; further chapters are in the other validation_*.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from netboxes.engine.virtual import emulate
from netboxes.satellite import validation_errors, validation_passes, validation_rain, validation_requests
from netboxes.satellite.link_under_test import (
    DELAY,
    FORWARD_SLOT,
    HUB,
    LINK,
    MEOC,
    OTHER,
    RETURN_RATE,
    RETURN_SLOT,
    THREE,
    delays,
    flow,
    goodput,
    hello,
    in_bbframes,
    in_bursts,
)
from netboxes.satellite.waveforms import Profile, efficient, find, forward_profiles, return_profiles
from netboxes.validation import Chapter, Curve, Figure, Plot

LENGTH = 1500
FORWARD_RATE = 10e6


def chapters() -> Iterator[Chapter]:
    yield _forward_rates()
    yield _fixed_rates()
    yield _return_rates()
    yield _delays()
    yield from validation_requests.chapters()
    yield from validation_errors.chapters()
    yield from validation_rain.chapters()
    yield from validation_passes.chapters()


def _forward_goodput(link: dict[str, Any], expected: float) -> float:
    frames = flow(HUB, MEOC, LENGTH, LENGTH * 8 / (expected * 1.3), int(expected * 2.0 / LENGTH / 8) + 50)
    return goodput(emulate("satellite", LINK | link, {"hub": frames}).received["meoc"], LENGTH)


def _forward_rates() -> Chapter:
    profiles = forward_profiles("normal")
    reference = find(profiles, "QPSK 3/4")
    assert reference is not None
    symbols_a_second = FORWARD_RATE / reference.efficiency
    figures = []
    usable = efficient(profiles)
    for profile in usable:
        link = {"coding": "adaptive", "forward_frame": "normal", "forward_es_n0": f"{profile.threshold + 0.51:.3f} dB"}
        carried = symbols_a_second / profile.symbols * profile.payload * 8
        expected = carried * LENGTH / in_bbframes(LENGTH, profile.payload)
        measured = _forward_goodput(link | {"hysteresis": "0 dB"}, expected)
        figures.append(Figure(f"{profile.name}: goodput", "Mbit/s", expected / 1e6, measured / 1e6, relative=0.005))
    return Chapter(
        "Forward rate of each modulation and coding",
        "A forward channel whose rate is stated as 10 Mbit/s with QPSK 3/4 (normal FECFRAMEs), with adaptive coding, at 0.51 dB "
        "more than each threshold of EN 302 307-1, Table 13, that is worth having; packets of 1500 bytes beyond its capacity. "
        "Expected: as many PLFRAMEs a second as the same symbol rate gives (90 symbols of PLHEADER, no pilots), each with the "
        "BBFRAME of Table 5a less 80 bits, less GSE: 14 bytes a packet and 3 a BBFRAME entered, or 7 a packet and 10 a BBFRAME. "
        "The tolerance of 0.5 % is a BBFRAME at each end of a run of two seconds, which has 400 or more.",
        figures,
        [_steps("satellite-forward-rates", "Goodput of the forward channel", usable, figures)],
    )


def _fixed_rates() -> Chapter:
    figures = []
    for frame in ("normal", "short"):
        for profile in forward_profiles(frame):
            modulation, code_rate = profile.name.split()
            link = {
                "forward_frame": frame,
                "forward_modulation": modulation,
                "forward_code_rate": code_rate,
                "forward_es_n0": "30 dB",
            }
            carried = FORWARD_RATE * profile.payload * 8 / profile.bits
            expected = carried * LENGTH / in_bbframes(LENGTH, profile.payload)
            ratio = _forward_goodput(link, expected) / expected
            figures.append(Figure(f"{profile.name}, {frame} FECFRAMEs", "", 1.0, ratio, absolute=0.005))
    worst = [max(figures[:28], key=_off), max(figures[28:], key=_off)]
    names = [f"{len(group)} MODCODs, {group[0].what.split(', ')[1]}" for group in (figures[:28], figures[28:])]
    return Chapter(
        "Forward rate of each modulation and coding when it is fixed",
        "All 28 MODCODs with normal FECFRAMEs and all 26 with short ones (Tables 5a, 5b, 12), each stated and fixed, with a "
        "rate of 10 Mbit/s: goodput of packets of 1500 bytes over what is left of the rate after the BBHEADER and GSE. The "
        "figures are the worst of each length; tolerance as above.",
        [
            Figure(f"{name}; worst is {figure.what.split(',')[0]}", "", figure.expected, figure.measured, absolute=0.005)
            for name, figure in zip(names, worst, strict=True)
        ],
    )


def _off(figure: Figure) -> float:
    return abs(figure.measured - figure.expected)


def _return_rates() -> Chapter:
    figures, plots = [], []
    for waveform, name in ((14, "1616"), (4, "536")):
        profiles = return_profiles(waveform)
        reference = next(p for p in profiles if p.name.startswith(f"{waveform} "))
        usable = efficient(profiles)
        own = []
        for profile in usable:
            link = LINK | {
                "coding": "adaptive",
                "hysteresis": "0 dB",
                "return_waveform": waveform,
                "return_es_n0": f"{profile.threshold + 0.51:.3f} dB",
            }
            carried = RETURN_RATE * profile.bits / reference.bits
            expected = carried * LENGTH / in_bursts(LENGTH, profile.payload)
            frames = flow(MEOC, HUB, LENGTH, LENGTH * 8 / (expected * 1.3), int(expected * 4.0 / LENGTH / 8) + 50)
            measured = goodput(emulate("satellite", link, {"meoc": frames}).received["hub"], LENGTH)
            own.append(Figure(f"waveform {profile.name}: goodput", "Mbit/s", expected / 1e6, measured / 1e6, relative=0.003))
        figures += own
        title = f"Goodput of a return carrier, bursts of {name} symbols"
        plots.append(_steps(f"satellite-return-rates-{name}", title, usable, own))
    return Chapter(
        "Return rate of each waveform",
        "A terminal's own carrier, 2 Mbit/s stated with waveform 14 (bursts of 1616 symbols) or 4 (536), at 0.51 dB above the "
        "threshold of each waveform that is worth having. Expected: as many bursts a second whatever the waveform, each with its "
        "payload (EN 301 545-2, Table A-1), less RLE: 6 bytes a packet and 2 a burst entered, or 3 a packet and 5 a burst. The "
        "tolerance of 0.3 % is a packet more or less in a run of four seconds, which has 400 or more.",
        figures,
        plots,
    )


def _steps(name: str, title: str, profiles: list[Profile], figures: list[Figure]) -> Plot:
    thresholds = [profile.threshold for profile in profiles]
    return Plot(
        name,
        title,
        "threshold Es/N0 (dB)",
        "goodput (Mbit/s)",
        [
            Curve("goodput", thresholds, [figure.expected for figure in figures], measured=False),
            Curve("goodput", thresholds, [figure.measured for figure in figures], measured=True),
        ],
    )


def _delays() -> Chapter:
    figures: list[Figure] = []
    alone = emulate("satellite", LINK, {"meoc": flow(MEOC, HUB, 500, 0.0073, 1000)})
    figures += _spread("own carrier, terminal to hub, 500 bytes", 3, RETURN_SLOT, delays(alone, HUB))
    alone = emulate("satellite", LINK, {"hub": flow(HUB, MEOC, 500, 0.0073, 1000)})
    figures += _spread("hub to terminal, 500 bytes", 1, FORWARD_SLOT, delays(alone, MEOC))
    for connectivity, hops in (("star", 2), ("mesh", 1)):
        frames = {"meoc": hello(MEOC) + flow(MEOC, OTHER, 500, 0.0173, 1000), "hub": hello(HUB), "other": hello(OTHER)}
        records = emulate("satellite", THREE | {"connectivity": connectivity}, frames).records
        records = records[(records["station_out"] == OTHER) & (records["in_ns"] > 0.9e9)]
        # A burst ends at any time of the hub's BBFRAMEs.
        expected = hops * DELAY + 3.5 * RETURN_SLOT + (hops - 1) * 1.5 * FORWARD_SLOT
        took = (records["out_ns"] - records["in_ns"]) / 1e9
        figures.append(_milliseconds(f"terminal to terminal, {connectivity}: mean", expected, float(took.mean())))
    return Chapter(
        "Delay of a star and of a mesh",
        "254 ms a hop, carriers of 2 and 10 Mbit/s of their own, a packet now and then, at any time of a slot. Expected: none "
        "to one slot waited for, the slots sent (three bursts of 0.752 ms back, one BBFRAME of 1.171 ms forward), the "
        "propagation of each hop. A thousand packets cover a slot in steps of a few microseconds; 0.02 ms are allowed for "
        "that.",
        figures,
    )


def _spread(what: str, slots: int, slot: float, measured: Any) -> Iterator[Figure]:
    yield _milliseconds(f"{what}: least", DELAY + slots * slot, float(np.min(measured)))
    yield _milliseconds(f"{what}: mean", DELAY + (slots + 0.5) * slot, float(np.mean(measured)))
    yield _milliseconds(f"{what}: most", DELAY + (slots + 1) * slot, float(np.max(measured)))


def _milliseconds(what: str, expected: float, measured: float) -> Figure:
    return Figure(what, "ms", expected * 1e3, measured * 1e3, absolute=0.02)
