# SPDX-License-Identifier: GPL-2.0-or-later
"""The setting of a core in an ordinary folder that looks like the kernel's; and once the kernel's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ownership.ledger import Ledger, Record
from system import awake
from system.awake import AwakeFailed
from testbed.labs import lab_status
from testbed.labs.lab import Lab
from tests.small_labs import PlanPair


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(awake, "_CPUS", tmp_path / "cpu")
    monkeypatch.setattr(awake, "_HELD", tmp_path / "held")
    file = tmp_path / "cpu/cpu3/power/pm_qos_resume_latency_us"
    file.parent.mkdir(parents=True)
    file.write_text("200\n")
    return file


def labs(tmp_path: Path, *names: str) -> list[Path]:
    folders = [tmp_path / "labs" / name for name in names]
    for folder in folders:
        folder.mkdir(parents=True)
    return folders


def test_a_core_is_awake_until_its_lab_releases_it_and_then_as_before(setting: Path, tmp_path: Path) -> None:
    (lab,) = labs(tmp_path, "one")
    assert awake.possible(3) and not awake.is_awake(3)
    awake.hold(3, lab)
    assert setting.read_text() == "n/a\n" and awake.is_awake(3)
    awake.release(3, lab)
    assert setting.read_text() == "200\n"
    assert not (tmp_path / "held").exists()


@pytest.mark.parametrize("first", [0, 1])
def test_of_two_labs_that_share_a_core_the_last_one_puts_its_setting_back(setting: Path, tmp_path: Path, first: int) -> None:
    both = labs(tmp_path, "one", "two")
    for lab in both:
        awake.hold(3, lab)
    awake.release(3, both.pop(first))
    assert awake.is_awake(3)
    awake.release(3, both.pop())
    assert setting.read_text() == "200\n"


def test_a_lab_whose_folder_was_removed_by_hand_holds_nothing(setting: Path, tmp_path: Path) -> None:
    gone, lab = labs(tmp_path, "gone", "lab")
    awake.hold(3, gone)
    awake.hold(3, lab)
    gone.rmdir()
    awake.release(3, lab)
    assert setting.read_text() == "200\n"


def test_what_somebody_else_set_meanwhile_stays(setting: Path, tmp_path: Path) -> None:
    (lab,) = labs(tmp_path, "one")
    awake.hold(3, lab)
    setting.write_text("7")
    awake.release(3, lab)
    assert setting.read_text() == "7"


def test_releasing_a_core_that_was_never_held_changes_nothing(setting: Path, tmp_path: Path) -> None:
    awake.release(3, tmp_path)
    assert setting.read_text() == "200\n"


def test_a_core_without_the_setting_is_named(setting: Path, tmp_path: Path) -> None:
    assert not awake.possible(4) and not awake.is_awake(4)
    with pytest.raises(AwakeFailed, match="core 4 cannot be kept awake"):
        awake.hold(4, tmp_path)
    awake.release(4, tmp_path)
    assert not (tmp_path / "held").exists()


@pytest.mark.lab
@pytest.mark.usefixtures("nothing_left")
def test_labs_keep_their_cores_awake_and_say_so(plan_pair: PlanPair) -> None:
    plans = [plan_pair("first"), plan_pair("second")]
    core = plans[0].nodes[0].cores[0]
    if not awake.possible(core):
        pytest.skip("this kernel has no latency setting of a core")
    with Lab.up(replace(plans[0], awake_cores=(core,))) as first:
        assert Record("awake core", str(core)) in Ledger(first.folder / "ledger.jsonl").records()
        with Lab.up(replace(plans[1], awake_cores=(core,))):
            pass
        assert awake.is_awake(core)
        assert all(node["awake"] for node in lab_status.of(first)["nodes"])
