# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from applications.registry import analyses
from contracts.plan import NodeKind, Plan
from contracts.run_folder import VERSION
from results import pcapng
from results.analyse import analyse
from results.conftest import CENTRE, FIELD, MS, START_NS, US, Journey, SyntheticRun, frame, rtp
from results.records import Fate
from results.run_folder import NoRun, OtherVersion


def by_direction(entries: Sequence[Any], direction: str) -> Any:
    return next(entry for entry in entries if entry["direction"] == direction)


def test_constant_delays_are_measured_exactly(synthetic: SyntheticRun) -> None:
    synthetic.calls(300, gaps=(2 * US, 30 * US, 3 * US), inside=(5 * MS, 250 * MS))
    document: Any = analyse(synthetic.write(), analyses(), page=False)
    for direction in ("return", "forward"):
        flow = by_direction(document["flows"], direction)
        assert (flow["name"], flow["packets"], flow["received"], flow["loss_ratio"]) == ("call.voice", 300, 300, 0.0)
        for name in ("mean", "min", "max", "p50", "p99"):
            assert flow["one_way_delay_ms"][name] == pytest.approx(255.035, abs=1e-6)
        # Packets come exactly as their timestamps say: no jitter. 12 bytes of RTP and 160 of speech each 20 ms are 68.8 kbit/s.
        assert flow["jitter_ms"]["max"] == pytest.approx(0.0, abs=1e-6)
        assert flow["goodput_kbps"] == pytest.approx(68.8, rel=1e-9)
    assert document["overhead_us"]["mean"] == pytest.approx(35.0)
    assert document["overhead_without_routers_us"]["mean"] == pytest.approx(5.0)
    assert document["verdict"] == {"status": "valid", "reasons": [], "advice": [], "notes": []}


def test_each_segment_and_each_gap_has_its_own_delay(synthetic: SyntheticRun) -> None:
    synthetic.calls(20, gaps=(2 * US, 30 * US, 3 * US), inside=(5 * MS, 250 * MS))
    document: Any = analyse(synthetic.write(), analyses(), page=False)
    delays = {(segment["netbox"], segment["direction"]): segment["one_way_delay_ms"]["p50"] for segment in document["segments"]}
    # `inside` counts along the way, so the forward direction meets the satellite first.
    assert delays == pytest.approx(
        {("cell", "return"): 5, ("sky", "return"): 250, ("sky", "forward"): 5, ("cell", "forward"): 250}
    )
    gaps = [(gap["name"], gap["routers"], gap["us"]["p50"]) for gap in document["gaps"] if gap["direction"] == "return"]
    assert [(name, routers) for name, routers, _ in gaps] == [
        ("wire fr1 to cell", []),
        ("router meoc", ["meoc"]),
        ("wire sky to eoc", []),
    ]
    assert [us for *_, us in gaps] == pytest.approx([2, 30, 3])


def test_losses_are_counted_at_their_place_with_their_reason(synthetic: SyntheticRun) -> None:
    synthetic.calls(100)
    synthetic.journeys["return"][10].lost = ("sky", Fate.ON_AIR)
    synthetic.journeys["return"][11].lost = ("cell", Fate.QUEUE_FULL)
    synthetic.journeys["return"][12].lost = ("sky", Fate.ON_AIR)
    document: Any = analyse(synthetic.write(), analyses(), page=False)
    flow = by_direction(document["flows"], "return")
    assert flow["loss_ratio"] == pytest.approx(0.03)
    assert flow["losses"] == [{"at": "sky", "why": "on the air", "frames": 2}, {"at": "cell", "why": "queue full", "frames": 1}]
    assert by_direction(document["flows"], "forward")["losses"] == []
    sky = next(segment for segment in document["segments"] if (segment["netbox"], segment["direction"]) == ("sky", "return"))
    assert (sky["packets"], sky["lost"], sky["one_way_delay_ms"]["count"]) == (99, 2, 97)


