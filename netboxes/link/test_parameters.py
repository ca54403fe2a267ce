# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from netboxes.link.parameters import Parameters
from testbed.description.live import parsed, read_value

LINK: dict[str, Any] = {"stations": {"left": {}, "right": {}}}


def dumped(link: dict[str, Any], folder: Path | None = None) -> dict[str, Any]:
    return Parameters.model_validate(LINK | link, context={"folder": folder} if folder else None).model_dump(mode="json")


def test_short_forms() -> None:
    link = dumped(
        {"delay": "20 ms", "jitter": "5 ms", "queue": "codel", "corruption": 1e-6, "stations": {"a": {"queue": 50}, "b": {}}}
    )
    assert (link["jitter"]["distribution"], link["jitter"]["deviation"]) == ("normal", 0.005)
    assert (link["queue"]["discipline"], link["queue"]["target"]) == ("codel", 0.005)
    assert link["corruption"] == {"bit_error_rate": 1e-6, "frames": "damaged"}
    assert {key: value for key, value in link["stations"]["a"]["queue"].items() if value is not None} == {
        "discipline": "fifo",
        "packets": 50,
    }


def test_a_zero_that_is_said_is_no_default() -> None:
    """RFC 8033, 5.1: MAX_BURST is configurable; with 0 no burst is let through."""
    assert dumped({"queue": {"discipline": "pie", "burst": "0 s"}})["queue"]["burst"] == 0.0
    assert dumped({"queue": "pie"})["queue"]["burst"] == 0.15
    assert read_value(Parameters, *parsed("left.queue={discipline: pie, burst: 0 s}"))["burst"] == 0.0


def test_what_changes_live_is_said_as_in_yaml() -> None:
    assert read_value(Parameters, *parsed("rate=2 Mbit/s")) == 2e6
    assert read_value(Parameters, *parsed("left.loss={probability: 0.2, burst: 4}")) == {
        "model": "gilbert-elliott",
        "good_to_bad": pytest.approx(0.0625),
        "bad_to_good": 0.25,
        "loss_in_good": 0.0,
        "loss_in_bad": 1.0,
    }
    assert read_value(Parameters, *parsed("left.jitter=5 ms"))["distribution"] == "normal"
    assert read_value(Parameters, *parsed("outage={up: 10 s, down: 1 s}")) == {
        "up": 10.0,
        "down": 1.0,
        "distribution": "exponential",
    }


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"stations": {"a": {}, "b": {}, "c": {}}}, "a link has two stations, not 3"),
        ({"rate": "10 bit/s"}, "outside 1 kbit/s … 100 Gbit/s"),
        ({"delay": "20 s"}, "outside 0 s … 10 s"),
        ({"loss": 1.5}, "less than or equal to 1"),
        ({"jitter": "5 ms"}, "would lose its lower half"),
        ({"delay": "1 s", "jitter": {"distribution": "pareto"}}, "a pareto distribution needs a `deviation`"),
        ({"delay": "1 s", "jitter": {"distribution": "table"}}, "belong together"),
        ({"queue": {"discipline": "codel", "flows": 7}}, "codel has no flows; it has target, interval"),
        ({"queue": {"discipline": "red", "minimum": 20}}, "`minimum` must be less than `maximum`"),
        ({"queue": 0}, "greater than or equal to 1"),
        ({"corruption": 0.7}, "less than or equal to 0.5"),
        ({"trace": "nowhere.csv"}, "there is no file nowhere.csv"),
        ({"stations": {"left": {}}}, "at least 2 items"),
        ({"stations": {"left": {"weight": 1}, "right": {}}}, "Extra inputs"),
    ],
)
def test_bad_parameters_are_refused_with_what_is_permitted(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        dumped(wrong)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("5\n3\n", "line 2: 3 ms comes after 5 ms"),
        ("5\nx\n", "line 2: 'x' is not a time in whole milliseconds"),
        ("0\n0\n", "above 0 ms"),
        ("time_s,rate_bit_s\n1,5\n", "a trace begins at 0"),
        ("time_s,rate_bit_s\n0,5\n0,6\n", "put them in order"),
        ("time_s\n0\n", "no column besides time_s"),
        ("time_s,loss\n0,2\n1,0\n", "loss is 2 at 0 s, outside 0 … 1"),
        ("time_s,rate_bit_s\n0,0\n1,0\n", "0 throughout"),
        ("time_s,rate_bit_s\n0,5\n", "one row, which cannot repeat"),
        ("time_s,speed\n0,5\n", "unknown column speed"),
    ],
)
def test_bad_traces_are_refused_with_file_and_line(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "bad").write_text(content)
    with pytest.raises(ValidationError) as refused:
        dumped({"trace": "bad"}, tmp_path)
    assert message in str(refused.value)
    assert "bad" in str(refused.value)


def test_a_measured_distribution_comes_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "measured.csv").write_text("jitter_s\n0.003\n-0.001\n")
    link = dumped({"delay": "20 ms", "jitter": {"distribution": "table", "table": "measured.csv"}}, tmp_path)
    assert link["jitter"]["table"] == [0.003, -0.001]
