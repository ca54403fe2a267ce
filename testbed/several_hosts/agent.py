# SPDX-License-Identifier: GPL-2.0-or-later
"""`netboxit part`: what a machine does for a controller that is connected to it. It has one part of one lab.

A part belongs to the connection until the controller says that it is to be kept: then it is a lab like any other. Before, it goes
down with the connection, whatever ended that.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from contracts.errors import NetBoxITError
from contracts.plan import Plan, WireEnd
from ownership import state
from system.interruption import ends_upon_signal
from system.processes import Process
from testbed.changing import apply_now
from testbed.labs import removal
from testbed.labs.lab import Lab
from testbed.several_hosts import clocks
from testbed.several_hosts.messages import PIECE, Collected, FromAgent, OfferedFile, Ran
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
#: The controller gets a program's output before its exit status. Programs that it has started may hold the output open for
#: longer, and are not waited for.
_LAST_WORDS_S: Final = 0.5
#: Bytes of a program's output that one message has.
_CHUNK: Final = 1 << 15
#: In the part of the run folder: what was taken out of nodes.
_TAKEN: Final = "taken"


class NoPart(NetBoxITError):
    """The controller asked for something of a part before it made or opened one; or the connection is about to end."""


class NotThatLabs(NetBoxITError):
    """A machine has a lab of that name, which is no part of the one that is meant."""


class NoSuchFile(NetBoxITError):
    """The controller asked for a file that is not below the run folder here."""


def serve() -> None:
    """Serves until the controller is gone. When it returns, no part is left that was not to be kept."""
    with ends_upon_signal() as over, closing(Server(*standard_streams())) as server:
        agent = Agent(server.say)
        server.serve(agent.methods(), over)
        agent.leave()


class Agent:
    """What the controller may ask of this machine, and what it has asked for so far."""

    def __init__(self, say: Callable[[FromAgent], None]) -> None:
        self._programs = AgentPrograms(say, lambda: self.lab)
        self._files = AgentFiles(lambda: self.lab)
        self._prober = Prober(lambda: self.lab)
        self._clock: clocks.Answering | None = None
        self._lab: Lab | None = None
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
            "start": self._programs.start,
            "signal": self._programs.signal,
            "write": self._files.write,
            "exists": self._files.exists,
            "take": self._files.take,
            "remove": self._files.remove,
            "fetch": self._files.fetch,
            "discard": self._files.discard,
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

    def up(self, plan: object, owner: str) -> None:
        """Makes the part of this plan, as JSON. It goes down with the connection unless it is kept. Raises OtherShape."""
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

        self._measured = MeasuredLab(self.lab, self._files.folder, [WireEnd(*end) for end in captured])
        self._measured.prepare()

    def end_run(self) -> None:
        """Does nothing when no run was prepared."""
        if self._measured is not None:
            self._measured.end()

    def collect_run(self) -> Collected:
        """Returns what is not whole, and the files that the controller has to fetch."""
        return {
            "problems": self._measured.collect() if self._measured is not None else [],
            "files": self._files.listing(),
        }

    def answer_clock(self, address: str, token: str) -> int:
        """Answers the controller's questions for this machine's clock, until `clock_answered`. Returns the UDP port."""
        self.clock_answered()
        self._clock = clocks.Answering(address, bytes.fromhex(token))
        return self._clock.port

    def clock_answered(self) -> None:
        if self._clock is not None:
            self._clock.close()
            self._clock = None

    def leave(self) -> None:
        """The connection has ended: so does what was started through it, and a part that is not to be kept."""
        self._programs.kill_all()
        self._prober.close()
        self.clock_answered()
        with self._making:
            self._leaving = True
            if self._lab is not None and not self._kept:
                with suppress(state.NoSuchLab):
                    removal.take_down(self._lab.name)


class AgentPrograms:
    """Programs in nodes, by the numbers that the controller gave them. It gets what they write; they end with the connection."""

    def __init__(self, say: Callable[[FromAgent], None], lab: Callable[[], Lab]) -> None:
        self._say, self._lab = say, lab
        self._running: dict[int, Process] = {}
        self._lock = threading.Lock()

    def start(self, number: int, node: str, argv: Sequence[str], env: Mapping[str, str] | None, held: bool) -> int:
        """Returns its process number. The controller gets its output as it comes, and then its exit status."""
        reading, writing = os.pipe()
        try:
            with os.fdopen(writing, "wb", buffering=0) as output:
                program = self._lab().start(node, argv, log=output, env=env, held=held)
        except BaseException:
            os.close(reading)
            raise
        with self._lock:
            self._running[number] = program
        reader = threading.Thread(target=self._tell_output, args=(number, reading), name=f"output of {argv[0]}", daemon=True)
        reader.start()
        threading.Thread(target=self._tell_end, args=(number, program, reader), name=f"end of {argv[0]}", daemon=True).start()
        return program.pid

    def signal(self, number: int, how: str) -> None:
        """`how`: release, interrupt, terminate or kill. Nothing happens to a program that has ended."""
        with self._lock:
            program = self._running.get(number)
        if program is not None:
            signals = (program.release, program.interrupt, program.terminate, program.kill)
            {signal.__name__: signal for signal in signals}[how]()

    def kill_all(self) -> None:
        with self._lock:
            running = list(self._running.values())
        for program in running:
            program.kill()

    def _tell_output(self, number: int, reading: int) -> None:
        with os.fdopen(reading, "rb", buffering=0) as output:
            while piece := output.read(_CHUNK):
                self._say({"program": number, "output": piece.decode("latin-1")})

    def _tell_end(self, number: int, program: Process, reader: threading.Thread) -> None:
        status = program.wait()  # a thread of its own, for as long as the program runs: it ends with the connection
        reader.join(_LAST_WORDS_S)
        self._say({"program": number, "exit": status})
        with self._lock:
            self._running.pop(number, None)


class AgentFiles:
    """Files of this machine: what applications have in nodes, and the part of the run folder that is made here."""

    def __init__(self, lab: Callable[[], Lab]) -> None:
        self._lab = lab
        self._numbers = itertools.count(1)
        #: By node, folder and name: what has come of files that are not whole yet.
        self._coming: defaultdict[tuple[str, str, str], bytearray] = defaultdict(bytearray)

    @property
    def folder(self) -> Path:
        """The part of the run folder that is made here. It is in the lab's folder, with which it goes."""
        folder = self._lab().folder / "run"
        folder.mkdir(exist_ok=True)
        return folder

    def write(self, node: str, own: str, name: str, offset: int, piece: str, last: bool) -> None:
        """The pieces of a file come in their order, and anew from offset 0. The file is in the node with the last one."""
        self._coming[node, own, name][offset:] = b64decode(piece)
        if last:
            self._lab().own_files(node, own).write(name, bytes(self._coming.pop((node, own, name))))

    def exists(self, node: str, own: str, name: str) -> bool:
        return self._lab().own_files(node, own).exists(name)

    def take(self, node: str, own: str, name: str) -> OfferedFile | None:
        """Moves a file out of the node, for `fetch`. None when there is no such file."""
        (self.folder / _TAKEN).mkdir(exist_ok=True)
        to = self.folder / _TAKEN / str(next(self._numbers))
        return self._offered(to) if self._lab().own_files(node, own).take(name, to) else None

    def remove(self, node: str, own: str, name: str) -> None:
        self._lab().own_files(node, own).remove(name)

    def listing(self) -> list[OfferedFile]:
        """All files of the run folder, but for those that were taken out of nodes."""
        files = sorted(file for file in self.folder.rglob("*") if file.is_file() and not file.is_symlink())
        return [self._offered(file) for file in files if file.relative_to(self.folder).parts[0] != _TAKEN]

    def fetch(self, file: str, offset: int) -> str:
        """A piece of the file from this offset on, in base64; the last piece is shorter, or empty."""
        with self._inside(file).open("rb") as open_file:
            open_file.seek(offset)
            return b64encode(open_file.read(PIECE)).decode()

    def discard(self, file: str) -> None:
        self._inside(file).unlink(missing_ok=True)

    def _offered(self, file: Path) -> OfferedFile:
        return {"file": str(file.relative_to(self.folder)), "bytes": file.stat().st_size}

    def _inside(self, file: str) -> Path:
        path = (self.folder / file).resolve()
        if not path.is_relative_to(self.folder.resolve()):
            raise NoSuchFile(f"{file} is not in the run's folder")
        return path


def _check_owner(folder: Path, owner: str) -> None:
    """Raises NotThatLabs."""
    file = folder / OWNER_FILE
    if not file.exists() or file.read_text() != owner:
        raise NotThatLabs(
            f"lab {folder.name} is no part of this one and was left alone; if it is left over, `netboxit down {folder.name}` "
            "there removes it"
        )


def _facts(lab: str) -> dict[str, object]:
    """What planning has to know of this machine, for the lab of that name: `Facts`, as JSON."""
    from testbed.plans import facts  # and what plans are made with, which other commands do without

    return asdict(facts.read(lab))
