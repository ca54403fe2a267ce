# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever a user writes is refused with a reason or runs. `make random` tries 10 000 sets of each technology."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from netboxes.random_parameters import RAN, REFUSED, Trial, random_set, segments, try_numbered, try_set

SEGMENTS = segments()


@pytest.mark.parametrize("technology", SEGMENTS)
@settings(max_examples=40, derandomize=True, suppress_health_check=list(HealthCheck))
@given(chance=st.randoms(use_true_random=False))
def test_random_parameters_are_refused_with_a_reason_or_run(technology: str, chance: random.Random) -> None:
    trial = try_set(technology, chance)
    note(str(trial.parameters))
    assert trial.is_good, trial.outcome


@pytest.mark.parametrize("technology", SEGMENTS)
def test_some_sets_run_and_some_are_refused(technology: str) -> None:
    outcomes = {try_numbered(technology, number).outcome for number in range(40)}
    assert {RAN, REFUSED} <= outcomes


def test_a_set_of_a_number_is_the_same_every_time() -> None:
    assert random_set("wifi", random.Random(7)) == random_set("wifi", random.Random(7))


def test_what_neither_ran_nor_was_refused_is_wrong() -> None:
    assert not Trial({}, "the netbox failed: signal 6").is_good
