# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine of the inventory: how it is reached, and where NetBoxIT is on it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

#: A machine that is off, or a cable that is out, is noticed within 20 s, unless the inventory says otherwise.
_DEFAULTS: Final = ("ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3")


@dataclass(frozen=True)
class Machine:
    """`folder` is its checkout of NetBoxIT, `state` what $NETBOXIT_STATE is to be there ("": as it is there by default).

    `address`, `port`, `user`, `key` (a file) and `arguments` are for ssh; what is "", 0 or () is left to ssh's configuration.
    """

    name: str
    folder: str
    #: It is the machine that the command was called on; then the rest does not matter.
    here: bool = False
    address: str = ""
    port: int = 0
    user: str = ""
    key: str = ""
    arguments: tuple[str, ...] = ()
    state: str = ""

    def netboxit(self, verb: Sequence[str], *, terminal: bool = False) -> list[str]:
        """What runs a command of NetBoxIT there, with this terminal if it is to have one."""
        environment = ["env", f"NETBOXIT_STATE={self.state}"] if self.state else []
        # ssh has a shell read it, so it is quoted for one.
        command = shlex.join([*environment, f"{self.folder}/netboxit.py", *verb])
        # No question is asked that nobody would answer. Of an option that is given twice, ssh takes the first.
        argv = ["ssh", "-t" if terminal else "-T", "-o", "BatchMode=yes"]
        for option, value in (("-p", str(self.port or "")), ("-l", self.user), ("-i", self.key)):
            argv += [option, value] if value else []
        defaults = [word for option in _DEFAULTS for word in ("-o", option)]
        return [*argv, *self.arguments, *defaults, "--", self.address or self.name, command]
