# SPDX-License-Identifier: GPL-2.0-or-later
"""AppArmor: whether LXC's profile can confine containers here.

A kernel may have AppArmor on while nobody has loaded a profile: Debian's kernel has it, and the package `apparmor`, which loads
profiles at boot, can be absent. LXC then starts no container, unless it is told that containers are unconfined.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

#: LXC's default where containers have a control group namespace of their own, which they have in each kernel since 4.6.
PROFILE: Final = "lxc-container-default-cgns"

#: The parameter of the kernel's module, and the loaded profiles with their modes (apparmor(7)).
_ENABLED: Final = Path("/sys/module/apparmor/parameters/enabled")
_PROFILES: Final = Path("/sys/kernel/security/apparmor/profiles")


@dataclass(frozen=True)
class AppArmor:
    """What the kernel has."""

    #: Whether it is in the kernel, and on.
    enabled: bool
    #: Why it does not confine containers; None when it does.
    refused: str | None
    #: What would have it confine them.
    remedy: str = ""


def read(enabled: Path = _ENABLED, profiles: Path = _PROFILES) -> AppArmor:
    """Looks at the kernel's files."""
    try:
        if enabled.read_text().strip() != "Y":
            return AppArmor(False, "it is off in this kernel", "boot with apparmor=1 security=apparmor")
    except FileNotFoundError:
        return AppArmor(False, "this kernel does not have it", "a kernel with CONFIG_SECURITY_APPARMOR")
    try:
        loaded = dict(line.rsplit(" ", 1) for line in profiles.read_text().splitlines())
    except PermissionError:
        return AppArmor(True, "only root can see which profiles are loaded", "run as root")
    except OSError as error:
        return AppArmor(True, f"{profiles} cannot be read ({error.strerror})", "mount securityfs on /sys/kernel/security")
    if (mode := loaded.get(PROFILE)) is None:
        return AppArmor(
            True,
            f"it is on, but LXC's profile {PROFILE} is not loaded",
            "apt install apparmor && systemctl restart apparmor, which loads the profiles of all programs of this machine",
        )
    if mode != "(enforce)":
        return AppArmor(True, f"LXC's profile {PROFILE} is loaded in the mode {mode.strip('()')}", f"aa-enforce {PROFILE}")
    return AppArmor(True, None)
