# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of paths: from captures of a known link, and what a link does that plays them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netboxes.engine.virtual import Emulation, run, udp
from netboxes.link.parameters import Parameters
from results import pcapng
from results.records import Fate
from system.user_privileges import FileThere
from testbed.labs.lab import Lab
from testbed.observation import record
from testbed.observation.record import (
    BadRecord,
    NothingInCommon,
    Probing,
    check,
    check_target,
    of_captures,
    of_run,
    path_between,
    read_rate,
    write,
)
from testbed.observation.record_trace import PathTrace, Step
from tests.two_machines import TwoMachines

FRAME_BYTES = 1000 + 28 + 14


def play(link: dict[str, Any], folder: Path, count: int, gap_s: float) -> Emulation:
    """Numbered datagrams both ways over a link."""
    said = {"stations": {"left": {}, "right": {}}, **link}
    parameters = Parameters.model_validate(said, context={"folder": folder}).model_dump(mode="json")
    ways = {"left": (1, 2), "right": (2, 1)}
    frames = {
        station: [(1 + n * gap_s, udp(*ends, 1000, identification=n)) for n in range(count)] for station, ends in ways.items()
    }
    ran = run("link", ["left", "right"], parameters, frames)
    for station in ways:
        seen = [(round(at * 1e9), data) for at, data in [*frames[station], *ran.received[station]]]
        pcapng.write(folder / f"{station}.pcapng", sorted(seen))
    return ran


def shares_and_delays(ran: Emulation) -> list[tuple[float, float]]:
    """By direction, share lost and median delay, s."""
    found = []
    for station in (0, 1):
        records = ran.records[ran.records["station_in"] == station]
        arrived = records[records["fate"] == Fate.DELIVERED]
        found.append((1 - len(arrived) / len(records), float(np.median(arrived["out_ns"] - arrived["in_ns"])) / 1e9))
    return found


def test_a_recorded_link_is_played_as_it_was(tmp_path: Path) -> None:
    stations = {"left": {"delay": "30 ms"}, "right": {"delay": "80 ms", "loss": 0.1}}
    original = play({"stations": stations}, tmp_path, 2000, 0.01)
    files = (tmp_path / "left.pcapng", tmp_path / "right.pcapng")
    traces = of_captures(("left", "right"), files, 1.0, saturated=False)
    assert [(trace.source, trace.destination) for trace in traces] == [("left", "right"), ("right", "left")]
    written = write(traces, tmp_path / "path.csv", mahimahi=False)
    assert [trace_file.file.name for trace_file in written] == ["path-left-to-right.csv", "path-right-to-left.csv"]
    again = play(
        {"stations": {"left": {"trace": written[0].file.name}, "right": {"trace": written[1].file.name}}}, tmp_path, 2000, 0.01
    )
    for (lost, delay), (lost_again, delay_again) in zip(shares_and_delays(original), shares_and_delays(again), strict=True):
        assert delay_again == pytest.approx(delay, abs=1e-4)
        assert lost_again == pytest.approx(lost, abs=0.025)


def test_a_run_over_two_machines_is_recorded_on_one_clock(tmp_path: Path) -> None:
    run = TwoMachines(tmp_path / "run", offset_ns=-3_000_000_000)
    run.calls(200)
    there, back = of_run(run.write(), ("fr1", "eoc"), 1.0, saturated=False)
    assert (there.source, back.source) == ("fr1", "eoc")
    for trace in (there, back):
        assert trace.columns()["delay_s"][0] == pytest.approx(0.2551, abs=1e-4)


def test_a_path_that_was_kept_full_tells_its_rate(tmp_path: Path) -> None:
    (tmp_path / "rate.csv").write_text("time_s,rate_bit_s\n0,4e6\n5,1e6\n10,4e6\n")
    slow = {"stations": {"left": {"trace": {"file": "rate.csv", "repeat": False}}, "right": {}}, "delay": "20 ms"}
    play({**slow, "queue": 20}, tmp_path, 5000, 0.002)
    files = (tmp_path / "left.pcapng", tmp_path / "right.pcapng")
    there = of_captures(("left", "right"), files, 1.0, saturated=True)[0]
    rates = there.columns()["rate_bit_s"]
    assert rates[1:5] == pytest.approx([4e6] * 4, rel=0.03)
    assert rates[6:9] == pytest.approx([1e6] * 3, rel=0.03)
    (moments,) = [write([there], tmp_path / "path", mahimahi=True)[0].file]
    again = play({"stations": {"left": {"trace": moments.name}, "right": {}}, "overhead": "4 B"}, tmp_path, 5000, 0.002)
    times = np.array([time for time, _ in again.received["right"]])
    for start, stop, rate in ((2.0, 6.0, 4e6), (7.0, 10.0, 1e6)):
        passed = ((times >= start) & (times < stop)).sum() * FRAME_BYTES * 8 / (stop - start)
        assert passed == pytest.approx(rate, rel=0.04)


