# SPDX-License-Identifier: GPL-2.0-or-later
"""Another machine for tests that need none: a stand-in for ssh, which runs the command on this one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from testbed.several_hosts.machine import Machine

#: ssh has a shell read its last word.
_SSH = """\
#!/bin/sh
if [ -e {off} ]; then echo 'ssh: connect to host: No route to host' >&2; exit 255; fi
for command; do :; done
exec sh -c "$command"
"""


@dataclass(frozen=True)
class StandIn:
    """`machine` is reached through the stand-in for ssh, and has its labs in a state folder of its own."""

    machine: Machine
    state: Path
    _off: Path

    def switch_off(self) -> None:
        self._off.touch()

    def switch_on(self) -> None:
        self._off.unlink()


@pytest.fixture
def beta(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    programs, state, off = tmp_path / "programs", tmp_path / "beta", tmp_path / "off"
    programs.mkdir()
    (programs / "ssh").write_text(_SSH.format(off=off))
    (programs / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("NETBOXIT_STATE", str(tmp_path / "alpha"))
    return StandIn(Machine("beta", str(CHECKOUT), state=str(state)), state, off)
