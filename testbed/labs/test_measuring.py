# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab is measured as long as the run's process lives."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from testbed.labs import measuring
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
