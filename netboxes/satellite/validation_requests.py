# SPDX-License-Identifier: GPL-2.0-or-later
"""What terminals on a shared return channel wait for by each way of coming by capacity, what they get, and how they share it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netboxes.engine.virtual import emulate
from netboxes.satellite.link_under_test import (
    BURST,
    DELAY,
    HUB,
    MEOC,
    RETURN_RATE,
    RETURN_SLOT,
    SHARED,
    SLOTS,
    SUPERFRAME,
    delays,
    flow,
    hello,
    in_bursts,
    request_loop,
    shared_by,
)
from netboxes.validation import Chapter, Curve, Figure, Plot

LENGTH = 1500
#: Of what is assigned, after RLE.
LEFT = LENGTH / in_bursts(LENGTH, BURST)
#: Between packets that find the link as if nobody had ever sent, at any time in a slot or superframe, s.
ALONE = 5.0137
#: 20 s for shares: 31 times the 13 superframes after which AVBDC asks anew.
OVER = 31 * 13 * SUPERFRAME


def chapters() -> Iterator[Chapter]:
    yield _delays()
    yield _rates()
    yield _sharing()


def _delays() -> Chapter:
    soonest, latest = request_loop()
    figures: list[Figure] = []
    curves: list[Curve] = []
    # The first place of a superframe is that of the control slot; the second in the order that spreads slots is in its middle.
    places = {"VBDC": SLOTS // 2 + 1, "AVBDC": SLOTS // 2 + 1, "RBDC": 1 + 9}
    for method, ended in places.items():
        if method == "RBDC":
            # Sixty packets at once ask for the whole carrier; the first has nine bursts, in the slots after the control slot.
            took = np.array([_first_of_many((21 + (i + 0.5) / 60) * SUPERFRAME) for i in range(60)])
        else:
            emulation = emulate("satellite", SHARED | {"capacity_request": method}, {"meoc": flow(MEOC, HUB, 100, ALONE, 400)})
            took = delays(emulation, HUB) - DELAY
        sent = ended * RETURN_SLOT
        step = 0.5 if method == "RBDC" else 0.2
        figures += [
            Figure(f"{method}, soonest", "ms", (soonest + sent) * 1e3, took.min() * 1e3, absolute=step),
            Figure(f"{method}, mean", "ms", (soonest + SUPERFRAME / 2 + sent) * 1e3, took.mean() * 1e3, absolute=step),
            Figure(f"{method}, latest", "ms", (latest + sent) * 1e3, took.max() * 1e3, absolute=step),
        ]
        curves += [
            Curve(method, [(soonest + sent) * 1e3, (latest + sent) * 1e3], [0.0, 1.0], measured=False),
            _distribution(method, took),
        ]
    for method, change, waits in (
        ("CRA", {"cra_rate": "200 kbit/s"}, _distances(200e3 * SUPERFRAME / (8 * BURST))),
        ("FCA", {}, _distances(SLOTS / 2)),
    ):
        link = SHARED | {"capacity_request": method} | change
        took = delays(emulate("satellite", link, {"meoc": flow(MEOC, HUB, 100, 0.7137, 2000)}), HUB) - DELAY
        mean = float(np.sum(waits**2) / np.sum(waits) / 2) + RETURN_SLOT
        figures += [
            Figure(f"{method}, mean", "ms", mean * 1e3, took.mean() * 1e3, absolute=0.05),
            Figure(f"{method}, latest", "ms", (waits.max() + RETURN_SLOT) * 1e3, took.max() * 1e3, absolute=0.05),
        ]
        at = np.linspace(0.0, waits.max(), 30)
        share = [float(np.sum(np.minimum(waits, x)) / np.sum(waits)) for x in at]
        curves += [Curve(method, list((at + RETURN_SLOT) * 1e3), share, measured=False), _distribution(method, took)]
    return Chapter(
        "Access delay of each way to come by capacity",
        "Two terminals share a carrier of 2 Mbit/s in superframes of 66 slots (49.6 ms) at 254 ms; one sends a packet of 100 "
        "bytes (one burst) now and then, at any time of a superframe. Figures are from its arrival at the terminal to its "
        "arrival at the hub, less the 254 ms of its own way. With VBDC and AVBDC the superframe that serves it begins "
        f"{soonest * 1e3:.1f} to {latest * 1e3:.1f} ms later by the formula of the README (control burst, two ways, 20 ms of "
        "planning, up to the superframe's start); its slot is the first of those that are spread over the superframe, in its "
        "middle, the very first being for control. For RBDC sixty packets of 1500 bytes come at once, so that the whole "
        "carrier is asked for; the figure is of the first, which takes nine bursts after the control slot. Slots are given in "
        "the order of bits reversed, with CRA of 200 kbit/s 6.6 of 66, with FCA half of them; a packet waits for the rest of "
        "the distance d between slots that it falls into (mean: sum d^2 / 2 sum d), and for its own. Tolerances are the steps "
        "in which arrivals cover a superframe: 0.2 ms, for RBDC 0.5 ms, with CRA and FCA, which have 2000 packets, 0.05 ms.",
        figures,
        [Plot("satellite-access-delay", "Access delay", "access delay (ms)", "share of packets below", curves)],
    )


def _first_of_many(start: float) -> float:
    emulation = emulate(
        "satellite", SHARED | {"capacity_request": "RBDC"}, {"meoc": flow(MEOC, HUB, LENGTH, 1e-6, 60, start=float(start))}
    )
    return float(delays(emulation, HUB)[0] - DELAY)


def _distances(slots: float) -> NDArray[np.float64]:
    """Between the slots of whom so many belong in a superframe, on average, s: the first places of the bit-reversed order."""
    places = sorted(range(SLOTS), key=lambda number: f"{number:032b}"[::-1])
    order = [places.index(number) for number in range(SLOTS)]
    starts: list[int] = []
    for superframe in range(5):  # in which any number of fifths is whole
        count = math.floor((superframe + 1) * slots + 1e-9) - math.floor(superframe * slots + 1e-9)
        starts += sorted(superframe * SLOTS + slot for slot in order[:count])
    return np.diff([*starts, 5 * SLOTS + starts[0]]) * RETURN_SLOT


def _distribution(label: str, took: NDArray[np.float64]) -> Curve:
    quantiles = np.linspace(0.0, 1.0, 11)
    return Curve(label, list(np.quantile(took, quantiles) * 1e3), list(quantiles), measured=True)


def _rates() -> Chapter:
    loop = request_loop()[0]
    # Asked for once the first control slot has come that is more than a loop and two superframes' reserve after the last.
    anew = math.ceil((RETURN_SLOT / 3 + 2 * DELAY + 0.02 + 2 * SUPERFRAME) / SUPERFRAME) * SUPERFRAME
    volume = math.ceil(10e3 / BURST) * BURST * 8
    busy = (SLOTS - 1) / SLOTS * RETURN_RATE  # a slot is for control
    cases: list[tuple[str, dict[str, Any], float, float]] = [
        ("CRA, 128 kbit/s", {"capacity_request": "CRA", "cra_rate": "128 kbit/s"}, 128e3, SUPERFRAME),
        ("CRA, 1 Mbit/s", {"capacity_request": "CRA", "cra_rate": "1 Mbit/s"}, 1e6, SUPERFRAME),
        ("RBDC, at most 128 kbit/s", {"capacity_request": "RBDC", "rbdc_max": "128 kbit/s"}, 128e3, SUPERFRAME),
        ("RBDC, at most 1 Mbit/s", {"capacity_request": "RBDC", "rbdc_max": "1 Mbit/s"}, 1e6, SUPERFRAME),
        ("RBDC, no limit", {"capacity_request": "RBDC"}, busy, SUPERFRAME),
        ("VBDC, at most 10 kB", {"capacity_request": "VBDC", "vbdc_max": "10 kB"}, volume / loop, loop),
        ("VBDC, at most 1 MB", {"capacity_request": "VBDC"}, busy, SUPERFRAME),
        ("AVBDC, at most 10 kB", {"capacity_request": "AVBDC", "vbdc_max": "10 kB"}, volume / anew, anew),
        ("AVBDC, at most 1 MB", {"capacity_request": "AVBDC"}, busy, SUPERFRAME),
        ("FCA, beside another terminal", {"capacity_request": "FCA"}, RETURN_RATE / 2, SUPERFRAME),
        (
            "CRA of 128 kbit/s and FCA",
            {"capacity_request": ["CRA", "FCA"], "cra_rate": "128 kbit/s"},
            RETURN_RATE / 2,
            SUPERFRAME,
        ),
    ]
    figures = []
    for name, change, rate, period in cases:
        measured = _alone(change, period)
        expected = rate * LEFT
        # A packet at each end.
        packet = LENGTH * 8 / (math.floor(40.0 / period) * period)
        figures.append(Figure(f"{name}: goodput", "kbit/s", expected / 1e3, measured / 1e3, absolute=2 * packet / 1e3))
    return Chapter(
        "Rate that each way gives a terminal",
        "One of two terminals has packets of 1500 bytes beyond its capacity, the other is silent. Expected, less RLE: with "
        "CRA the rate agreed on, with RBDC the most that may be asked for; with VBDC the volume that may be outstanding (10 "
        f"kB: 54 bursts) once a loop of {loop * 1e3:.0f} ms, with AVBDC once in {anew * 1e3:.0f} ms, since it asks anew only "
        "when an answer is overdue; without such a limit the carrier less a control slot a superframe; with FCA half of the "
        "carrier, since free capacity goes to both alike, and with CRA beside it as well: what is agreed on counts. Over 40 s "
        "in whole loops; tolerance: a packet at each end.",
        figures,
    )


def _alone(change: dict[str, Any], period: float) -> float:
    frames = {"meoc": hello(MEOC) + flow(MEOC, HUB, LENGTH, LENGTH * 8 / 2.2e6, 9000), "hub": hello(HUB)}
    received = emulate("satellite", SHARED | {"queue": {"buffer": "1 s"}} | change, frames).received["hub"]
    times = np.array([at for at, _ in received])
    over = math.floor(40.0 / period) * period
    return float(np.count_nonzero((times > 6.0) & (times <= 6.0 + over)) * LENGTH * 8 / over)


def _sharing() -> Chapter:
    figures, curves = [], []
    numbers = (2, 5, 10)
    for method in ("CRA", "RBDC", "VBDC", "AVBDC", "FCA"):
        means = []
        for count in numbers:
            goodputs = _shares(method, [1.5 * RETURN_RATE / count] * count)
            fairness = goodputs.sum() ** 2 / (count * (goodputs**2).sum())
            expected = _capacity(method, count)
            name = f"{method}, {count} terminals"
            figures.append(Figure(f"{name}: sum", "kbit/s", expected / 1e3, goodputs.sum() / 1e3, relative=0.005))
            figures.append(Figure(f"{name}: Jain's index", "", 1.0, float(fairness), absolute=1e-4))
            means.append(float(goodputs.mean()) / 1e3)
        expected_means = [_capacity(method, count) / count / 1e3 for count in numbers]
        curves += [Curve(method, numbers, expected_means, measured=False), Curve(method, numbers, means, measured=True)]
    loop = {"AVBDC": 1 / 31}
    wanted = [100e3, 200e3, 400e3, 1.5e6, 1.5e6]
    for method in ("RBDC", "VBDC", "AVBDC", "FCA"):
        capacity = _capacity(method, len(wanted))
        fair = [min(want, capacity / len(wanted)) for want in wanted] if method == "FCA" else _max_min(wanted, capacity)
        for want, expected, got in zip(wanted, fair, _shares(method, wanted), strict=True):
            what = f"{method}, of five one that wants {want / 1e3:.0f} kbit/s"
            figures.append(Figure(what, "kbit/s", expected / 1e3, got / 1e3, relative=loop.get(method, 0.01), absolute=1.2))
    return Chapter(
        "Shares of terminals on one carrier",
        "Two to ten terminals, each with 1.5 times its share of 2 Mbit/s in packets of 1500 bytes, over 20 s. Expected: the "
        "carrier, less a slot for three control bursts where there are requests, less RLE; and equal shares: Jain's index "
        "(sum x)^2 / (n sum x^2) is 1. Tolerances are a packet of each terminal at each end of the 20 s. Then five terminals "
        "that want 100, 200, 400 and twice 1500 kbit/s: expected are max-min fair shares, so that those who want little get "
        "it and the others share the rest; of FCA, which nobody asks for, a fifth at most. Tolerance 1 %: two packets of the "
        "smallest; and a rate is asked for anew only when it changes by 5 %, so that those with RBDC who want little may hold "
        "a little more than they use. With AVBDC packets come by the loop, of which there are 31 in that time: one more or "
        "less is 3.2 %.",
        figures,
        [Plot("satellite-shares", "Goodput of each terminal", "terminals", "goodput (kbit/s)", curves, logarithmic_y=True)],
    )


def _capacity(method: str, terminals: int) -> float:
    """Of the carrier at layer 3: without a slot for three control bursts."""
    slots = SLOTS - (0 if method in ("CRA", "FCA") else math.ceil(terminals / 3))
    return RETURN_RATE * slots / SLOTS * LEFT


def _max_min(wanted: Sequence[float], capacity: float) -> list[float]:
    """Those who want less than an equal share of what is left get it; the others share the rest."""
    shares = [0.0] * len(wanted)
    for done, at in enumerate(sorted(range(len(wanted)), key=lambda i: wanted[i])):
        shares[at] = min(wanted[at], capacity / (len(wanted) - done))
        capacity -= shares[at]
    return shares


def _shares(method: str, wanted: Sequence[float]) -> NDArray[np.float64]:
    """Goodput of each terminal, bit/s at layer 3, that sends so much."""
    count = len(wanted)
    frames = {}
    for i, rate in enumerate(wanted):
        interval = LENGTH * 8 / rate
        frames[f"t{i}"] = hello(i) + flow(i, count, LENGTH, interval, int(26 / interval))
    link = shared_by(count, capacity_request=method, queue={"buffer": "2 s"})
    records = emulate("satellite", link, {"hub": hello(count)} | frames).records
    records = records[(records["fate"] == 0) & (records["station_out"] == count)]
    middle = records[(records["out_ns"] > 6e9) & (records["out_ns"] <= (6.0 + OVER) * 1e9)]
    return np.array([np.count_nonzero(middle["station_in"] == i) for i in range(count)]) * LENGTH * 8 / OVER
