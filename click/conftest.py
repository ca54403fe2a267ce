# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from system import rings
from testbed.nodes import routers
from tests.click_lab import Meoc, Router, three_namespaces
from tests.memory_router import CAPACITY

CLICK = Path(__file__).resolve().parent


@contextmanager
def running(folder: Path, mtu: int) -> Iterator[Meoc]:
    with (
        three_namespaces(mtu) as (fr1, space, eoc),
        Router(space, folder, CLICK / "meoc.click", routers.defines(Meoc.INTERFACES)) as router,
    ):
        yield Meoc(fr1, eoc, router)


@pytest.fixture(scope="module")
def meoc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Meoc]:
    """The emergency network's middle with a router that runs meoc.click."""
    with running(tmp_path_factory.mktemp("meoc"), mtu=1500) as meoc:
        yield meoc


@pytest.fixture
def wide_meoc(tmp_path: Path) -> Iterator[Meoc]:
    """The same with wires that carry more than the router's MTU of 1500."""
    with running(tmp_path, mtu=9000) as meoc:
        yield meoc


@pytest.fixture
def wires(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Folders of two memory wires."""
    monkeypatch.setattr(rings, "FOLDER", tmp_path / "rings")
    return [rings.create("lab", name, CAPACITY) for name in ("ian", "jan")]
