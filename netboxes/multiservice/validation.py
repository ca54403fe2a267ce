# SPDX-License-Identifier: GPL-2.0-or-later
"""The link layer beside the figures of its source and closed forms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp, sqrt
from typing import Any

import numpy as np

from contracts.names import repetition_seed
from netboxes.engine.virtual import Change, Emulation, TimedFrame, emulate, udp
from netboxes.multiservice.profiles import PROFILES, ProfileName
from netboxes.multiservice.traffic import SILENCE, TALK, TRAFFIC
from netboxes.validation import Chapter, Curve, Figure, Plot
from results.records import Fate

#: Standard deviations that a measured share may be off: by chance one in 370 is.
SIGMAS = 3.0
SPEECH = 46
CLASSES = ({"name": "speech", "match": {"dscp": [SPEECH]}},)
NAMES: dict[ProfileName, str] = {"cellular": "Cellular", "pcs": "PCS", "wlan": "WLAN"}


def chapters() -> Iterator[Chapter]:
    yield _paths()
    yield _recovery()
    yield _errors()
    yield _residual_losses()
    yield _conferencing()


def _packets(times: Sequence[float] | np.ndarray[Any, Any], payload: int) -> list[TimedFrame]:
    return [(float(at), udp(0, 1, payload, dscp=SPEECH, identification=number)) for number, at in enumerate(times)]


def over(profile: ProfileName, frames: Sequence[TimedFrame], scheme: dict[str, Any] | None = None, **more: Any) -> Emulation:
    """Frames that go by one link of the source, from the base to the mobile."""
    events: Sequence[Change] = more.pop("events", ())
    seed: int = more.pop("seed", 1)
    services = [{"class": "speech", **scheme}] if scheme else []
    link = {"stations": {"base": {}, "mobile": {}}, "profile": profile, "services": services, **more}
    return emulate("multiservice", link, {"base": frames}, classes=CLASSES, events=events, seed=seed)


def wire(frames: Sequence[TimedFrame], rate: str, delay: str) -> list[TimedFrame]:
    """What comes out of the other end of a wire."""
    link = {"stations": {"a": {}, "b": {}}, "rate": rate, "delay": delay, "overhead": "0 B"}
    return emulate("link", link, {"a": frames}).received["b"]


def _paths() -> Chapter:
    expected: dict[ProfileName, tuple[float, ...]] = {
        "cellular": (129.4, 178.5, 257.7, 306.9),
        "pcs": (82.6, 132.4, 164.0, 213.8),
        "wlan": (8.80, 61.0, 15.8, 68.0),
    }
    figures = []
    for profile, delays_ms in expected.items():
        measured = []
        for links in (1, 2):
            for rate, delay in (("10 Mbit/s", "1 ms"), ("2 Mbit/s", "50 ms")):
                frames = _packets([1.0], PROFILES[profile].frame)
                frames = over(profile, frames).received["mobile"] if links == 2 else frames
                frames = over(profile, wire(frames, rate, delay)).received["mobile"]
                measured.append((frames[0][0] - 1) * 1e3)
        figures += [
            Figure(f"{NAMES[profile]}, {path}", "ms", delay_ms, ran, absolute=1.0)
            for path, delay_ms, ran in zip(("LAN1", "WAN1", "LAN2", "WAN2"), delays_ms, measured, strict=True)
        ]
    text = """
The topologies of Xylomenos (1999, 3.3): a LAN of 10 Mbit/s and 1 ms or a WAN of 2 Mbit/s and 50 ms, and one wireless link, or
one at each of its ends. Without recovery a packet takes the time of its frame on each, and their delays. The source has the
delays in its plots alone; those here are worked out from its tables 3.1 to 3.3. Wired links carry headers here, 28 bytes
more."""
    return Chapter("Delays without recovery", text, figures)


def _losing(lost: Sequence[int]) -> Change:
    return 0.5, "base.errors", {"model": "lost-frames", "frames": list(lost), "repeat": False}


def arrivals(ran: Emulation) -> dict[int, float]:
    """s, by the number of the packet."""
    return {int.from_bytes(data[42:46], "big"): at for at, data in ran.received["mobile"]}


#: ms, by XOR and by RLP (table 5.2).
RECOVERY_DELAYS: dict[ProfileName, tuple[float, float]] = {"cellular": (130, 259), "pcs": (142, 163), "wlan": (18, 14)}


def recovery_delays(profile: ProfileName) -> tuple[float, float]:
    """How many ms later a lost packet comes by XOR and by RLP, of traces on an idle link."""
    link = PROFILES[profile]
    frame_s = 8 * (link.frame + 2) / link.rate
    # Ten blocks of nine frames and their parity, in each of which another frame is lost.
    begins = [1.0 + 2 * block for block in range(10)]
    frames = _packets([begin for begin in begins for _ in range(9)], link.frame)
    lost = [int(frame == block) for block in range(10) for frame in range(10)]
    arrived = arrivals(over(profile, frames, {"scheme": "xor", "block": 9}, events=[_losing(lost)]))
    late_s = [at - (begins[number // 9] + (number % 9 + 1) * frame_s + link.delay) for number, at in sorted(arrived.items())]
    arrived = arrivals(over(profile, _packets([1.0, 1.0], link.frame), {"scheme": "rlp-oos"}, events=[_losing([1])]))
    return 1e3 * sum(late_s) / 10, 1e3 * (arrived[0] - (1 + frame_s + link.delay))


def _recovery() -> Chapter:
    figures = []
    for profile, (by_parity, by_rlp) in RECOVERY_DELAYS.items():
        parity_ms, rlp_ms = recovery_delays(profile)
        figures.append(Figure(f"{NAMES[profile]}: FEC, XOR", "ms", by_parity, parity_ms, absolute=1.0))
        figures.append(Figure(f"{NAMES[profile]}: ARQ, RLP", "ms", by_rlp, rlp_ms, absolute=1.0))
    text = """
