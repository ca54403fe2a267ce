# SPDX-License-Identifier: GPL-2.0-or-later
"""What labs hold together is for root alone to lock, and a lock that is not released is waited for no longer than it may take."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from system import holding
from system.holding import HoldingBusy
from tests import strangers

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@pytest.fixture
def held(tmp_path: Path) -> Path:
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    return tmp_path / "netboxit/held"


def test_another_user_can_neither_list_nor_lock_it(held: Path) -> None:
    with holding.locked(held):
        holding.add(held / "holders", Path("/var/lib/netboxit/labs/x"))
    assert strangers.opened([held.parent, held, held / "holders"]) == []
    with strangers.locking(held.parent, held) as (_, locks), holding.locked(held):
        assert locks == 0


def test_what_an_older_version_left_open_is_closed(held: Path) -> None:
    held.mkdir(parents=True, mode=0o755)
    with holding.locked(held):
        assert strangers.opened([held.parent, held]) == []


def test_a_lock_that_is_not_released_is_not_waited_for_without_end(held: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody had it from before it was closed."""
    monkeypatch.setattr(holding, "_PATIENCE_S", 0.1)
    held.mkdir(parents=True, mode=0o755)
    told = "process {} holds its lock"
    with strangers.locking(held) as (pid, _), pytest.raises(HoldingBusy, match=told.format(pid)), holding.locked(held):
        pass
