# SPDX-License-Identifier: GPL-2.0-or-later
"""What a weight for voice does for a call beside a greedy transfer, end to end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.test_virtual_run import metrics, virtually, written

NETWORK = """\
name: beside
seed: 5
centre: eoc
hosts:
  field: {address: 10.1.0.2/24}
  eoc: {address: 10.1.0.1/24}
netboxes:
  backhaul:
    technology: link
    stations: {vehicle: {}, hub: {}}
    rate: 1 Mbit/s
    delay: 20 ms
    queue: QUEUE
    classes: {voice: {dscp: ef}}
wires: [[field, backhaul.vehicle], [backhaul.hub, eoc]]
traffic:
  voice: {application: udp-flow, from: field, to: eoc, rate: 64 kbit/s, payload: 160 B, dscp: ef, duration: 15 s}
  upload: {application: bulk, from: field, to: eoc, variant: cubic, duration: 15 s}
"""
#: Of frames, with their Ethernet and IP headers, bytes.
LONGEST, VOICE = 1514, 202
RATE, DELAY_MS = 1e6, 20.0


def flows(folder: Path, queue: str) -> dict[str, Any]:
    results = folder / "results"
    done = virtually(written(folder, NETWORK.replace("QUEUE", queue)), results)
    assert done.returncode == 0, done.stdout + done.stderr
    return {flow["name"]: flow for flow in metrics(results)["flows"]}


@pytest.mark.parametrize("discipline", ["wf2q+", pytest.param("scfq", marks=pytest.mark.long)])
def test_voice_with_a_weight_waits_for_a_packet_and_without_for_the_queue(discipline: str, tmp_path: Path) -> None:
    """Parekh and Gallager's bound, and a packet: voice has half of the rate, and sends a twelfth of it."""
    without = flows(tmp_path, "{discipline: fifo, buffer: 500 ms}")
    with_weights = flows(tmp_path, f"{{discipline: {discipline}, buffer: 500 ms, weights: {{voice: 1}}}}")
    bound_ms = DELAY_MS + 8e3 * (2 * VOICE + LONGEST) / RATE
    assert without["voice"]["one_way_delay_ms"]["p50"] > 200
    assert with_weights["voice"]["one_way_delay_ms"]["max"] <= bound_ms
    assert with_weights["voice"]["loss_ratio"] == 0
