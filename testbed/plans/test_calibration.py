# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from netboxes.technology import technologies
from testbed.errors import NetBoxITError
from testbed.plans import calibration
from testbed.plans.calibration import Calibration, Costs, Machine, NoCalibration, PortCost, TechnologyCost
from testbed.probes import calibrate

MADE_UP = Calibration(
    measured="2026-11-21T00:00:00+00:00",
    machine=Machine.this(),
    technologies={"wifi": TechnologyCost(program="x", idle_share=0.01, frame=Costs(small_us=1.0, large_us=2.0))},
    ports={"packet": PortCost(alone=Costs(small_us=3.0, large_us=4.0), among_many=Costs(small_us=1.0, large_us=2.0))},
    missing={"xdp": "the kernel has none"},
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def test_a_calibration_is_kept_in_the_users_cache(cache: Path) -> None:
    assert MADE_UP.write() == cache / "netboxit" / "calibration.json"
    assert calibration.read() == MADE_UP


def test_without_one_the_command_that_makes_it_is_named() -> None:
    with pytest.raises(NoCalibration, match="`netboxit calibrate` measures it"):
        calibration.read()


def test_a_file_that_is_none_is_told_with_the_remedy() -> None:
    MADE_UP.write().write_text('{"version": 0}')
    with pytest.raises(NoCalibration, match=r"another version.*`netboxit calibrate` writes it anew"):
        calibration.read()


def test_every_technology_that_passes_frames_on_can_be_calibrated() -> None:
    for name, technology in technologies().items():
        if technology.TYPICAL is None:
            assert name in ("generator", "sink"), "an end of the network"
        else:
            assert len(technology.model_validate(technology.TYPICAL).model_dump()["stations"]) == 2


def test_a_machine_on_which_more_frames_cost_less_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrate, "technologies", lambda: {"ethernet": technologies()["ethernet"]})
    monkeypatch.setattr(calibrate, "_KINDS", {})
    monkeypatch.setattr(calibrate, "_cpu_s", lambda *_: 0.03)
    with pytest.raises(NetBoxITError, match="ethernet: more frames took no more CPU time than fewer"):
        calibrate.calibrate(lambda _: None)


@pytest.mark.lab
@pytest.mark.usefixtures("nothing_left")
def test_frames_cost_a_netbox_and_its_ports_time_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrate, "technologies", lambda: {"ethernet": technologies()["ethernet"]})
    monkeypatch.setattr(calibrate, "_PORT_DURATION_S", 0.2)
    found = calibrate.calibrate(lambda _: None)
    assert found.stale() == []
    assert found.technologies["ethernet"].frame.small_us > 0
    assert found.ports["packet"].alone.small_us > 0
    assert {*found.ports, *found.missing} == {"packet", "xdp", "memory"}
