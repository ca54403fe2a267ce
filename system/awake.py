# SPDX-License-Identifier: GPL-2.0-or-later
"""Cores that do not sleep while labs need them.

An idle core halts, and takes time to come back: microseconds on a PC in a shallow state, hundreds of them in a deep one or when
the host of a virtual machine has to run it again, with its caches cold. The kernel's quality of service for a processor (PM QoS,
Documentation/ABI/testing/sysfs-devices-power) can forbid it any latency; its idle loop then watches for work instead of halting,
at the price of the core's full power.

The setting is the core's and not a lab's: labs that share a core hold it together, and the last one puts back what was there. Who
holds it is kept below /run, which a reboot empties as it resets the setting.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from contracts import durable
from contracts.errors import NetBoxITError
from system import holding, kernel

_CPUS = Path("/sys/devices/system/cpu")
_HELD = Path("/run/netboxit/awake")
#: What the setting reads and takes for "no latency at all"; 0 stands for "any".
_NO_LATENCY = "n/a"


class AwakeFailed(NetBoxITError):
    """A core could not be kept awake, or its setting could not be put back."""


def possible(core: int) -> bool:
    """Whether this kernel has the setting, and this process may change it."""
    return os.access(_setting(core), os.W_OK)


def is_awake(core: int) -> bool:
    """Whether the core is kept from halting, by a lab or by another program."""
    try:
        return _setting(core).read_text().strip() == _NO_LATENCY
    except FileNotFoundError:
        return False


def hold(core: int, lab: Path) -> None:
    """Keeps a core awake for the lab of that folder, until it is released."""
    with holding.locked(_HELD):
        holding.add(_folder(core) / "holders", lab)
        if not (before := _folder(core) / "before").exists():
            with _failures(core):
                setting = _setting(core).read_text().strip()
            durable.put(before, setting)
        _write(core, _NO_LATENCY)


def release(core: int, lab: Path) -> None:
    """The lab needs the core no longer. What the setting was comes back with the last holder, unless somebody else changed it."""
    with holding.locked(_HELD, make=False) as held:
        holders, before = _folder(core) / "holders", _folder(core) / "before"
        if not held or holding.drop(holders, lab):
            return
        if before.exists():
            if is_awake(core):
                _write(core, before.read_text())
            before.unlink()
        durable.beside(before).unlink(missing_ok=True)
        for folder in (holders, _folder(core)):
            with suppress(FileNotFoundError):
                folder.rmdir()


def _folder(core: int) -> Path:
    return _HELD / f"cpu{core}"


def _setting(core: int) -> Path:
    return _CPUS / f"cpu{core}" / "power" / "pm_qos_resume_latency_us"


def _write(core: int, value: str) -> None:
    with _failures(core), _setting(core).open("r+") as file:  # the kernel's file has nothing to be emptied of
        file.write(f"{value}\n")


def _failures(core: int) -> AbstractContextManager[None]:
    remedy = "be root, or leave `realtime: keep_awake` out"
    return kernel.errors_as(AwakeFailed, f"core {core} cannot be kept awake: {_setting(core)}", remedy)
