# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames that nobody ought to send, from a seed, into every port of every kind of node (`make fuzz` sends ten million)."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from testbed.ownership.state import state_folder
from tests.fuzzed_network import DEADLINE_S, Fuzzed
from tests.traces import traces

pytestmark = pytest.mark.lab

FRAMES_EACH, RATE = 250, 20_000
#: Their queues take half a minute to be worked off.
NARROW = ("pan", "pmr")


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzed]:
    folder = tmp_path_factory.mktemp("fuzz")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NETBOXIT_STATE", str(folder))
        before = traces(state_folder())
        with Fuzzed.up(f"fuzz{os.getpid()}", folder) as network:
            yield network
        assert traces(state_folder()) == before


def test_hostile_frames_do_no_harm_and_each_is_accounted_for(fuzzed: Fuzzed) -> None:
    before = fuzzed.resources()
    taken = fuzzed.send(1, FRAMES_EACH, RATE)
    assert taken > 0.99 * FRAMES_EACH * len(fuzzed.hosts)
    assert fuzzed.complaints() == []
    after = fuzzed.resources()
    assert {name: node.memory_kib.keys() for name, node in after.items()} == {
        name: node.memory_kib.keys() for name, node in before.items()
    }
    assert fuzzed.unreached(DEADLINE_S, besides=NARROW) == []