def test_a_frame_that_vanishes_between_two_points_is_lost_there(synthetic: SyntheticRun) -> None:
    synthetic.calls(50)
    folder = synthetic.write()
    # The netbox behind the router never saw the frame.
    records_file = folder / "nodes/sky/frames.bin"
    content = records_file.read_bytes()
    records_file.write_bytes(content[:16] + content[16 + 48 :])
    first = synthetic.journeys["return"][0].data
    kept = [packet for packet in pcapng.read(folder / "captures/eoc.pcapng") if packet.data != first]
    pcapng.write(folder / "captures/eoc.pcapng", kept)
    assert by_direction(analyse(folder, analyses(), page=False)["flows"], "return")["losses"] == [
        {"at": "router meoc", "why": "not seen again", "frames": 1}
    ]


def test_frames_of_equal_identity_are_matched_in_order(synthetic: SyntheticRun) -> None:
    same = frame(FIELD, CENTRE, 7, rtp(1, 160))
    delays = (10 * MS, 20 * MS, 30 * MS)
    for number, delay in enumerate(delays):
        synthetic.journeys["return"].append(Journey(same, START_NS + number * 100 * MS, (0, 0, 0), (delay, MS)))
    rows = pl.read_parquet(analyse_into(synthetic) / "frames.parquet").filter(pl.col("direction") == "return")
    assert rows["identity"].n_unique() == 1
    assert (rows["received_ns"] - rows["sent_ns"]).to_list() == [delay + MS for delay in delays]
    assert (rows["out_ns.cell"] - rows["in_ns.cell"]).to_list() == list(delays)


def test_frames_on_their_way_when_the_captures_ended_are_not_called_lost(synthetic: SyntheticRun) -> None:
    synthetic.calls(100)
    folder = synthetic.write()
    # The captures end while the last ten packets are still on their way.
    end = synthetic.journeys["return"][90].sent_ns + 255 * MS
    for host in ("fr1", "eoc"):
        kept = [packet for packet in pcapng.read(folder / f"captures/{host}.pcapng") if packet.time_ns <= end]
        pcapng.write(folder / f"captures/{host}.pcapng", kept)
    flow = by_direction(analyse(folder, analyses(), page=False)["flows"], "return")
    assert flow["packets"] == flow["received"] == 90


def test_what_cannot_be_measured_is_null_with_a_reason_and_the_run_invalid(synthetic: SyntheticRun) -> None:
    synthetic.calls(1)
    synthetic.journeys["forward"].clear()
    folder = synthetic.write()
    (folder / "nodes/sky/statistics.json").unlink()
    (folder / "nodes/sky/frames.bin").unlink()
    document: Any = analyse(folder, analyses(), page=False)
    there, back = by_direction(document["flows"], "return"), by_direction(document["flows"], "forward")
    assert there["jitter_ms"] is None and there["goodput_kbps"] is None
    assert there["reason"] == "one frame is too few for jitter and goodput"
    assert back["one_way_delay_ms"] is None and back["loss_ratio"] is None
    assert document["overhead_us"] is None
    assert document["verdict"]["status"] == "invalid"
    told = "\n".join(document["verdict"]["reasons"])
    for words in (
        "netbox sky left no statistics",
        "netbox sky: no frame records",
        "call.voice (forward): not one frame was sent",
    ):
        assert words in told


def test_a_run_that_was_cut_short_is_analysed_and_invalid(synthetic: SyntheticRun) -> None:
    synthetic.calls(10)
    folder = synthetic.write()
    (folder / "run.json").write_text(
        json.dumps({"started": "2026-01-01", "ended": "2026-01-01", "failure": "netbox cell has ended"})
    )
    (folder / "traffic/call/flows.json").unlink()
    (folder / "captures/captures.json").unlink()
    document: Any = analyse(folder, analyses(), page=False)
    assert document["flows"] == []
    # What is missing is a consequence of the failure, and not told beside it.
    assert document["verdict"]["reasons"] == ["netbox cell has ended"]


