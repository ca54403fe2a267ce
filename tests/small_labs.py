# SPDX-License-Identifier: GPL-2.0-or-later
"""Small labs, planned by hand, and what of them must be gone afterwards."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from contracts.plan import InterfacePlan, Limits, NodePlan, Plan, WireEnd, WirePlan
from ownership import state
from system import cores
from tests.traces import traces

PlanPair = Callable[..., Plan]

_LIMITS = Limits()
RoomFor = Callable[[int], AbstractContextManager[None]]


@pytest.fixture
def plan_pair(request: pytest.FixtureRequest) -> PlanPair:
    """Two hosts, left (10.99.0.1) and right (10.99.0.2), joined by one wire; `lab` names it, `right` replaces right's command."""

    def make(
        lab: str = "pair",
        *,
        right: tuple[str, ...] = ("sleep", "infinity"),
        mtu: int = 1500,
        capabilities: tuple[str, ...] = (),
        limits: Limits = _LIMITS,
    ) -> Plan:
        # The process's number keeps tests that run side by side apart.
        name = f"{lab}-{os.getpid()}"
        nodes = []
        for number, (node, command) in enumerate({"left": ("sleep", "infinity"), "right": right}.items(), start=1):
            interface = InterfacePlan(
                "wire", "cable", f"02:00:00:00:00:{number:02x}", (f"10.99.0.{number}/24", f"fd99::{number}/64")
            )
            nodes.append(
                NodePlan(
                    name=node,
                    kind="host",
                    container=f"netboxit-{name}-{node}",
                    namespace=f"netboxit-{name}-{node}",
                    cores=(cores.available_cores()[-1],),
                    command=command,
                    interfaces=(interface,),
                    capabilities=capabilities,
                    limits=limits,
                )
            )
        wire = WirePlan("cable", WireEnd("left", "wire"), WireEnd("right", "wire"), mtu)
        return Plan(name, "pair.yaml", 1, tuple(nodes), (wire,), (), 1e-3, "mark")

    return make


@pytest.fixture
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Labs of the test are kept in a folder of their own."""
    monkeypatch.setenv("NETBOXIT_STATE", str(tmp_path))
    return state.state_folder()


@pytest.fixture
def room_for() -> RoomFor:
    """A with block in which no file gets longer than so many bytes, as if the disk were full then.

    A write that goes on beyond them is shortened to what there is room for, the next one fails (RLIMIT_FSIZE, setrlimit(2)).
    """

    @contextmanager
    def room(length: int) -> Iterator[None]:
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        ended_by = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (length, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, ended_by)

    return room


@pytest.fixture
def nothing_left(state_folder: Path) -> Iterator[None]:
    """After the test the host has what it had before: namespaces, interfaces, mounts, control groups, processes, files."""
    before = traces(state_folder)
    yield
    assert traces(state_folder) == before