def test_what_was_not_measured_is_as_before() -> None:
    trace = PathTrace("a", "b", [Step(0, None, 0.01, 0.0), Step(1, 2e6, None, 1.0), Step(2, None, 0.02, None)], 3.0)
    assert trace.columns() == {"rate_bit_s": [2e6, 2e6, 2e6], "delay_s": [0.01, 0.01, 0.02], "loss": [0.0, 1.0, 1.0]}


def test_moments_carry_the_rate_and_end_with_the_trace() -> None:
    trace = PathTrace("a", "b", [Step(0, 12.032e6, None, None), Step(1, 1.2032e6, None, None)], 2.0)
    moments = trace.milliseconds()
    assert sum(at <= 1000 for at in moments) == pytest.approx(1000, abs=1)
    assert len(moments) == pytest.approx(1100, abs=2)
    assert moments[-1] == 2000
    assert PathTrace("a", "b", [Step(0, None, 0.01, 0.0)], 1.0).milliseconds() == []


def test_captures_of_different_paths_are_told(tmp_path: Path) -> None:
    for name, source in (("one", 1), ("other", 7)):
        pcapng.write(tmp_path / f"{name}.pcapng", [(10**9 + n, udp(source, 2, 100, identification=n)) for n in range(5)])
    with pytest.raises(NothingInCommon, match="are they of the two ends of one path"):
        of_captures(("a", "b"), (tmp_path / "one.pcapng", tmp_path / "other.pcapng"), 1.0, saturated=False)
    with pytest.raises(BadRecord, match="there is no capture"):
        of_captures(("a", "b"), (tmp_path / "none.pcapng", tmp_path / "other.pcapng"), 1.0, saturated=False)


def test_a_path_has_two_ends(tmp_path: Path) -> None:
    assert path_between("a", "b") == ("a", "b")
    with pytest.raises(BadRecord, match="a is given as both"):
        path_between("a", "a")
    pcapng.write(file := tmp_path / "a.pcapng", [(10**9, udp(1, 2, 100))])
    with pytest.raises(BadRecord, match="as the capture at both ends"):
        of_captures(("a", "b"), (file, file), 1.0, saturated=False)


def test_who_interrupts_a_probing_is_told_that_nothing_was_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(record, "_end", lambda *_: None)
    monkeypatch.setattr(record, "probe", interrupted)
    with pytest.raises(KeyboardInterrupt) as told:
        record.of_lab(Lab("x", Path()), ("a", "b"), Probing(10.0, 1.0, 100.0, 1e6))
    assert told.value.__notes__ == ["nothing was recorded"]


def test_a_trace_that_is_there_is_kept_unless_the_user_says_otherwise(tmp_path: Path) -> None:
    out = tmp_path / "path"
    (tmp_path / "path-b-to-a.csv").write_text("an hour's work")
    with pytest.raises(FileThere, match=r"path-b-to-a.csv is there already; give another name, or --overwrite"):
        check_target(("a", "b"), out, mahimahi=False, overwrite=False)
    check_target(("a", "b"), out, mahimahi=False, overwrite=True)
    check_target(("a", "b"), out, mahimahi=True, overwrite=False)
    for elsewhere, told in ((tmp_path, "is a folder"), (tmp_path / "nowhere/path", "nowhere is no folder")):
        with pytest.raises(BadRecord, match=told):
            check_target(("a", "b"), elsewhere, mahimahi=False, overwrite=False)


@pytest.mark.parametrize(
    ("probing", "told"),
    [
        (Probing(1.0, 1.0, 100.0, 1e6), r"--duration is 1 s, outside 2 s \(two steps\) … 1 h"),
        (Probing(10.0, 0.1, 100.0, 1e6), "--step is 0.1 s, outside 0.2 … 60 s"),
        (Probing(10.0, 1.0, 1e6, 1e6), r"--packets is 1e\+06 a second, outside 1 … 1000"),
        (Probing(10.0, 1.0, 100.0, 1e9), "--most-rate is 1 Gbit/s, outside 10 kbit/s … 100 Mbit/s"),
    ],
)
def test_probing_has_limits(probing: Probing, told: str) -> None:
    with pytest.raises(BadRecord, match=told):
        check(probing)


def test_trains_keep_the_bound_of_the_probing_rate() -> None:
    assert 6 < Probing(10.0, 1.0, 100.0, 2e6).longest_train <= 2e6 / (1514 * 8)
    with pytest.raises(BadRecord, match="has no unit"):
        read_rate("5")
