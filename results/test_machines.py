# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs over two machines whose true delays, and what their clocks show, are known: the analysis has to find the delays back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from applications.registry import analyses
from contracts.changes import EventPlan, WireChange
from contracts.machines import ClockReading, ClockReadings
from results import pcapng
from results.analyse import analyse
from results.conftest import MS, START_NS, US, SyntheticRun
from results.journal import Journal
from results.machines import ONE_MACHINE, Clock
from results.records import Fate
from tests.two_machines import TwoMachines

PPM = st.floats(-200.0, 200.0)


@pytest.fixture
def two_machines(tmp_path: Path) -> TwoMachines:
    return TwoMachines(tmp_path / "run")


@pytest.fixture(scope="module")
def analysed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What is found of a call over two machines without any fault."""
    run = TwoMachines(tmp_path_factory.mktemp("two") / "run")
    run.calls(300)
    return analyse(run.write(), analyses(), page=False)


def by_direction(entries: Sequence[Any], direction: str) -> Any:
    return next(entry for entry in entries if entry["direction"] == direction)


def readings(offsets_ns: tuple[int, int], errors_ns: tuple[int, int], elapsed_ns: int) -> ClockReadings:
    before, after = (
        ClockReading(offset_ns=offset_ns, error_ns=error_ns, round_trip_ns=2 * error_ns, samples=1, at_ns=at_ns)
        for offset_ns, error_ns, at_ns in zip(offsets_ns, errors_ns, (START_NS, START_NS + elapsed_ns), strict=True)
    )
    return {"before": before, "after": after}


@given(
    offset_ns=st.integers(-(10**12), 10**12),
    ppm=PPM,
    elapsed_ns=st.integers(10**9, 3600 * 10**9),
    errors_ns=st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)),
    wrong=st.tuples(st.floats(-1.0, 1.0), st.floats(-1.0, 1.0)),
    part=st.floats(0.0, 1.0),
)
def test_a_time_between_two_readings_is_no_further_off_than_they_are(
    offset_ns: int, ppm: float, elapsed_ns: int, errors_ns: tuple[int, int], wrong: tuple[float, float], part: float
) -> None:
    """Of a clock that goes evenly, read twice, each time wrong by no more than the reading says."""

    def true_offset(since_ns: int) -> int:
        return offset_ns + round(since_ns * ppm * 1e-6)

    read = (true_offset(0) + int(wrong[0] * errors_ns[0]), true_offset(elapsed_ns) + int(wrong[1] * errors_ns[1]))
    clock = Clock.of(readings(read, errors_ns, elapsed_ns))
    since_ns = round(part * elapsed_ns)
    shown = START_NS + since_ns + true_offset(since_ns)
    assert clock.error_ns == max(errors_ns)
    # The error is counted by the other clock, whose nanoseconds are longer or shorter by as much as it drifts; and is rounded.
    bound = max(errors_ns) * (1 + 1e-2) + 3
    assert abs(clock.here(shown) - (START_NS + since_ns)) <= bound
    rows = clock.corrected(pl.DataFrame({"a": [shown, 0], "b": [shown, 0]}), "a")
    assert rows.rows() == [(clock.here(shown), shown), (0, 0)]


def test_one_reading_is_taken_to_stay_and_none_corrects_nothing() -> None:
    once = readings((5_000, 0), (10, 10), 10**9)
    once["after"] = None
    assert Clock.of(once).here(START_NS + 10**10) == START_NS + 10**10 - 5_000
    assert Clock.of({}) == Clock(error_ns=None)
    assert Clock.of({}).here(START_NS) == START_NS


def test_tunnel_delays_are_found_back_within_the_clocks_error(analysed: dict[str, Any]) -> None:
    (tunnel,) = analysed["tunnels"]
    there, back = tunnel["directions"]
    assert (there["from"], there["to"]) == ({"host": "alpha", "node": "meoc"}, {"host": "beta", "node": "sky"})
    assert there["clock_error_us"] == back["clock_error_us"] == 45.0
    assert (there["frames"], there["lost"], back["frames"], back["lost"]) == (300, 0, 300, 0)
    truth = {"min": (80, 60), "p50": (100, 70), "p90": (150, 90), "p99": (150, 90), "max": (150, 90), "mean": (110, 220 / 3)}
    for name, (true_there, true_back) in truth.items():
        assert there["delay_us"][name] == pytest.approx(true_there, abs=45)
        assert back["delay_us"][name] == pytest.approx(true_back, abs=45)
    # What the clocks are wrong by is in both, the other way round.
    assert abs(there["delay_us"]["p50"] - 100) > 20
    assert tunnel["both_ways_us"] == pytest.approx({"mean": 110 + 220 / 3, "min": 140, "p50": 170}, abs=6)
    assert (tunnel["kind"], tunnel["mtu"], tunnel["probe_us"]) == ("vxlan", 1500, 210.0)


def test_delays_of_flows_and_segments_are_on_one_clock(analysed: dict[str, Any]) -> None:
    true_ms = {"return": 255.005 + 0.022 + 0.110, "forward": 255.005 + 0.022 + 0.220 / 3}
    for direction, true in true_ms.items():
        flow = by_direction(analysed["flows"], direction)
        assert flow["clock_error_ms"] == 0.045
        assert flow["one_way_delay_ms"]["mean"] == pytest.approx(true, abs=0.045)
        assert flow["loss_ratio"] == 0.0
        assert flow["outages"]["count"] == 0
    inside = [segment["one_way_delay_ms"]["max"] for segment in analysed["segments"]]
    assert sorted(inside) == pytest.approx([5, 5, 250, 250], abs=1e-3)
    assert analysed["verdict"] == {"status": "valid", "reasons": [], "advice": [], "notes": []}


def test_the_overhead_has_the_tunnels_share_apart(analysed: dict[str, Any]) -> None:
    tunnels, others, whole = (analysed[f"overhead{name}_us"] for name in ("_tunnels", "_without_tunnels", ""))
    assert (tunnels["count"], others["count"], whole["count"]) == (600, 600, 600)
    assert tunnels["mean"] == pytest.approx((110 + 220 / 3) / 2, abs=3)
    # All of it is between points of one machine, so that no clock error is in it: 2 and 3 us of wires, 20 and 2 at meoc.
    assert others["min"] == pytest.approx(27, abs=0.01)
    assert others["max"] == pytest.approx(27, abs=0.01)
    assert whole["mean"] == pytest.approx(tunnels["mean"] + others["mean"])


def test_frames_that_a_tunnel_loses_are_lost_there_and_the_run_is_invalid(two_machines: TwoMachines) -> None:
    two_machines.calls(300)
    two_machines.journeys["return"][7].lost = ("sky", Fate.ON_AIR)
    two_machines.lost_there = (10, 20)
    document: Any = analyse(two_machines.write(), analyses(), page=False)
    flow = by_direction(document["flows"], "return")
    assert flow["losses"] == [
        {"at": "tunnel meoc-sky", "why": "not seen again", "frames": 2},
        {"at": "sky", "why": "on the air", "frames": 1},
    ]
    assert document["tunnels"][0]["directions"][0]["lost"] == 2
    assert document["verdict"]["reasons"] == [
        "meoc-sky, from machine alpha to beta: 2 of 300 frames were lost between the machines"
    ]
    assert document["verdict"]["status"] == "invalid"


def test_frames_lost_while_an_event_unplugs_the_wire_are_nobodys_fault(two_machines: TwoMachines) -> None:
    two_machines.calls(100)
    two_machines.lost_there = (10,)
    folder = two_machines.write()
    event = EventPlan(0.2, WireChange("meoc-sky", "down", "meoc", "jan"))
    (folder / "plan.json").write_text(json.dumps(replace(two_machines.plan(), events=(event,)).to_json()))
    document: Any = analyse(folder, analyses(), page=False)
    assert (document["tunnels"][0]["directions"][0]["lost"], document["verdict"]["status"]) == (1, "valid")


def test_events_and_journals_of_another_machine_are_on_the_runs_time(two_machines: TwoMachines) -> None:
    """Its network's time began 3 ms later, and it counts from there by its own clock, 40 ppm fast."""
    two_machines.calls(100)
    folder = two_machines.write()
    later_ns = START_NS + 3 * MS
    beta = {"steal_ratio": 0.0, "steal_by_core": {"0": 0.2}, "began_ns": two_machines.shown("sky", later_ns)}
    lab = {"began_ns": START_NS, "steal_by_core": {"0": 0.01}, "hosts": {"beta": beta}}
    (folder / "lab.json").write_text(json.dumps(lab))
    made = {"late_ms": 0.0, "took_ms": 1.0, "error": None, "kind": "freeze", "for_s": 0.1}
    lines = [made | {"at_s": 50.0, "netbox": netbox, "words": netbox} for netbox in two_machines.netboxes]
    (folder / "events.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    began = {"cell": START_NS, "sky": two_machines.shown("sky", later_ns)}
    for netbox, began_ns in began.items():
        journal = [{"began_ns": began_ns}, {"at_s": 50.0, "event": "link_down"}, {"at_s": 50.0, "statistics": {"queued": 1}}]
        (folder / f"nodes/{netbox}/journal.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in journal))
    document: Any = analyse(folder, analyses(), page=False)
    times = {(event["netbox"], event["kind"]): event["time_s"] for event in document["events"]}
    assert times["cell", "freeze"] == times["cell", "link_down"] == 50.0
    assert times["sky", "freeze"] == times["sky", "link_down"] == pytest.approx(50.003 - 50 * 40e-6, abs=1e-4)
    series = pl.read_parquet(folder / "series.parquet")
    assert dict(series.select("netbox", "time_s").rows())["sky"] == pytest.approx(50.001, abs=1e-4)
    # Time was stolen from beta's cores; alpha's have the same numbers.
    assert [document["netboxes"][netbox]["steal_ratio"] for netbox in two_machines.netboxes] == [0.01, 0.2]


def test_a_run_on_one_machine_says_nothing_of_machines(synthetic: SyntheticRun) -> None:
    synthetic.calls(50)
    folder = synthetic.write()
    document: Any = analyse(folder, analyses(), page=False)
    assert not {"machines", "tunnels", "overhead_tunnels_us"} & document.keys()
    assert not any("clock_error_ms" in flow for flow in document["flows"])
    assert not [name for name in pl.read_parquet(folder / "frames.parquet").columns if name.startswith(("near_ns", "far_ns"))]


def test_what_a_failed_run_left_of_its_machines_is_analysed(two_machines: TwoMachines) -> None:
    two_machines.calls(20)
    folder = two_machines.write()
    (folder / "hosts.json").unlink()
    reasons = analyse(folder, analyses(), page=False)["verdict"]["reasons"]
    assert "there is no hosts.json, so what the machines' clocks showed is not known" in reasons


def test_a_missing_capture_at_a_tunnels_end_makes_the_run_invalid(two_machines: TwoMachines) -> None:
    two_machines.calls(20)
    folder = two_machines.write()
    (folder / "captures/sky-a.pcapng").unlink()
    document: Any = analyse(folder, analyses(), page=False)
    told = "wire meoc-sky: there is no capture at its end in sky, so what it added is not known"
    assert told in document["verdict"]["reasons"] and document["verdict"]["status"] == "invalid"
    (tunnel,) = document["tunnels"]
    assert tunnel["both_ways_us"] is None and tunnel["directions"][0]["delay_us"] is None


def test_a_node_that_nobody_places_is_on_the_controller() -> None:
    machines = ONE_MACHINE
    told = Journal(START_NS, [{"at_s": 1.0, "event": "link_up"}], [])
    assert machines.journal("anybody", told) is told
    assert machines.error_ns("anybody", "other") == 0


def test_the_offset_does_not_matter(tmp_path: Path) -> None:
    """Metrics are the same whatever the clock shows, when the readings are right."""
    found = []
    for number, offset_ns in enumerate((0, -4_000_000_000)):
        run = TwoMachines(tmp_path / f"{number}", offset_ns=offset_ns, drift_ppm=0.0, wrong_ns=(0, 0))
        run.calls(60)
        document: Any = analyse(run.write(), analyses(), page=False)
        found.append(
            {key: document[key] for key in ("flows", "segments", "gaps", "tunnels", "overhead_us", "verdict", "began_ns")}
        )
    assert found[0] == found[1]
    assert found[0]["tunnels"][0]["both_ways_us"]["p50"] == pytest.approx(170.0)
    assert found[0]["flows"][0]["one_way_delay_ms"]["min"] * MS == pytest.approx(255_005 * US + 22 * US + 80 * US)


def test_frames_that_one_end_did_not_capture_are_neither_lost_nor_measured(two_machines: TwoMachines) -> None:
    two_machines.calls(50)
    folder = two_machines.write()
    kept = list(pcapng.read(folder / "captures/meoc-jan.pcapng"))
    pcapng.write(folder / "captures/meoc-jan.pcapng", kept[4:])  # the first two frames of each direction
    document: Any = analyse(folder, analyses(), page=False)
    for way in document["tunnels"][0]["directions"]:
        assert (way["unseen"], way["lost"], way["delay_us"]["count"]) == (2, 0, 48)
    assert document["verdict"]["status"] == "degraded"