Table 5.2 of Xylomenos (1999): how much later a lost packet comes on an idle link. RLP: the next frame shows the gap, a NAK
goes back, the frame comes again. XOR with blocks of nine frames: until the parity has come, on the mean over which of a
block's frames is lost, the one of parity included."""
    return Chapter("Delays of recovery", text, figures)


def _share(what: str, expected: float, lost: int, count: int) -> Figure:
    deviation = sqrt(expected * (1 - expected) / count)
    return Figure(what, "%", 100 * expected, 100 * lost / count, absolute=100 * SIGMAS * deviation)


def _lost(ran: Emulation) -> int:
    return int((ran.records["fate"] != Fate.DELIVERED).sum())


def _errors() -> Chapter:
    table: dict[int, tuple[float, ...]] = {250: (1.464, 2.432, 5.220, 9.529), 40: (1.009, 1.943, 4.639, 8.805)}
    count = 20_000
    figures = []
    for payload, levels in table.items():
        for level, percent in enumerate(levels, 1):
            ran = over("pcs", _packets(1 + 20.0 * np.arange(count), payload), errors={"level": level}, seed=level)
            figures.append(_share(f"PCS, level {level}, {payload + 1} bytes", percent / 100, _lost(ran), count))
    for level, power in enumerate((17, 16, 15, 14), 1):
        ran = over("wlan", _packets(1 + 0.01 * np.arange(count), 1000), errors={"level": level}, seed=level)
        figures.append(_share(f"WLAN, level {level}, 1001 bytes", 1 - exp(-1001 / 2**power), _lost(ran), count))
    text = f"""
{count} packets each, without recovery. PCS: 1 - p exp((Q - H) T) 1 of a two-state channel, with the stationary distribution
p, the generator of the states Q, the rates of errors H and the time of a frame T; 20 s from packet to packet, so that the
channel has forgotten its state. WLAN: 1 - exp(-S / mean). The tolerance is {SIGMAS:g} standard deviations."""
    return Chapter("Frames lost on the air", text, figures)


def _residual_losses() -> Chapter:
    count = 60_000
    figures, curves = [], []
    shares = (0.01, 0.02, 0.05, 0.1)
    smooth = np.linspace(0.005, 0.12, 40)
    for label, scheme, frames_needed in (
        ("RLP that asks once", {"scheme": "rlp-oos", "attempts": 1}, 2),
        ("XOR, blocks of 8", {"scheme": "xor", "block": 8}, 8),
    ):
        measured = []
        for level, share in enumerate(shares, 1):
            # As conferencing sends: two thirds of the link.
            frames = _packets(1 + TRAFFIC["cellular"].conference_interval * np.arange(count), 50)
            lost = _lost(over("cellular", frames, scheme, errors={"level": level}, seed=level))
            measured.append(lost / count)
            expected = share * (1 - (1 - share) ** frames_needed)
            figures.append(_share(f"Cellular, level {level}: {label}", expected, lost, count))
        curves += [
            Curve(label, list(smooth), list(smooth * (1 - (1 - smooth) ** frames_needed)), measured=False),
            Curve(label, list(shares), measured, measured=True),
        ]
    text = f"""
Of {count} packets each, how many do not come at all. RLP with one attempt loses a packet when its frame is lost and then the
NAK or the repetition: p (1 - (1 - p)²). Parity over n frames loses it when another frame of the block is lost: p (1 - (1 -
p)ⁿ). Losses of XOR come in pairs, so they vary by more than independent ones; the tolerance is {SIGMAS:g} standard deviations
of independent ones all the same."""
    title, x_label, y_label = "Lost after recovery", "share of lost frames", "share of lost packets"
    plot = Plot("multiservice-residual", title, x_label, y_label, curves, logarithmic_y=True)
    return Chapter("Losses after recovery", text, figures, [plot])


