# SPDX-License-Identifier: GPL-2.0-or-later
"""Operators: people who use labs without being root, by one sudo rule (docs/rights.md), and what root lets them have.

The rule is for one program, `ansible/netboxit_operator.py` where root installed it. It starts a command with root's rights and
says in the environment for whom.
"""

from __future__ import annotations

import grp
import json
import os
import pwd
import sys
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from contracts.errors import NetBoxITError, printable
from contracts.installation import CHECKOUT

if TYPE_CHECKING:
    from contracts.plan import EquipmentPlan

PROGRAM: Final = Path("/usr/local/sbin/netboxit-operator")
SETTINGS: Final = Path("/etc/netboxit/operators.json")
#: Set by the program: the number of the user for whom a command has root's rights.
VARIABLE: Final = "NETBOXIT_OPERATOR"
#: Below it a port is a service of the machine's (ip(7), ip_unprivileged_port_start).
_FIRST_PORT: Final = 1024


class NoPrivilege(NetBoxITError):
    """Something needs root's rights, and this user has no way to them, or may not have that of them."""


class NotConfined(NetBoxITError):
    """An operator may not be root in that node."""


@dataclass(frozen=True)
class Settings:
    """What root set: the checkout that operators use, their group, and the interfaces that they may take, as shell patterns."""

    checkout: Path
    group: str
    interfaces: tuple[str, ...]

    @classmethod
    def read(cls) -> Self:
        """Raises NoPrivilege when there are none, so that nobody is an operator."""
        try:
            settings = json.loads(SETTINGS.read_text())
            return cls(Path(settings["checkout"]), str(settings["group"]), tuple(map(str, settings["interfaces"])))
        except FileNotFoundError:
            raise NoPrivilege(
                "labs need root: run this by sudo, or have root name operators (ansible/operators.yml, docs/rights.md)"
            ) from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise NoPrivilege(f"{SETTINGS} cannot be used ({error}); have root run ansible/operators.yml again") from None


def operator() -> pwd.struct_passwd | None:
    """The account of the user for whom this process has root's rights; None when it is root's own, or has none."""
    number = os.environ.get(VARIABLE)
    if number is None or os.getuid() != 0:
        return None
    try:
        return pwd.getpwuid(int(number))
    except (ValueError, KeyError):
        raise NoPrivilege(f"{VARIABLE} is {printable(number)!r}, which is no user of this machine") from None


def as_root() -> None:
    """What needs root's rights begins so: an operator's command starts again with them, and says so.

    Whoever keeps labs in a folder of their own ($NETBOXIT_STATE) goes on as they are. Raises NoPrivilege.
    """
    if os.geteuid() == 0 or "NETBOXIT_STATE" in os.environ:
        return
    settings = Settings.read()
    print(
        f"netboxit: with root's rights, by sudo {PROGRAM} ({_member(settings)} is in group {settings.group})",
        file=sys.stderr,
        flush=True,
    )
    try:
        os.execv("/usr/bin/sudo", ["sudo", "-n", "--", str(PROGRAM), *sys.argv[1:]])
    except OSError as error:
        raise NoPrivilege(f"/usr/bin/sudo: {error.strerror}; operators need it") from None


def only_root(what: str) -> None:
    """For what neither operators nor other users can do. Raises NoPrivilege."""
    if has_limits():
        raise NoPrivilege(f"{what} needs root, and not as an operator; run this by sudo")


def has_limits() -> bool:
    """Whether files may be closed to who called: to all but root."""
    return os.geteuid() != 0 or operator() is not None


def is_unprivileged_operator() -> bool:
    """Whether this user has no rights now, and gets them by `as_root`."""
    try:
        return os.geteuid() != 0 and "NETBOXIT_STATE" not in os.environ and bool(_member(Settings.read()))
    except NoPrivilege:
        return False


def _member(settings: Settings) -> str:
    """The name of this user, who is an operator. Raises NoPrivilege."""
    try:
        user = pwd.getpwuid(os.getuid())
    except KeyError:
        raise NoPrivilege(f"labs need root, and user {os.getuid()} has no account on this machine") from None
    try:
        members = grp.getgrnam(settings.group).gr_gid
    except KeyError:
        raise NoPrivilege(f"there is no group {settings.group} any more; have root run ansible/operators.yml again") from None
    if members not in os.getgrouplist(user.pw_name, user.pw_gid):
        raise NoPrivilege(f"labs need root, or to be in group {settings.group}: root adds you by ansible/operators.yml")
    if settings.checkout != CHECKOUT:
        raise NoPrivilege(f"operators of this machine use {settings.checkout}/netboxit.py, and this is that of {CHECKOUT}")
    return user.pw_name


def why_not_taken(port: EquipmentPlan) -> str | None:
    """Why an operator may not have an interface of this machine, or make one of that name there; None when they may."""
    if (user := operator()) is None:
        return None
    if port.kind not in ("nic", "vlan", "macvlan", "tap"):
        return "only root joins machines"
    if not any(fnmatchcase(port.device, pattern) for pattern in Settings.read().interfaces):
        return f"operators may not have {port.device} here; root names those that they may (netboxit_operators_interfaces)"
    if port.kind == "tap" and port.user != user.pw_name:
        return f"an operator's tap is for that operator; say that its user is {user.pw_name}"
    return None


def check_port(number: int) -> None:
    """Raises NoPrivilege for a port on which operators may not serve anything."""
    if 0 < number < _FIRST_PORT and operator() is not None:
        raise NoPrivilege(f"port {number} is one of the machine's own services; operators use {_FIRST_PORT} or more")
