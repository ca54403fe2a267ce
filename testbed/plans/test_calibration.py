# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from netboxes.engine import virtual
from netboxes.technology import Technology, technologies
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
            assert name in ("endpoints", "generator", "sink"), "an end of the network"
        else:
            assert len(technology.model_validate(technology.TYPICAL).model_dump()["stations"]) == 2


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Has only these technologies calibrated, and no port."""

    def chosen(*names: str) -> None:
        monkeypatch.setattr(calibrate, "technologies", lambda: {name: technologies()[name] for name in names})
        monkeypatch.setattr(calibrate, "_KINDS", {})

    return chosen


def test_a_machine_on_which_more_frames_cost_less_is_not_believed(
    only: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    only("ethernet")
    monkeypatch.setattr(calibrate, "_cpu_s", lambda *_: 0.03)
    with pytest.raises(calibrate.NotMeasured, match=r"nothing could be measured:\nethernet: .* could not be told from chance"):
        calibrate.calibrate(lambda _: None)


def test_what_else_a_machine_does_now_and_then_changes_no_figure(
    only: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each frame takes 5 us, the rest 20 ms and 10 us a simulated second; one of three trials is disturbed by up to 0.5 s."""
    only("ethernet", "pmr")
    chance = random.Random(1)

    def disturbed(name: str, technology: object, frame_bytes: int, rate: float, duration_s: float) -> float:
        other = chance.uniform(0.01, 0.5) if chance.random() < 1 / 3 else 0.0
        return 0.02 + 1e-5 * duration_s + 5e-6 * int(rate * duration_s) + other

    monkeypatch.setattr(calibrate, "_cpu_s", disturbed)
    figures = calibrate.calibrate(lambda _: None)
    assert figures.failed == {}
    for cost in figures.technologies.values():
        assert cost.frame.small_us == pytest.approx(5.0, rel=0.15)


def test_what_fails_is_told_and_the_rest_is_kept(only: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    only("ethernet", "wimax", "link")
    measured = calibrate._technology

    def one_fails(name: str, technology: type[Technology]) -> TechnologyCost:
        if name == "wimax":
            raise calibrate.NotMeasured("300 of 16000 frames were lost")
        return measured(name, technology)

    monkeypatch.setattr(calibrate, "_cpu_s", lambda name, kind, size, rate, lasts: 0.02 + rate * lasts * 5e-6)
    monkeypatch.setattr(calibrate, "_technology", one_fails)
    figures = calibrate.calibrate(lambda _: None)
    assert {*figures.technologies} == {"ethernet", "link"}
    assert figures.failed == {"wimax": "300 of 16000 frames were lost"}
    figures.write()
    assert calibration.read() == figures


@pytest.mark.parametrize(("lost", "is_measured"), [(1, True), (160, True), (161, False)])
def test_a_frame_lost_now_and_then_does_not_matter(lost: int, is_measured: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = SimpleNamespace(statistics={"frames": {"lost": {"on_air": lost}}})
    monkeypatch.setattr(virtual, "run", lambda *_, **__: ran)
    with nullcontext() if is_measured else pytest.raises(calibrate.NotMeasured, match=f"{lost} of 16000 frames were lost"):
        calibrate._cpu_s("wimax", technologies()["wimax"], 60, 400.0, 40.0)


def test_an_earlier_figure_stays_where_this_time_it_failed() -> None:
    wifi = MADE_UP.technologies["wifi"].model_copy(update={"program": calibration.program_hash("wifi")})
    earlier = MADE_UP.model_copy(update={"technologies": {"wifi": wifi, "link": MADE_UP.technologies["wifi"]}})
    now = MADE_UP.model_copy(
        update={"technologies": {}, "ports": {}, "failed": {"wifi": "noise", "link": "noise", "packet ports": "noise"}}
    )
    whole = now.completed_by(earlier)
    assert (whole.technologies, whole.ports) == ({"wifi": wifi}, MADE_UP.ports), "link was built anew since"
    assert "was kept" in whole.failed["wifi"] and "was kept" in whole.failed["packet ports"]
    assert whole.failed["link"] == "noise"
    other = earlier.model_copy(update={"machine": Machine(cpu="another", kernel="1")})
    assert now.completed_by(other) == now


@pytest.mark.long
@pytest.mark.lab
@pytest.mark.usefixtures("nothing_left")
def test_frames_cost_a_netbox_and_its_ports_time_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrate, "technologies", lambda: {"ethernet": technologies()["ethernet"]})
    monkeypatch.setattr(calibrate, "_PORT_DURATION_S", 0.2)
    figures = calibrate.calibrate(lambda _: None)
    assert list(figures.stale()) == []
    # A machine that is busy just now may leave out some, and says so.
    kinds = {*figures.ports, *figures.missing, *(what.removesuffix(" ports") for what in figures.failed)}
    assert kinds - {"ethernet"} == {"packet", "xdp", "memory"} and {*figures.technologies, *kinds} >= {"ethernet"}
    frames = [cost.frame for cost in figures.technologies.values()]
    frames += [cost for port in figures.ports.values() for cost in (port.alone, port.among_many)]
    assert frames and all(cost.small_us > 0 and cost.large_us > 0 for cost in frames)
