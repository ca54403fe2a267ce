# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be said of losses, and what becomes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from netboxes.errors.loss import Loss

FOLDER = Path(__file__).parent


def dumped(loss: dict[str, Any], folder: Path = FOLDER) -> dict[str, Any]:
    return Loss.model_validate(loss, context={"folder": folder}).model_dump(mode="json")


@pytest.mark.parametrize(
    ("loss", "meant"),
    [
        ({}, {"model": "independent", "probability": 0.0}),
        ({"probability": 0.1}, {"model": "independent", "probability": 0.1}),
        ({"probability": 0.2, "burst": 4}, (0.0625, 0.25, 0.0, 1.0)),
        ({"good_to_bad": 0.1, "bad_to_good": 0.4, "loss_in_good": 0.01, "loss_in_bad": 0.5}, (0.1, 0.4, 0.01, 0.5)),
        ({"good_to_bad": 0.1, "bad_to_good": 0.4}, (0.1, 0.4, 0.0, 1.0)),
        (
            {"model": "two-state", "good": "10 s", "bad": "100 ms"},
            {
                "model": "two-state",
                "good": 10.0,
                "bad": 0.1,
                "bit_error_rate_in_good": 1e-6,
                "bit_error_rate_in_bad": 1e-2,
            },
        ),
        (
            {"model": "byte-intervals", "interval": "128 KiB"},
            {"model": "byte-intervals", "interval": 131072.0, "distribution": "exponential"},
        ),
        (
            {"model": "gilbert-elliott-in-time", "good": "5 s", "bad": "1 s", "loss_in_bad": 0.5},
            {"model": "gilbert-elliott-in-time", "good": 5.0, "bad": 1.0, "loss_in_good": 0.0, "loss_in_bad": 0.5},
        ),
        (
            {"model": "trace", "file": "test-frames.csv"},
            {"model": "lost-frames", "frames": [0, 1, 1, 0], "repeat": True},
        ),
        (
            {"model": "trace", "file": "test-periods.csv", "repeat": False},
            {"model": "lost-periods", "periods": [[0.5, 1.0], [2.25, 2.5], [4.0, 4.0]], "repeat": False},
        ),
    ],
)
def test_each_way_of_saying_it_comes_to_one_model(loss: dict[str, Any], meant: Any) -> None:
    if isinstance(meant, tuple):
        names = ("good_to_bad", "bad_to_good", "loss_in_good", "loss_in_bad")
        meant = {"model": "gilbert-elliott", **{name: pytest.approx(value) for name, value in zip(names, meant, strict=True)}}
    assert dumped(loss) == meant


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"probability": 0.9, "burst": 2}, "lose 0.6667 of all at most, not 0.9"),
        ({"burst": 2}, "`burst` needs a `probability`"),
        ({"probability": 0.1, "good_to_bad": 0.1}, "say either"),
        ({"loss_in_bad": 0.1}, "needs `good_to_bad` and `bad_to_good`"),
        ({"good_to_bad": 0, "bad_to_good": 0}, "never changes"),
        ({"interval": "10 kB"}, "independent has no interval; it has probability; say `model: byte-intervals`"),
        ({"model": "two-state", "good": "1 s", "bad": "1 s", "burst": 2}, "two-state has no burst; it has good, bad, bit_error"),
        ({"model": "two-state", "good": "1 s"}, "two-state needs `bad`"),
        ({"model": "two-state", "good": "1 us", "bad": "1 s"}, "outside 1 ms … 24 h"),
        ({"model": "byte-intervals"}, "byte-intervals needs `interval`"),
        ({"model": "trace"}, "trace needs `file`"),
        ({"model": "rain"}, "Input should be 'independent'"),
    ],
)
def test_what_does_not_go_together_is_refused_with_what_does(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        dumped(wrong)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("lost\n0\n2\n", "lost is 2; it is 1 for a frame that is lost"),
        ("lost,from_s,to_s\n0,1,2\n", "by frame or by time"),
        ("from_s\n0\n", "needs a column lost, or both from_s and to_s"),
        ("from_s,to_s\n2,1\n", "a period from 2 s to 1 s"),
        ("from_s,to_s\n1,3\n2,4\n", "from 2 s begins before the one above it ends"),
        ("from_s,to_s\n0,0\n", "takes no time, so it cannot repeat"),
    ],
)
def test_bad_traces_are_refused_with_their_file(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "bad.csv").write_text(content)
    with pytest.raises(ValidationError) as refused:
        dumped({"model": "trace", "file": "bad.csv"}, tmp_path)
    assert message in str(refused.value)
    assert "bad.csv" in str(refused.value)
