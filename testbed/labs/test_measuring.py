# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab is measured as long as the run's process lives."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from testbed.labs import measuring
from testbed.labs.event_log import EventLog
from testbed.labs.measuring import LabMeasured


def test_a_lab_that_a_run_measures_is_not_changed_behind_its_back(tmp_path: Path) -> None:
    lab = tmp_path / "sky"
    lab.mkdir()
    measuring.check(lab, "`apply`")
    measuring.begin(lab, Path("results/runs/one"))
    with pytest.raises(LabMeasured, match=r"lab sky is measured by the run results/runs/one, .* what `apply` changes"):
        measuring.check(lab, "`apply`")


def test_what_a_killed_run_left_behind_is_measured_by_nobody(tmp_path: Path) -> None:
    measuring.begin(tmp_path, tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_text(json.dumps(json.loads(file.read_text()) | {"process": f"{os.getpid()}-1"}))  # its number, used again
    measuring.check(tmp_path, "`apply`")


def test_a_lab_that_stays_up_is_measured_by_one_run_at_a_time_and_free_again_at_its_end(tmp_path: Path) -> None:
    measuring.claim(tmp_path, Path("runs/one"))
    with pytest.raises(LabMeasured, match=r"is measured by the run runs/one, .* wait for its end"):
        measuring.claim(tmp_path, Path("runs/two"))
    measuring.end(tmp_path)
    measuring.claim(tmp_path, Path("runs/two"))
    assert measuring.run_of(tmp_path) == "runs/two" and measuring.stays(tmp_path)


def test_a_lab_that_a_run_of_its_own_measures_takes_no_other_traffic(tmp_path: Path) -> None:
    measuring.begin(tmp_path, Path("runs/one"))
    with pytest.raises(LabMeasured):
        measuring.claim(tmp_path, Path("runs/two"))
    assert not measuring.stays(tmp_path)


def test_changes_by_hand_are_recorded_beside_the_traffic_as_long_as_it_lasts(tmp_path: Path) -> None:
    own = EventLog(tmp_path / "events.jsonl", tmp_path)
    own.begin()
    assert EventLog.of_traffic(tmp_path) is None
    (run := tmp_path / "run").mkdir()
    measuring.claim(tmp_path, run)
    of_run = EventLog(run / "events.jsonl", tmp_path)
    of_run.begin_beside()
    found = EventLog.of_traffic(tmp_path)
    assert found is not None and (found.file, found.began_ns) == (of_run.file, of_run.began_ns)
    assert found.at_s(time.monotonic()) == pytest.approx(of_run.at_s(time.monotonic()), abs=0.1)
    # The lab's own goes on, with its own times.
    assert (EventLog.of(tmp_path).file, EventLog.of(tmp_path).began_ns) == (own.file, own.began_ns)
    measuring.end(tmp_path)
    assert EventLog.of_traffic(tmp_path) is None
