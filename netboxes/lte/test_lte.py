# SPDX-License-Identifier: GPL-2.0-or-later
"""The LTE segment in virtual time: frames, rates, losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contracts.installation import CHECKOUT
from netboxes.engine.virtual import BROADCAST, emulate, ethernet, mac, udp, vlan
from netboxes.lte.cell_under_test import CLASSES, EF, LARGEST_BLOCK, delays, flow, goodput, hello, lost, saturated
from testbed.description import topology_file

RESPONDER, CORE, CIVILIAN = 0, 1, 2
CELL: dict[str, Any] = {
    "stations": {"responder": {"role": "ue"}, "core": {"role": "gateway"}, "civilian": {"role": "ue"}},
    "distance": "300 m",
}


def test_frames_of_any_kind_pass_both_ways_unchanged() -> None:
    others = [
        vlan(udp(RESPONDER, CORE, 1472), 7),
        udp(RESPONDER, CORE, 1472),
        udp(RESPONDER, CORE, 1, version=6),
        ethernet(mac(RESPONDER), mac(CORE), 0x0806, bytes(28)),
        ethernet(mac(RESPONDER), b"\x01\0\x5e\0\0\1", 0x0800, bytes(60)),
        ethernet(mac(RESPONDER), mac(CORE), 0x88B5, b"x"),
    ]
    up = [(1.0 + i * 0.1, frame) for i, frame in enumerate(others)]
    down = [(time + 0.05, mac(RESPONDER) + mac(CORE) + frame[12:]) for time, frame in up]
    emulation = emulate("lte", CELL, {"responder": [hello(RESPONDER), *up], "core": [hello(CORE), *down]})
    assert [frame for time, frame in emulation.received["core"] if time > 1.0] == others
    assert [frame for time, frame in emulation.received["responder"] if time > 1.0] == [frame for _, frame in down]
    assert lost(emulation) == {}


def test_between_terminals_frames_go_through_the_core_and_broadcasts_reach_everybody() -> None:
    frames = {
        "responder": [
            hello(RESPONDER),
            (1.0, udp(RESPONDER, CIVILIAN, 500)),
            (1.2, ethernet(mac(RESPONDER), BROADCAST, 0x0806, bytes(28))),
        ],
        "civilian": [hello(CIVILIAN)],
        "core": [(1.4, ethernet(mac(CORE), BROADCAST, 0x0806, bytes(28)))],
    }
    emulation = emulate("lte", CELL, frames)
    after = {name: sum(time > 1.0 for time, _ in received) for name, received in emulation.received.items()}
    assert after == {"responder": 1, "civilian": 3, "core": 1}
    # Up with a request for resources, and down again.
    relayed = [time for time, frame in emulation.received["civilian"] if frame[12:14] == b"\x08\x00"]
    assert 0.010 < relayed[0] - 1.0 < 0.025


def test_an_idle_downlink_takes_four_subframes_and_an_uplink_asks_first() -> None:
    frames = {
        "responder": [hello(RESPONDER), *flow(RESPONDER, CORE, 500, 100e3, 2.0)],
        "core": [hello(CORE), *flow(CORE, RESPONDER, 500, 100e3, 2.0)],
    }
    emulation = emulate("lte", CELL, frames)
    assert np.median(delays(emulation, CORE)) == pytest.approx(4.0, abs=1.0)
    assert np.median(delays(emulation, RESPONDER)) == pytest.approx(12.5, abs=2.0)


@pytest.mark.parametrize(("resource_blocks", "down"), [(6, 6), (25, 24), (100, 100)])
def test_peak_rate_is_that_of_the_largest_transport_blocks(resource_blocks: int, down: int) -> None:
    cell = CELL | {
        "resource_blocks": resource_blocks,
        "distance": "50 m",
        "queue": {"bytes": "15 kB"},
        "uplink_power_control": False,
    }
    for uplink, blocks, name, source in ((False, down, "responder", CORE), (True, resource_blocks, "core", RESPONDER)):
        peak = LARGEST_BLOCK[blocks] * 1e3
        emulation = emulate("lte", cell, saturated(cell, uplink, ["responder"], peak * 1.1, 0.5))
        assert goodput(emulation, name, source, 1500, 1.2, 1.5) == pytest.approx(peak, rel=0.02)
        assert set(lost(emulation)) == {"queue_full"}


def test_broadcasts_of_short_frames_count_their_own_length_on_the_air() -> None:
    """One resource block more or less is seen: a cell that carried an IP header besides would need 20 bytes a frame more."""
    rates = []
    for length in (100, 120):
        cell = CELL | {"resource_blocks": 6, "distance": "50 m", "uplink_power_control": False, "queue": {"bytes": "5 kB"}}
        frames = saturated(cell, False, [], 1e6, 0.1)
        frames["core"] += flow(CORE, RESPONDER, length, 6e6, 0.5)
        rates.append(goodput(emulate("lte", cell, frames), "responder", CORE, length, 1.2, 1.5))
    # RLC unacknowledged mode: 2 bytes of PDCP and 1.5 of length indicator (TS 36.322, 6.2.2) each, 2 to 3.5 a transport block.
    assert rates[0] == pytest.approx(4392e3 * 100 / (100 + 3.5), rel=0.015)
    assert rates[1] == pytest.approx(4392e3 * 120 / (120 + 3.5), rel=0.015)


@pytest.mark.parametrize("uplink", [False, True])
def test_a_guaranteed_bearer_is_untouched_while_others_saturate_the_cell(uplink: bool) -> None:
    bearer = {"class": "voice", "qci": 1, "uplink_rate": "3 Mbit/s", "downlink_rate": "3 Mbit/s", "stations": ["responder"]}
    cell = CELL | {"resource_blocks": 15, "bearers": [bearer], "queue": {"bytes": "30 kB"}}
    cell |= {"stations": CELL["stations"] | {"second": {"role": "ue"}, "third": {"role": "ue"}, "fourth": {"role": "ue"}}}
    frames = saturated(cell, uplink, ["civilian", "second", "third", "fourth"], 8e6, 1.0)
    ends = (RESPONDER, CORE) if uplink else (CORE, RESPONDER)
    frames["responder" if uplink else "core"] += flow(*ends, 1000, 2.8e6, 1.0, EF)
    fates = {}
    for uphold in (True, False):
        emulation = emulate("lte", cell | {"uphold_guarantees": uphold}, frames, classes=CLASSES, duration_s=2.5)
        voice = emulation.records[(emulation.records["class"] == 0)]
        fates[uphold] = np.mean(voice["fate"] == 0)
        if uphold:
            assert np.percentile(delays(emulation, ends[0], 0), 99) < 40.0
    assert fates[True] == 1.0
    assert fates[False] < 0.95


def test_acknowledged_mode_repairs_what_hybrid_arq_does_not() -> None:
    cell = CELL | {"harq": False, "fading": "EPA", "distance": "8 km", "tx_power": "30 dBm", "resource_blocks": 25}
    shares = []
    for mode in ("um", "am"):
        emulation = emulate(
            "lte", cell | {"rlc": mode}, {"responder": [hello(0)], "core": [hello(1), *flow(1, 0, 500, 400e3, 3.0)]}
        )
        shares.append(goodput(emulation, "responder", CORE, 500, 1.0, 5.0) * 4.0 / (400e3 * 3.0))
    assert shares[0] < 0.99 < shares[1]


def test_the_same_seed_gives_the_same_run_and_another_one_another() -> None:
    frames = {"responder": [hello(RESPONDER), *flow(RESPONDER, CORE, 500, 1e6, 0.3)]}
    cell = CELL | {"fading": "ETU", "distance": "5 km"}
    first, second, other = (emulate("lte", cell, frames, seed=seed, duration_s=2.0) for seed in (3, 3, 4))
    assert (first.records == second.records).all()
    assert not np.array_equal(first.records, other.records)


def test_the_examples_are_sound() -> None:
    cells = topology_file.load(CHECKOUT / "topologies" / "lte-handover.yaml").netboxes["cells"]
    assert list(cells.parameters.model_dump()["enodebs"]) == ["west", "east"]
    cell = topology_file.load(CHECKOUT / "topologies" / "lte.yaml").netboxes["cell"]
    assert cell.parameters.gross_rate() == 2 * 18336e3
