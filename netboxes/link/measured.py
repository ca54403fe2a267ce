# SPDX-License-Identifier: GPL-2.0-or-later
"""A link in virtual time, for its validation: frames in, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netboxes.engine.virtual import Emulation, run, udp
from netboxes.link.parameters import Parameters
from netboxes.validation import Curve
from results.records import Fate

Times = NDArray[np.floating[Any]]

#: Layer-3 length of a datagram besides its payload, and what the link's default overhead adds.
IP_UDP, OVERHEAD = 28, 14
LEFT, RIGHT = 0, 1


def send(
    link: Mapping[str, Any],
    at_s: Sequence[float] | Times,
    *,
    payload: int = 100,
    seed: int = 1,
    folder: Path | None = None,
    interval_s: float | None = None,
    duration_s: float | None = None,
) -> Emulation:
    """Datagrams of so much payload from the left to the right, numbered (IPv4's identification and the payload's first bytes).

    `folder` is where files that the parameters name are.
    """
    description = {"stations": {"left": {}, "right": {}}, **link}
    parameters = Parameters.model_validate(description, context={"folder": folder} if folder else None).model_dump(mode="json")
    frames = [(float(at), udp(LEFT, RIGHT, payload, identification=number)) for number, at in enumerate(at_s)]
    return run("link", ["left", "right"], parameters, {"left": frames}, seed=seed, interval_s=interval_s, duration_s=duration_s)


def steady(count: int, gap_s: float) -> Times:
    return 1.0 + gap_s * np.arange(count)


def poisson(count: int, rate: float, seed: int) -> Times:
    return 1.0 + np.cumsum(np.random.default_rng(seed).exponential(1 / rate, count))


def lost(ran: Emulation) -> NDArray[np.bool_]:
    """By frame in the order in which they entered, for links on which none overtakes."""
    records = ran.records[np.argsort(ran.records["in_ns"], kind="stable")]
    return np.asarray(records["fate"] != Fate.DELIVERED)


def delays_s(ran: Emulation) -> Times:
    """Of delivered frames, in the order in which they entered."""
    arrived = ran.records[ran.records["fate"] == Fate.DELIVERED]
    arrived = arrived[np.argsort(arrived["in_ns"], kind="stable")]
    return np.asarray((arrived["out_ns"] - arrived["in_ns"]) / 1e9, np.float64)


def numbers(ran: Emulation) -> NDArray[np.int64]:
    """Of the frames at the right, in the order of arrival."""
    return np.array([int.from_bytes(data[42:46], "big") for _, data in ran.received["right"]], np.int64)


def curve(label: str, x: ArrayLike, y: ArrayLike, *, measured: bool) -> Curve:
    """From arrays."""
    return Curve(label, np.asarray(x, float).tolist(), np.asarray(y, float).tolist(), measured)
