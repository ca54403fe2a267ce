# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import contextlib
import math
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from contracts.quantities import FREQUENCY, GAIN, LENGTH, POWER, RATE, SIZE, SPEED, TIME, Dimension, Quantity


@pytest.mark.parametrize(
    ("dimension", "text", "value"),
    [
        (LENGTH, "80 m", 80.0),
        (LENGTH, "80m", 80.0),
        (LENGTH, "2.5 km", 2500.0),
        (LENGTH, ".5 km", 500.0),
        (LENGTH, "1_000 m", 1000.0),
        (LENGTH, "0", 0.0),
        (TIME, "254 ms", 0.254),
        (TIME, "5 us", 5e-6),
        (TIME, "5 µs", 5e-6),
        (TIME, "2 min", 120.0),
        (RATE, "2 Mbit/s", 2e6),
        (RATE, "1e3 kbit/s", 1e6),
        (FREQUENCY, "5 GHz", 5e9),
        (SIZE, "1 KiB", 1024.0),
        (POWER, "-82 dBm", -82.0),
        (GAIN, "3 dBi", 3.0),
        (SPEED, "36 km/h", 10.0),
    ],
)
def test_a_quantity_is_held_in_its_base_unit(dimension: Dimension, text: str, value: float) -> None:
    assert dimension.parse(text) == value


@pytest.mark.parametrize(
    ("dimension", "text", "words"),
    [
        (LENGTH, 80, "80 has no unit; a length needs one of m, km, cm"),
        (LENGTH, "2 KM", "did you mean 2 km?"),
        (RATE, "2 mbit/s", "did you mean 2 Mbit/s?"),
        (RATE, "2 Mbps", "did you mean 2 Mbit/s?"),
        (RATE, "2 Kbit", "did you mean 2 kbit/s?"),
        (TIME, "2 seconds", "did you mean 2 s?"),
        (TIME, "5 m", "use one of s, ms, us, ns, min, h"),
        (LENGTH, "5 mm", "use one of m, km, cm"),
        (RATE, "2 MB/s", "use one of bit/s, kbit/s"),
        (LENGTH, "5 furlong", "use one of m, km, cm"),
        (LENGTH, "1.2.3 m", "is not a length"),
        (LENGTH, "far", "is not a length"),
        (LENGTH, "nan m", "is not a length"),
        (LENGTH, None, "a length is written as a number and a unit"),
        (LENGTH, True, "a length is written as a number and a unit"),
        (LENGTH, ["80 m"], "a length is written as a number and a unit"),
        (POWER, 0, "0 has no unit"),
    ],
)
def test_what_is_no_quantity_is_told_why(dimension: Dimension, text: object, words: str) -> None:
    with pytest.raises(ValueError) as told:
        dimension.parse(text)
    assert words in str(told.value)


def test_limits_are_inclusive_and_named_as_a_person_writes_them() -> None:
    distance: Any = Annotated[float, Quantity(LENGTH, 1.0, 100e3)]
    near: TypeAdapter[float] = TypeAdapter(distance)
    assert near.validate_python("1 m") == 1.0
    assert near.validate_python("100 km") == 100e3
    for text in ("0.9 m", "101 km", "1e999 m"):
        with pytest.raises(ValidationError, match="is outside 1 m … 100 km"):
            near.validate_python(text)


@pytest.mark.parametrize(
    ("dimension", "value", "text"),
    [
        (TIME, 0.254, "254 ms"),
        (TIME, 86_400.0, "24 h"),
        (LENGTH, 2500.0, "2.5 km"),
        (SIZE, 1514.0, "1514 B"),
        (SIZE, 64_000.0, "64 kB"),
        (SIZE, 65_536.0, "64 KiB"),
        (RATE, 2e6, "2 Mbit/s"),
        (POWER, -82.0, "-82 dBm"),
        (LENGTH, 0.0, "0 m"),
    ],
)
def test_a_value_is_written_in_the_unit_that_makes_it_short(dimension: Dimension, value: float, text: str) -> None:
    assert dimension.write(value) == text


@given(st.sampled_from([LENGTH, TIME, RATE, FREQUENCY, SIZE, POWER, GAIN, SPEED]), st.floats(-1e12, 1e12))
def test_what_is_written_reads_back_the_same(dimension: Dimension, value: float) -> None:
    assert math.isclose(dimension.parse(dimension.write(value)), value, rel_tol=1e-9, abs_tol=1e-300)


@given(st.text())
def test_any_text_is_a_number_or_a_value_error(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert isinstance(LENGTH.parse(text), float)
