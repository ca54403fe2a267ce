# SPDX-License-Identifier: GPL-2.0-or-later
"""802.11s: delay and goodput by number of hops."""

from __future__ import annotations

from collections.abc import Iterator

from netboxes.engine.virtual import Emulation, emulate
from netboxes.validation import Chapter, Curve, Figure, Plot
from netboxes.wifi import standard_arithmetic as standard
from netboxes.wifi.cell_under_test import flow, hello, line, lost
from netboxes.wifi.standard_arithmetic import BEST_EFFORT, OFDM

MEGABIT = 1e6
LENGTH, RATE = 1000, 54
MESH_CONTROL = 6  # IEEE 802.11-2020, 9.2.4.7.3, without address extension
#: us that ns-3's mesh points take to forward a frame, on average (uniformly 300 to 400).
FORWARDING = 350.0


def chapters() -> Iterator[Chapter]:
    hops = (1, 2, 3, 4)
    octets = standard.psdu(LENGTH, qos=True) + MESH_CONTROL
    frame = standard.ofdm(RATE, octets)
    single = frame + OFDM.sifs + standard.ofdm_ack(RATE)
    most = LENGTH * 8 / (OFDM.aifs(BEST_EFFORT.aifsn) + OFDM.backoff(BEST_EFFORT.cw_min) + single) * 1e6
    figures, delays, goodputs = [], [], []
    for count in hops:
        light, last = _run(count, 0.2e6, 10.0), f"s{count}"
        assert not lost(light), lost(light)
        arrived = light.records[(light.records["fate"] == 0) & (light.records["in_ns"] >= 5e9)]
        delays.append(float((arrived["out_ns"] - arrived["in_ns"]).mean()) / 1e6)
        goodputs.append(sum(6.0 < at < 9.0 for at, _ in _run(count, 1.3 * most, 4.0).received[last]) * LENGTH * 8 / 3.0 / MEGABIT)
        expected = (count * frame + (count - 1) * FORWARDING) / 1e3
        figures.append(Figure(f"{count} hop{'s' if count > 1 else ''}: mean delay", "ms", expected, delays[-1], relative=0.06))
    figures.append(Figure("1 hop: goodput", "Mbit/s", most / MEGABIT, goodputs[0], relative=0.01))
    curves = [
        Curve("one hop's share", hops, [most / MEGABIT / count for count in hops], False),
        Curve("one hop's share", hops, goodputs, True),
    ]
    plot = Plot("wifi-mesh", "Goodput over hops, saturated", "hops", "goodput, Mbit/s", curves)
    text = f"""
Mesh points of 802.11a at {RATE} Mbit/s in a row, of which each hears its neighbours only; {LENGTH}-byte packets from end to end.
Lightly loaded (25 packets a second), each hop takes its frame of {frame:.0f} us, with the mesh control field, and each mesh point
between two hops the 300 to 400 us in which ns-3 forwards. Tolerance 6 %, all of it upwards: a packet may have to wait for beacons
and for HWMP's frames. Saturated, one hop carries what the standard's overhead leaves. Over more hops there is no closed form, so
it is only drawn, beside an equal share of the channel for each hop: contention with one's own next hop, hidden stations, and
links that ns-3 ends after two frames given up, cost more than that.
"""
    yield Chapter("Mesh", text, figures, [plot])


def _run(hops: int, load: float, seconds: float) -> Emulation:
    names = [f"s{number}" for number in range(hops + 1)]
    hidden = [[near, far] for at, near in enumerate(names) for far in names[at + 2 :]]
    cell = line("mesh", hops + 1, 20, hidden=hidden, rate_control="constant", rate=f"{RATE} Mbit/s", queue=100)
    frames = {"s0": hello(0, 3.0) + flow(0, hops, LENGTH, load, seconds, start=5.0), f"s{hops}": hello(hops, 3.3)}
    return emulate("wifi", cell, frames, duration_s=5.0 + seconds + 0.5)
