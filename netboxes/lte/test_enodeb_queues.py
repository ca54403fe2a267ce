# SPDX-License-Identifier: GPL-2.0-or-later
"""The disciplines that an eNodeB has besides those of every queue, and the channel quality that one of them goes by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from netboxes.engine.virtual import Emulation, EmulationFailed, emulate
from netboxes.lte.cell_under_test import LARGEST_BLOCK, ONE, delays, flow, goodput, hello, lost
from netboxes.lte.parameters import Parameters
from netboxes.technology import technologies

UE, CORE = 0, 1
CELL: dict[str, Any] = ONE | {"resource_blocks": 6, "distance": "50 m", "uplink_power_control": False}
PEAK = LARGEST_BLOCK[6] * 1e3  # bit/s, of the downlink
#: The cell of Dai 2018, with what it does not say as in ns-3 (2120 MHz, 30 dBm, a UE's noise figure of 9 dB).
THESIS: dict[str, Any] = {
    "resource_blocks": 15,
    "band": 4,
    "earfcn": 2050,
    "tx_power": "30 dBm",
    "propagation": "friis",
    "adaptation": "piro",
}
CQI = {"discipline": "cqi", "packets": 100, "delay_min": "50 ms", "delay_max": "500 ms", "empty_reset": True}


def overload(queue: Any, load: float = 1.15, rlc: str = "um", seconds: float = 4.0, **cell: Any) -> Emulation:
    """`load` times what the cell carries, of packets of 1000 bytes to a UE."""
    frames = {"ue": [hello(UE)], "core": [hello(CORE), *flow(CORE, UE, 1000, load * PEAK, seconds)]}
    return emulate("lte", CELL | {"queue": queue, "rlc": rlc} | cell, frames)


def station(emulation: Emulation, name: str = "ue") -> dict[str, Any]:
    counted: dict[str, Any] = emulation.statistics["segment"]["stations"][name]
    return counted


#: The rings that Dai 2018 gives, and on both sides of where Piro's formula has the CQI change (2.43, 7.90 and 9.87 km).
RINGS = {"500 m": 15, "1 km": 15, "2.4 km": 15, "2.5 km": 14, "7.8 km": 9, "8 km": 8, "9 km": 8, "9.5 km": 8}


def test_the_rings_of_the_thesis_have_its_channel_quality() -> None:
    stations = {f"ue{n}": {"role": "ue", "distance": distance} for n, distance in enumerate(RINGS)}
    cell = THESIS | {"stations": stations | {"core": {"role": "gateway"}}}
    emulation = emulate("lte", cell, {"core": [hello(len(RINGS))]}, duration_s=1.8)
    for name, quality in zip(stations, RINGS.values(), strict=True):
        counted = station(emulation, name)
        assert counted["cqi"] == counted["cqi_mean"] == quality
        reports = counted["cqi_reports"]
        assert sum(reports) == reports[quality] == pytest.approx(500, abs=10), "each 2 ms, since time began"


@pytest.mark.parametrize("rlc", ["um", "am"])
def test_codel_second_keeps_the_delay_of_an_overloaded_bearer_short_and_fills_the_cell(rlc: str) -> None:
    late, rates = {}, {}
    for name, queue in (
        ("fifo", {"packets": 200}),
        ("50 ms", {"discipline": "codel-second", "packets": 200, "target": "50 ms"}),
        ("5 ms", {"discipline": "codel-second", "packets": 200, "target": "5 ms"}),
    ):
        emulation = overload(queue, load=1.05, rlc=rlc, seconds=6.0)
        late[name] = float(np.median(delays(emulation, CORE)[-1500:]))
        rates[name] = goodput(emulation, "ue", CORE, 1000, 3.0, 6.5)
        assert set(lost(emulation)) <= ({"queue_full"} if name == "fifo" else {"queue_early"})
    assert late["5 ms"] < late["50 ms"] < 0.6 * late["fifo"]
    assert 50 < late["50 ms"] < 50 + 60
    assert 5 < late["5 ms"] < 5 + 60
    assert rates["50 ms"] == pytest.approx(rates["fifo"], rel=0.02)
    assert rates["5 ms"] == pytest.approx(rates["fifo"], rel=0.02)


def test_cqi_lets_packets_wait_until_it_drops_what_is_too_much() -> None:
    """Alone in the cell with 1.3 times what the channel carries: of that 0.3/1.3 has to be dropped.

    With CQI 15 this is the probability of a delay of 50 + 0.23 x 450 = 154 ms, with CQI 8 one of any delay
    above 50 ms: there nearly all is dropped then, until packets wait for less.
    """
    late = {}
    for distance, quality, load in (("2 km", 15, LARGEST_BLOCK[14] * 1e3), ("9.3 km", 8, 3.6e6)):
        frames = {"ue": [hello(UE)], "core": [hello(CORE), *flow(CORE, UE, 1000, 1.3 * load, 4.0)]}
        emulation = emulate("lte", THESIS | ONE | {"distance": distance, "queue": CQI | {"packets": 1000}}, frames)
        assert station(emulation)["cqi"] == quality
        records = emulation.records[(emulation.records["station_in"] == CORE) & (emulation.records["in_ns"] >= 1.5e9)]
        assert np.mean(records["fate"] != 0) == pytest.approx(0.3 / 1.3, abs=0.03)
        assert set(lost(emulation)) == {"queue_early"}
        late[quality] = delays(emulation, CORE)[-1000:]
    assert np.median(late[15]) == pytest.approx(154, rel=0.15)
    assert 50 < late[8].max() < 80


@pytest.mark.parametrize("reset", [True, False])
def test_a_bearer_whose_last_packet_was_late_is_locked_out_without_the_reset(reset: bool) -> None:
    """A burst of a second's worth, and after a pause a call that the cell would carry easily."""
    burst = flow(CORE, UE, 1000, 100e6, 0.05)
    call = flow(CORE, UE, 200, 64e3, 1.0, start=4.0)
    queue = CQI | {"packets": 10_000, "empty_reset": reset}
    emulation = emulate("lte", CELL | {"queue": queue}, {"ue": [hello(UE)], "core": [hello(CORE), *burst, *call]})
    records = emulation.records[(emulation.records["station_in"] == CORE) & (emulation.records["in_ns"] >= 4e9)]
    arrived = np.count_nonzero(records["fate"] == 0)
    assert arrived == (len(call) if reset else 0)


