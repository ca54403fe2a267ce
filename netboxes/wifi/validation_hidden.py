# SPDX-License-Identifier: GPL-2.0-or-later
"""Two stations that do not hear each other, with and without RTS/CTS."""

from __future__ import annotations

import math
from collections.abc import Iterator

from netboxes.engine.virtual import emulate
from netboxes.validation import Chapter, Curve, Figure, Plot
from netboxes.wifi import standard_arithmetic as standard
from netboxes.wifi.cell_under_test import cluster, hello, line, poisson, saturated
from netboxes.wifi.contention import hidden_loss
from netboxes.wifi.validation_contention import bianchi

MEGABIT = 1e6
HIDDEN = [["s0", "s1"]]


def chapters() -> Iterator[Chapter]:
    yield _losses()
    yield _saturated()


def _losses() -> Chapter:
    length, seconds = 1000, 40.0
    frame = standard.ofdm(24, standard.psdu(length))
    figures, measured = [], []
    loads = (25, 50, 100, 200, 400)
    for load in loads:
        # The one in the middle hears both; formulas for errors, by which a collision is deadly even when it is short.
        cell = line("ad-hoc", 3, 20, hidden=[["s0", "s2"]], retry_limit=1, rate_control="constant", rate="24 Mbit/s")
        frames = {"s0": poisson(0, 1, length, load, seconds), "s1": hello(1), "s2": poisson(2, 1, length, load, seconds)}
        emulation = emulate("wifi", cell | {"error_model": "nist"}, frames)
        sent = len(frames["s0"]) + len(frames["s2"])
        lost = 1 - len(emulation.received["s1"]) / sent
        measured.append(lost)
        expected = hidden_loss(load * 1e-6, frame)
        # Collisions come in pairs, so the number of independent ones is half of the losses.
        spread = 3 * math.sqrt(2 * expected * (1 - expected) / sent)
        what = f"{load} frames/s from each"
        figures.append(Figure(what, "", expected, lost, relative=0.08, absolute=spread))
    axis = list(range(0, 401, 5))
    curves = [Curve("", axis, [hidden_loss(load * 1e-6, frame) for load in axis], False), Curve("", loads, measured, True)]
    plot = Plot("wifi-hidden-losses", "Frames lost to a hidden station", "frames/s from each", "share lost", curves)
    text = f"""
Ad hoc, 802.11a at 24 Mbit/s: two stations, hidden from each other, send packets of {length} bytes at random times to a third
one between them; nobody repeats a frame. A frame of {frame:.0f} us is lost when the other one's begins less than a frame before
or after it, or while the receiver turns round to acknowledge: 1 - exp(-rate (2 x {frame:.0f} us + SIFS)), pure ALOHA's
vulnerable period. Tolerance: three standard deviations, and 8 % of the value, because the model's frames come at random times
and ours, where they had to wait for an acknowledgement or for their own station's last one, closer together: always a little
more is lost than it says.
"""
    return Chapter("Hidden stations: losses", text, figures, [plot])


def _saturated() -> Chapter:
    lengths = (200, 500, 1000, 1500)
    figures, curves = [], []
    for rts in (False, True):
        access = {"rts_threshold": "0 B"} if rts else {}
        name = "RTS/CTS" if rts else "basic access"
        hearing, apart = [], []
        for length in lengths:
            cell = cluster(2, rate_control="constant", rate="6 Mbit/s") | access
            most = bianchi(2, 6, length, rts)
            hearing.append(sum(saturated(cell, length, most, 4.0)) / MEGABIT)
            apart.append(sum(saturated(cell | {"hidden": HIDDEN}, length, most, 4.0)) / MEGABIT)
            what = f"{name}, hearing each other, {length} bytes"
            figures.append(Figure(what, "Mbit/s", most / MEGABIT, hearing[-1], relative=0.03))
            if rts:
                what = f"{name}, hidden, {length} bytes"
                figures.append(Figure(what, "Mbit/s", most / MEGABIT, apart[-1], relative=0.06))
        every = range(100, 1501, 50)
        curves += [
            Curve(f"{name}, hearing", list(every), [bianchi(2, 6, length, rts) / MEGABIT for length in every], False),
            Curve(f"{name}, hearing", lengths, hearing, True),
            Curve(f"{name}, hidden", lengths, apart, True),
        ]
    plot = Plot("wifi-hidden", "Two saturated stations at 6 Mbit/s", "layer-3 packet, bytes", "Mbit/s in all", curves)
    text = """
Two stations of an access point that always have a packet to send, at 6 Mbit/s. Hearing each other, they get what Bianchi's model
says. Hidden, without RTS/CTS, less the longer their frames are, because a frame is in danger as long as it lasts; there is no
closed form for that with backoff, so it is only drawn. With RTS/CTS only an RTS of 52 us is in danger, whatever the length, and
Bianchi's figure for stations that hear each other is nearly reached: up to 6 % less, the more RTS there are, since two that are
hidden collide when their RTS come within 52 us and not only in the same slot of 9 us.
"""
    return Chapter("Hidden stations: RTS/CTS", text, figures, [plot])