def test_files_that_are_missing_for_no_known_reason_are_told(synthetic: SyntheticRun) -> None:
    synthetic.calls(10)
    folder = synthetic.write()
    (folder / "traffic/call/flows.json").unlink()
    (folder / "captures/captures.json").unlink()
    reasons = analyse(folder, analyses(), page=False)["verdict"]["reasons"]
    assert reasons == ["traffic call left no flows.json", "there are no captures at the hosts"]


def test_a_folder_that_is_no_run_is_refused(synthetic: SyntheticRun) -> None:
    synthetic.folder.mkdir()
    with pytest.raises(NoRun, match=r"has no plan\.json"):
        analyse(synthetic.folder, analyses(), page=False)


def analyse_into(run: SyntheticRun) -> Any:
    folder = run.write()
    analyse(folder, analyses())
    return folder


class ForkedRun(SyntheticRun):
    """fr1, router west; then netbox near, or netbox far, router relay, netbox further; then router east, eoc."""

    def plan(self) -> Plan:
        kinds: dict[str, NodeKind] = {"fr1": "host", "west": "router", "near": "netbox", "east": "router", "eoc": "host"}
        kinds |= {"far": "netbox", "relay": "router", "further": "netbox"}
        chains = ("fr1", "west", "near", "east", "eoc"), ("west", "far", "relay", "further", "east")
        return self.planned(kinds, [wire for chain in chains for wire in pairwise(chain)])

    def fail_over(self) -> None:
        """A frame each 20 ms: 100 by near, 10 that it loses, 90 by far and further, and the last 100 by near again."""
        near = {"gaps": (10 * US, 20 * US), "inside": (5 * MS,), "path": ("near",)}
        far = {"gaps": (10 * US, 40 * US, 20 * US), "inside": (250 * MS, 30 * MS), "path": ("far", "further")}
        for number in range(300):
            lost = ("near", Fate.OUTAGE) if 100 <= number < 110 else None
            data = frame(FIELD, CENTRE, number, rtp(number, number * 160))
            course: Any = far if 110 <= number < 200 else near
            self.journeys["return"].append(Journey(data, START_NS + number * 20 * MS, lost=lost, **course))


@pytest.fixture
def forked(tmp_path: Path) -> ForkedRun:
    run = ForkedRun(tmp_path / "run", netboxes=("near", "far", "further"))
    run.fail_over()
    return run


def test_each_path_of_a_flow_has_its_delays_and_each_change_its_time(forked: ForkedRun) -> None:
    flow = by_direction(analyse(forked.write(), analyses(), page=False)["flows"], "return")
    near, far = flow["paths"]
    assert (near["netboxes"], near["received"], near["first_s"], near["last_s"]) == (["near"], 200, 0.0, pytest.approx(5.98))
    assert (far["netboxes"], far["received"]) == (["far", "further"], 90)
    assert (far["first_s"], far["last_s"]) == pytest.approx((2.2, 3.98))
    for path, delay_ms in ((near, 5.03), (far, 280.07)):
        assert (path["one_way_delay_ms"]["min"], path["one_way_delay_ms"]["max"]) == pytest.approx((delay_ms, delay_ms))
    changes = [(one["time_s"], one["from"], one["to"]) for one in flow["path_changes"]["list"]]
    assert changes == [(pytest.approx(2.2), ["near"], ["far", "further"]), (pytest.approx(4.0), ["far", "further"], ["near"])]
    assert flow["path_changes"]["count"] == 2
    assert flow["losses"] == [{"at": "near", "why": "outage", "frames": 10}]


