# SPDX-License-Identifier: GPL-2.0-or-later
"""`netboxit part`: what a machine does for a controller that is connected to it. It has one part of one lab.

A part belongs to the connection until the controller says that it is to be kept: then it is a lab like any other. Before, it goes
down with the connection, whatever ended that.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from contracts.errors import NetBoxITError
from contracts.plan import Plan, WireEnd
from ownership import state
from system.interruption import ends_upon_signal
from testbed.changing import apply_now
from testbed.labs import removal
from testbed.labs.lab import Lab
from testbed.several_hosts import clocks
from testbed.several_hosts.agent_files import AgentFiles
from testbed.several_hosts.agent_programs import AgentPrograms
from testbed.several_hosts.messages import Collected, FromAgent, Ran
from testbed.several_hosts.serving import Method, Server, standard_streams
from testbed.several_hosts.synchronisation import environment_and_clock
from testbed.several_hosts.tunnel_probe import Prober

if TYPE_CHECKING:
    from testbed.documents.status import LabStatus
    from testbed.runs.measured_lab import MeasuredLab

#: In the folder of a part: whose it is. It has the name of the whole lab, and another lab of its machine could have that name.
#: Not `owner`, which says whose a whole lab is (`ownership.state`).
OWNER_FILE: Final = "part-of"
#: Another command may bring the part up, or take it down, when `down` comes.
_BUSY_S = 60.0


class NoPart(NetBoxITError):
    """The controller asked for something of a part before it made or opened one; or the connection is about to end."""


class NotThatLabs(NetBoxITError):
    """A machine has a lab of that name, which is no part of the one that is meant."""


def serve() -> int:
    """Serves until the controller is gone. Returns the exit status: 0 when no part is left that was not to be kept."""
    with ends_upon_signal() as over, closing(Server(*standard_streams())) as server:
        agent = Agent(server.say)
        server.serve(agent.methods(), over)
        return agent.leave()


class Agent:
    """What the controller may ask of this machine, and what it has asked for so far."""

    def __init__(self, say: Callable[[FromAgent], None]) -> None:
        self._programs = AgentPrograms(say)
        self._prober = Prober(lambda: self.lab)
        self._clock: clocks.Answering | None = None
        self._lab: Lab | None = None
        self._files: AgentFiles | None = None
        #: Held while it is made: requests come from many threads, and pieces of one file have to come to one object.
        self._making_files = threading.Lock()
        self._measured: MeasuredLab | None = None
        self._kept = True
        #: Held while a lab is made, which cannot be interrupted.
        self._making = threading.Lock()
        self._leaving = False

    def methods(self) -> Mapping[str, Method]:
        """By the names by which the controller calls them."""
        return {
            "up": self.up,
            "open": self.open,
            "keep": self.keep,
            "wait_ready": lambda deadline_s: self.lab.wait_ready(deadline_s),
            "begin": lambda: self.lab.begin(),
            "start_programs": lambda: self.lab.start_programs(),
            "status": self.status,
            "change": lambda target, text: apply_now.change(self.lab, target, text),
            "put_back": lambda: apply_now.put_back(self.lab),
            "down": self.down,
            "run": self.run,
            "start": lambda program, **what: self._programs.start(self.lab, program, **what),
            "signal": self._programs.signal,
            "write": lambda **which: self.files.write(**which),
            "exists": lambda **which: self.files.exists(**which),
            "take": lambda **which: self.files.take(**which),
            "remove": lambda **which: self.files.remove(**which),
            "fetch": lambda **which: self.files.fetch(**which),
            "discard": lambda **which: self.files.discard(**which),
            **self._prober.methods(),
            "prepare_run": self.prepare_run,
            "begin_run": lambda: self.measured.begin(),
            "check_run": lambda: self.measured.check(),
            "keep_statistics": lambda: self.measured.keep_statistics(),
            "end_run": self.end_run,
            "collect_run": self.collect_run,
            "facts": _facts,
            "environment": environment_and_clock,
            "answer_clock": self.answer_clock,
            "clock_answered": self.clock_answered,
        }

    @property
    def lab(self) -> Lab:
        if self._lab is None:
            raise NoPart("no part of a lab was brought up or opened through this connection")
        return self._lab

    @property
    def measured(self) -> MeasuredLab:
        if self._measured is None:
            raise NoPart("no run was prepared through this connection")
        return self._measured

    @property
    def files(self) -> AgentFiles:
        with self._making_files:
            if self._files is None:
                self._files = AgentFiles(self.lab)
            return self._files

    def up(self, plan: dict[str, Any], owner: str) -> None:
        """Makes the part, which goes down with the connection unless it is kept."""
        with self._making:
            if self._leaving:
                raise NoPart("the connection ends")
            self._lab = Lab.up(Plan.from_json(plan), beside={OWNER_FILE: owner})
            self._kept = False

    def open(self, lab: str, owner: str) -> None:
        """Takes up a part that was kept. Raises NoSuchLab, NotThatLabs."""
        part = Lab.open(lab)
        _check_owner(part.folder, owner)
        self._lab = part

    def keep(self) -> None:
        self._kept = True

    def status(self) -> LabStatus:
        from testbed.observation.event_reader import status_with_events

        return status_with_events(self.lab)

    def down(self, lab: str, owner: str) -> list[str]:
        """Takes a part down, unless it is gone or is by now another lab's. Returns notes for people."""
        until = time.monotonic() + _BUSY_S
        with self._making, suppress(state.NoSuchLab):
            while True:
                try:
                    _check_owner(state.lab_folder(lab), owner)
                    return removal.take_down(lab)
                except NotThatLabs as other:
                    return [str(other)]
                except state.LabBusy:  # what brought it up has lost its controller, and takes it down
                    if time.monotonic() > until:
                        raise
        return []

    def run(self, node: str, argv: Sequence[str], timeout_s: float, env: Mapping[str, str] | None) -> Ran:
        done = self.lab.run(node, argv, timeout_s=timeout_s, env=env)
        return {"status": done.returncode, "output": done.stdout, "errors": done.stderr}

    def prepare_run(self, captured: Sequence[Sequence[str]]) -> None:
        from testbed.runs.measured_lab import MeasuredLab  # and what it measures with, which other commands do without

        self._measured = MeasuredLab(self.lab, self.files.folder, [WireEnd(*end) for end in captured])
        self._measured.prepare()

    def end_run(self) -> None:
        """Does nothing when no run was prepared."""
        if self._measured is not None:
            self._measured.end()

    def collect_run(self) -> Collected:
        """Returns what is not whole, and the files that the controller has to fetch."""
        problems = self._measured.collect() if self._measured is not None else []
        return {"problems": problems, "files": self.files.listing()}

    def answer_clock(self, address: str, token: str) -> int:
        """Answers the controller's questions for this machine's clock, until `clock_answered`. Returns the UDP port."""
        self.clock_answered()
        self._clock = clocks.Answering(address, bytes.fromhex(token))
        return self._clock.port

    def clock_answered(self) -> None:
        if self._clock is not None:
            self._clock.close()
            self._clock = None

    def leave(self) -> int:
        """The connection has ended: so does what was started through it, and a part that is not to be kept."""
        self._programs.kill_all()
        self._prober.close()
        self.clock_answered()
        with self._making:
            self._leaving = True
            if self._lab is not None and not self._kept:
                with suppress(state.NoSuchLab):
                    removal.take_down(self._lab.name)
        return 0


def _check_owner(folder: Path, owner: str) -> None:
    """Raises NotThatLabs."""
    file = folder / OWNER_FILE
    if not file.exists() or file.read_text() != owner:
        raise NotThatLabs(
            f"lab {folder.name} is no part of this one and was left alone; if it is left over, `netboxit down {folder.name}` "
            "there removes it"
        )


def _facts(lab: str) -> dict[str, Any]:
    """What planning has to know of this machine, for the lab of that name."""
    from testbed.plans import facts  # and what plans are made with, which other commands do without

    return facts.read(lab).to_json()
