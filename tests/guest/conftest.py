# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.guest import disks


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A guest takes minutes for what a machine does in seconds, and it does not matter how long."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(1200))
            item.add_marker(pytest.mark.skipif(os.geteuid() != 0, reason="only root can make the disks of a guest"))


@pytest.fixture(scope="session")
def checkout_disk() -> Iterator[Path]:
    """This checkout as it is when the first guest boots."""
    disks.check_root()
    with disks.checkout() as made:
        yield made


@pytest.fixture(scope="module")
def own_disks(checkout_disk: Path) -> Iterator[list[Path]]:
    """Disks of a module's own."""
    with disks.overlays(checkout_disk) as made:
        yield list(made)
