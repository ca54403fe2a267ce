# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.guest import disks
from tests.guest.machine import Guest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A guest takes minutes for what a machine does in seconds, and it does not matter how long."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(1800))
            item.add_marker(pytest.mark.skipif(os.geteuid() != 0, reason="only root can make the disks of a guest"))


@pytest.fixture(scope="session")
def checkout_disk() -> Iterator[Path]:
    """This checkout as it is when the first guest boots."""
    disks.check_root()
    with disks.checkout() as made:
        yield made


@pytest.fixture(scope="session")
def booted(checkout_disk: Path) -> Iterator[tuple[Path, Sequence[Path]]]:
    """A guest that has just booted: the file in which it was saved, and its disks."""
    with disks.overlays(checkout_disk) as own, Guest(own) as guest:
        guest.save(saved := own[0].with_name("saved"))
        yield saved, own


@pytest.fixture(scope="module")
def fresh_guest(booted: tuple[Path, Sequence[Path]]) -> Iterator[Guest]:
    """A module's own, which goes on from there."""
    saved, below = booted
    with disks.overlays(*below) as own, Guest(own, saved=saved) as guest:
        yield guest