def test_qoe_drops_while_a_call_is_between_good_and_hopeless() -> None:
    """2 % more than the cell carries fills a long queue slowly, through all scores; Kingman's formula has no value then."""
    queue = {"discipline": "qoe", "packets": 1000}
    emulation = overload(queue, load=1.05, seconds=10.0)
    counted = station(emulation)["queue_downlink"]["default"]
    assert counted["saturated"] > 0
    assert counted["dropped"]["early"] > 20
    fifo = overload({"packets": 1000}, load=1.05, seconds=10.0)
    assert delays(emulation, CORE)[-500:].mean() < 0.9 * delays(fifo, CORE)[-500:].mean()
    light = overload(queue, load=0.5)
    counted = station(light)["queue_downlink"]["default"]
    assert counted["dropped"] == {"full": 0, "early": 0, "expired": 0}
    assert counted["estimates"] > 100
    assert counted["score"] > 4.3


def test_the_ues_own_queue_is_a_fifo_with_the_same_room() -> None:
    frames = {"ue": [hello(UE), *flow(UE, CORE, 1000, 1.3 * PEAK, 2.0)], "core": [hello(CORE)]}
    emulation = emulate("lte", CELL | {"queue": CQI | {"packets": 20}}, frames)
    assert set(lost(emulation)) == {"queue_full"}
    assert station(emulation)["queue_uplink"]["default"]["length"]["max"] <= 20


def test_a_queue_becomes_one_of_the_enodebs_while_packets_wait() -> None:
    cqi = {"discipline": "cqi", "packets": 100, "delay_min": 0.05, "delay_max": 0.5, "empty_reset": True}
    frames = {"ue": [hello(UE)], "core": [hello(CORE), *flow(CORE, UE, 1000, 1.3 * PEAK, 3.0)]}
    emulation = emulate("lte", CELL | {"queue": {"packets": 100}}, frames, events=[(2.0, "queue", cqi)])
    assert set(lost(emulation)) == {"queue_full", "queue_early"}
    with pytest.raises(EmulationFailed, match="its delay_min is below its delay_max"):
        emulate("lte", CELL, frames, events=[(2.0, "queue", cqi | {"delay_min": 0.5})])
    with pytest.raises(EmulationFailed, match="discipline is one of"):
        emulate("lte", CELL, frames, events=[(2.0, "queue", cqi | {"discipline": "cqj"})])


@pytest.mark.parametrize(
    ("queue", "message"),
    [
        ({"discipline": "cqi", "delay_min": "500 ms"}, "`delay_min` must be less than `delay_max`"),
        ({"discipline": "qoe", "mos_min": 4.2}, "`mos_min` must be less than `mos_max`"),
        ({"discipline": "cqi", "target": "5 ms"}, "cqi has no target; it has delay_min, delay_max, empty_reset"),
        ({"discipline": "codel", "delay_min": "5 ms"}, "codel has no delay_min"),
        ({"discipline": "drr", "inner": "cqi"}, "of the whole `queue` of a netbox that has one; use one of fifo"),
        ({"discipline": "qoe", "check_every": 0}, "greater than or equal to 1"),
    ],
)
def test_what_such_a_queue_cannot_be_is_refused_with_the_reason(queue: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Parameters.model_validate(ONE | {"queue": queue})
    assert message in str(refused.value)


@pytest.mark.parametrize("technology", sorted(name for name, model in technologies().items() if "queue" in model.model_fields))
@pytest.mark.parametrize("discipline", ["codel-second", "cqi", "qoe"])
def test_technologies_without_bearers_say_where_such_a_queue_is(technology: str, discipline: str) -> None:
    model = technologies()[technology]
    if technology == "lte":
        assert model.model_validate({**(model.TYPICAL or {}), "queue": discipline})
        return
    with pytest.raises(ValidationError) as refused:
        model.model_validate({**(model.TYPICAL or {}), "queue": discipline})
    assert "a netbox that has one; use one of fifo, " in str(refused.value)


def test_a_worse_channel_costs_rate_and_no_blocks() -> None:
    """So an eNodeB has no `modular`, which gives shares by what succeeds: link adaptation keeps a tenth of errors at most."""
    rates = {}
    for fade in (0, 45):
        stations = {"ue": {"role": "ue", "fade": f"{fade} dB"}, "core": {"role": "gateway"}}
        emulation = overload("fifo", seconds=0.5, stations=stations, tx_power="23 dBm")
        counted = station(emulation)
        assert counted["block_errors_downlink"] <= 0.1 * counted["transport_blocks_downlink"]
        rates[fade] = goodput(emulation, "ue", CORE, 1000, 1.1, 1.5)
    assert rates[45] < 0.6 * rates[0]
    with pytest.raises(ValidationError, match="which this technology does not tell its queues; use wf2q"):
        Parameters.model_validate(ONE | {"queue": "modular"})