def test_segments_gaps_and_overhead_are_those_of_the_path_that_each_frame_took(forked: ForkedRun) -> None:
    document: Any = analyse(forked.write(), analyses(), page=False)
    segments = {
        segment["netbox"]: (segment["packets"], segment["lost"], segment["one_way_delay_ms"]["mean"])
        for segment in document["segments"]
    }
    assert segments == {
        "near": (210, 10, pytest.approx(5.0)),
        "far": (90, 0, pytest.approx(250.0)),
        "further": (90, 0, pytest.approx(30.0)),
    }
    gaps = {(gap["from"], gap["to"]): (gap["name"], gap["us"]["count"], gap["us"]["mean"]) for gap in document["gaps"]}
    assert gaps == {
        ("fr1", "near"): ("router west", 210, pytest.approx(10.0)),
        ("near", "eoc"): ("router east", 200, pytest.approx(20.0)),
        ("fr1", "far"): ("router west", 90, pytest.approx(10.0)),
        ("far", "further"): ("router relay", 90, pytest.approx(40.0)),
        ("further", "eoc"): ("router east", 90, pytest.approx(20.0)),
    }
    # 200 frames with 30 us outside of the netboxes, 90 with 70 us.
    assert document["overhead_us"]["count"] == 290
    assert document["overhead_us"]["mean"] == pytest.approx((200 * 30 + 90 * 70) / 290)


def test_the_outage_of_a_failover_tells_the_paths_on_both_sides(forked: ForkedRun) -> None:
    (outage,) = by_direction(analyse(forked.write(), analyses(), page=False)["flows"], "return")["outages"]["list"]
    assert (outage["before"]["via"], outage["after"]["via"], outage["lost"]) == (["near"], ["far", "further"], 10)


def test_frames_are_kept_with_their_paths_and_the_page_tells_them(forked: ForkedRun) -> None:
    folder = analyse_into(forked)
    frames = pl.read_parquet(folder / "frames.parquet").filter(pl.col("received_ns").is_not_null())
    assert dict(frames.group_by("path").len().iter_rows()) == {"near": 200, "far, further": 90}
    assert frames.filter(pl.col("path") == "near")["in_ns.far"].is_null().all()
    page = (folder / "report.html").read_text()
    for words in ("The paths of frames", "far, further", "280.1", "at 2.200 s from near to far, further", "at 4.000 s"):
        assert words in page


def test_a_flow_with_one_path_has_one_and_no_changes(synthetic: SyntheticRun) -> None:
    synthetic.calls(20)
    folder = synthetic.write()
    flow = by_direction(analyse(folder, analyses())["flows"], "forward")
    assert [(one["netboxes"], one["received"]) for one in flow["paths"]] == [(["sky", "cell"], 20)]
    assert flow["path_changes"] == {"count": 0, "list": []}
    assert "The paths of frames" not in (folder / "report.html").read_text()


def test_equal_frames_of_which_some_are_lost_keep_their_own_crossings(synthetic: SyntheticRun) -> None:
    """The satellite loses the last one: it saw three, and the captures at the destination two."""
    same = frame(FIELD, CENTRE, 7, rtp(1, 160))
    for number, delay in enumerate((10 * MS, 20 * MS, 30 * MS)):
        lost = ("sky", Fate.ON_AIR) if number == 2 else None
        synthetic.journeys["return"].append(Journey(same, START_NS + number * 100 * MS, (0, 0, 0), (delay, MS), lost))
    rows = pl.read_parquet(analyse_into(synthetic) / "frames.parquet").filter(pl.col("direction") == "return")
    assert ((rows["out_ns.cell"] - rows["in_ns.cell"]) // MS).to_list() == [10, 20, 30]
    assert rows["lost_at"].to_list() == [None, None, "sky"]


@pytest.mark.parametrize(
    ("told", "read"),
    [({}, False), ({"run_folder": VERSION - 1}, False), ({"run_folder": VERSION}, True), ({"run_folder": "x"}, False)],
)
def test_a_run_folder_of_another_version_is_refused(told: dict[str, object], read: bool, tmp_path: Path) -> None:
    run = SyntheticRun(tmp_path / "run")
    run.calls(10)
    folder = run.write()
    (folder / "environment.json").write_text(json.dumps(told))
    if read:
        analyse(folder, analyses(), page=False)
        return
    with pytest.raises(OtherVersion, match=r"run folder of version .*, and this NetBoxIT reads version 3; report it by the one"):
        analyse(folder, analyses(), page=False)
    assert not (folder / "metrics.json").exists()
