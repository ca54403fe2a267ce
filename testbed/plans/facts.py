# SPDX-License-Identifier: GPL-2.0-or-later
"""What planning has to know of a machine. The same function reads it here, and there for whoever asks through a connection."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field

from contracts.plan import RealtimeSupport
from ownership import recorded
from system import cores, interface_facts
from system.interface_facts import InterfaceFacts
from system.realtime_support import realtime_support
from testbed.plans.switch_plan import Datapaths


@dataclass(frozen=True)
class Facts:
    """Of one machine."""

    #: Those that labs may use, lowest first.
    cores: tuple[int, ...]
    realtime: RealtimeSupport
    #: None: whoever has switches to plan finds it out, where this machine is meant.
    datapaths: Datapaths | None = None
    kernel: str = ""
    interfaces: tuple[InterfaceFacts, ...] = ()
    #: Cores on which other labs compute, and the lab.
    others: dict[int, str] = field(default_factory=dict)


def read(lab: str) -> Facts:
    """Of this machine, for whoever plans the lab of that name. SCHED_FIFO is tried out, and nothing is left of that."""
    return Facts(
        cores.available_cores(),
        realtime_support(),
        Datapaths.found(),
        platform.release(),
        interface_facts.read(),
        recorded.emulating(besides=lab),
    )