#: Of a test of conferencing, s; the source does not say it for all links.
CONFERENCE_S: dict[ProfileName, float] = {"cellular": 2000, "pcs": 2000, "wlan": 500}
#: At error level 4, of an independent simulation: loss and its deviation, %; delay, as below, and its deviation, ms.
SIMULATED: dict[ProfileName, dict[str, tuple[float, float, float, float]]] = {
    "cellular": {
        "none": (10.14, 0.14, 130, 0),
        "xor": (5.76, 0.18, 498, 33),
        "xor-adaptive": (5.48, 0.18, 225, 2),
        "rlp": (1.91, 0.14, 645, 12),
        "rlp-oos": (1.90, 0.13, 336, 3),
    },
    "pcs": {
        "none": (9.74, 1.17, 83, 0),
        "xor": (8.35, 0.80, 298, 57),
        "xor-adaptive": (9.26, 0.87, 121, 5),
        "rlp": (1.94, 0.49, 1139, 113),
        "rlp-oos": (1.94, 0.49, 886, 126),
    },
    "wlan": {
        "none": (5.96, 0.16, 9, 0),
        "xor": (3.06, 0.17, 148, 23),
        "xor-adaptive": (3.01, 0.14, 29, 0),
        "rlp": (0.35, 0.04, 30, 1),
        "rlp-oos": (0.35, 0.04, 20, 0),
    },
}
RUNS, SIMULATED_RUNS = 4, 10


def conference(profile: ProfileName) -> list[TimedFrame]:
    """Packets at the peak rate while somebody talks, as they come out of a LAN; the first one entered it at 1 s."""
    chance = np.random.default_rng(1)
    interval_s, size, begin_s = TRAFFIC[profile].conference_interval, PROFILES[profile].frame, 0.0
    times: list[float] = []
    while begin_s < CONFERENCE_S[profile]:
        count = max(1, int(np.ceil(chance.exponential(TALK) / interval_s)))
        times += [begin_s + number * interval_s for number in range(count)]
        begin_s += count * interval_s + chance.exponential(SILENCE)
    # A LAN of 10 Mbit/s and 1 ms is before the wireless link.
    lan_s = 1e-3 + 8 * size / 10e6
    return _packets([1 + lan_s + at for at in times if at < CONFERENCE_S[profile]], size)


def _conferencing() -> Chapter:
    figures = []
    for profile, schemes in SIMULATED.items():
        packets = conference(profile)
        lan_s = packets[0][0] - 1
        for scheme, (lost, lost_deviation, delay_ms, delay_deviation) in schemes.items():
            settings = {"scheme": scheme, **({"attempts": 1} if scheme.startswith("rlp") else {})}
            losses, delays = [], []
            for repetition in range(RUNS):
                ran = over(profile, packets, settings, errors={"level": 4}, seed=repetition_seed(1, repetition))
                arrived = ran.records[ran.records["fate"] == Fate.DELIVERED]
                took_s = (arrived["out_ns"] - arrived["in_ns"]) / 1e9 + lan_s
                losses.append(100 * (1 - len(arrived) / len(packets)))
                delays.append(1e3 * (took_s.mean() + 2 * took_s.std()))
            spread = SIGMAS * sqrt(1 / RUNS + 1 / SIMULATED_RUNS)
            name = f"{NAMES[profile]}, level 4, {scheme}"
            figures += [
                Figure(f"{name}: loss", "%", lost, float(np.mean(losses)), absolute=spread * lost_deviation + 0.005),
                Figure(f"{name}: delay", "ms", delay_ms, float(np.mean(delays)), 0.05, spread * delay_deviation + 0.5),
            ]
    text = f"""
Conferencing of Xylomenos (1999, 5.1.1 and 5.3) on his LAN1 with one wireless link: packets at the peak rate while somebody
talks; the delay is the mean and two standard deviations. The source has plots alone, and says of level 4: RLP below 2 % on
the cellular and the PCS link and below 0.5 % on the WLAN, XOR about 6 % on the cellular link and 3 % on the WLAN, parity
useless on the PCS link; parity's delay shortest when it is adaptive, RLP's when it is out of sequence. Expected here are the
figures of an independent simulation of the same links, schemes and timers, of {SIMULATED_RUNS} runs; measured are {RUNS}
runs. Tolerance: {SIGMAS:g} standard deviations of the difference of both means, and for delays at least 5 %, since both have
one course of talk each."""
    return Chapter("Conferencing", text, figures)
