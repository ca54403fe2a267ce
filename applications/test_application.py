# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from applications.application import ApplicationFailed, ApplicationOptions, Running
from applications.call.application import Call, CallOptions
from applications.camera.application import Camera
from applications.conftest import traffic_plan
from applications.dscp import parse_dscp
from applications.registry import applications


class Ended:
    """A program that has ended with a status."""

    pid = 1

    def __init__(self, status: int) -> None:
        self._status = status

    def poll(self) -> int:
        return self._status

    def wait(self, timeout_s: float | None = None, /) -> int:
        return self._status

    def release(self) -> None: ...
    def interrupt(self) -> None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


def test_applications_are_found_by_their_modules() -> None:
    assert applications()["call"] is Call
    assert applications()["camera"] is Camera


def test_options_take_quantities_and_refuse_what_they_do_not_know() -> None:
    assert CallOptions.model_validate({"duration": "2 min", "dscp": "ef", "playout": "80 ms"}).duration == 120.0
    with pytest.raises(ValidationError, match="Extra inputs"):
        ApplicationOptions.model_validate({"durations": "2 min"})
    with pytest.raises(ValidationError, match="needs one of"):
        ApplicationOptions.model_validate({"duration": 20})


@pytest.mark.parametrize(("name", "value"), [("ef", 46), ("AF41", 34), ("cs6", 48), ("be", 0), ("af13", 14), (46, 46)])
def test_dscps_are_known_by_name(name: str | int, value: int) -> None:
    assert parse_dscp(name) == value


@pytest.mark.parametrize("name", ["ff", 64, -1, True])
def test_other_dscps_are_refused(name: object) -> None:
    with pytest.raises(ValueError, match="is not a DSCP"):
        parse_dscp(name)


def test_a_program_that_ended_early_is_told_with_the_end_of_its_log(tmp_path: Path) -> None:
    camera = Camera(traffic_plan("camera"), None, tmp_path)  # type: ignore[arg-type]
    log = tmp_path / "left-sender.log"
    log.write_text("".join(f"line {number}\n" for number in range(100)) + "\r no such codec")
    camera._running.append(Running("left", "sender", Ended(3), log, 1.0, held=False, ends_with=0))
    with pytest.raises(ApplicationFailed, match=r"(?s)sender on left ended with status 3.*line 99\n\n no such codec$") as failure:
        camera.check()
    assert "line 50" not in str(failure.value)


def test_a_finite_program_that_ended_well_is_no_failure(tmp_path: Path) -> None:
    camera = Camera(traffic_plan("camera"), None, tmp_path)  # type: ignore[arg-type]
    camera._running.append(Running("left", "sender", Ended(0), tmp_path / "left-sender.log", 1.0, held=False, ends_with=0))
    camera.check()
