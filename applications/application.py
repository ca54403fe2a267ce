# SPDX-License-Identifier: GPL-2.0-or-later
"""What every application of a `traffic:` section is: real programs in the host containers, started, watched and stopped."""

from __future__ import annotations

import contextlib
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from subprocess import CompletedProcess
from typing import Annotated, ClassVar, Final, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from applications.dscp import Dscp
from applications.stream import Stream
from applications.virtual_traffic import VirtualTraffic
from contracts.debian_program import DebianProgram
from contracts.errors import NetBoxITError
from contracts.flow import ApplicationRecord, Flow, opposite
from contracts.plan import TrafficPlan
from contracts.quantities import TIME, Quantity

#: Where a host sees its own folder (docs/architecture.md, "Plan").
INSIDE = Path("/run/netboxit")

#: How long a program may take to end before it gets the next, stronger signal.
_INSISTENCE_S = 5.0
#: How much of a dead program's log an error shows.
_TAIL_LINES = 12

Transport = Literal["udp", "tcp"]
#: The state of a TCP socket that listens, and those of UDP, in the kernel's tables (include/net/tcp_states.h).
_LISTENS: Final = {"tcp": {"0A"}, "udp": {"07", "01"}}
#: How long a host may take to show its tables.
_ASK_S = 5.0


class Program(Protocol):
    """A program that runs in a host."""

    def poll(self) -> int | None:
        """Its exit status, or minus the number of the signal that ended it; None while it runs."""

    def wait(self, timeout_s: float | None = None, /) -> int:
        """The same, when it has ended. Raises NetBoxITError when it does not within this time."""

    def release(self) -> None:
        """Lets it begin, when it was started `held`."""

    def interrupt(self) -> None:
        """SIGINT."""

    def terminate(self) -> None:
        """SIGTERM."""

    def kill(self) -> None:
        """SIGKILL."""


class Files(Protocol):
    """Files of an application inside a host (`system.node_files`)."""

    def write(self, name: str, content: str | bytes) -> None:
        """Makes a file, or writes it anew."""

    def exists(self, name: str) -> bool:
        """Whether there is anything of this name."""

    def take(self, name: str, to: Path) -> bool:
        """Moves a file out of the host; False when there is none, or no ordinary one."""

    def remove(self, name: str) -> None:
        """Removes a file, when there is one."""


class Hosts(Protocol):
    """The part of a lab that applications use."""

    def own_files(self, node: str, name: str) -> Files:
        """A folder of this name below INSIDE, made when it is not there."""

    def check_confined(self, node: str) -> None:
        """Raises NotConfined when programs of an operator's file may not run in this node."""

    def run(self, node: str, argv: Sequence[str], *, timeout_s: float = ...) -> CompletedProcess[str]:
        """Runs a program to its end."""

    def start(
        self, node: str, argv: Sequence[str], *, log: Path, env: Mapping[str, str] | None = None, held: bool = False
    ) -> Program:
        """Starts a program whose output goes to a log of this machine; one that is `held` waits to be released."""


class ApplicationFailed(NetBoxITError):
    """A program of an application ended early, or did not do what it was started for."""


#: An application is arranged that long before its start: longer than it takes, shorter than ffmpeg waits for a camera, 10 s.
ARRANGED_S: Final = 4.0


#: An option of this name, where an application has one and nobody said it, is planned from the topology's seed.
SEED: Final = "seed"


@dataclass(frozen=True)
class Ports:
    """The ports from `first` to `last`, which the option `option` sets: at the destination, and `at_source` too.

    No other application of a host may have ports that are `alone`. Others may be shared, but not between the same two hosts.
    """

    option: str
    first: int
    last: int
    at_source: bool = True
    alone: bool = True


class ApplicationOptions(BaseModel):
    """Options of every application; one adds its own. Numbers are held in base units."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: When it begins, since the network's time began.
    start: Annotated[float, Quantity(TIME, 0.0, 86_400.0)] = 0.0
    #: How long the traffic lasts.
    duration: Annotated[float, Quantity(TIME, 1.0, 86_400.0)] = 60.0
    #: Differentiated services code point of its packets, by name or number.
    dscp: Dscp = 0

    def virtual_only(self) -> tuple[str, ...]:
        """Keys that were said and have an effect in virtual time only."""
        return ()

    def ports(self) -> tuple[Ports, ...]:
        """UDP and TCP ports that it opens, from when it is arranged; no more than can be said before."""
        return ()

    def streams(self) -> tuple[Stream, ...]:
        """What it puts on the wire, for estimates of the load; none where it cannot be said before."""
        return ()


def programs_of(applications: Iterable[type[Application]]) -> list[DebianProgram]:
    """The programs that they start, each once."""
    return list(dict.fromkeys(program for application in applications for program in application.PROGRAMS))


@dataclass(frozen=True)
class Running:
    """A program of an application. One that is `held` waits for the application's start.

    One that `ends_with` an exit status ends by itself, within `patience_s` of the traffic's end. All others run until they are
    stopped.
    """

    host: str
    name: str
    program: Program
    log: Path
    patience_s: float
    held: bool
    ends_with: int | None = None


class Application(ABC):
    """One entry of the traffic section. `prepare`, `arrange`, `start`, `wait`, `stop` in this order; `stop` is safe at any time.

    `folder` is the application's folder in the run folder; what is worth keeping lands there, `flows.json` included.
    """

    OPTIONS: ClassVar[type[ApplicationOptions]] = ApplicationOptions
    #: Programs of Debian that it starts.
    PROGRAMS: ClassVar[tuple[DebianProgram, ...]] = ()

    def __init__(self, plan: TrafficPlan, hosts: Hosts, folder: Path) -> None:
        self.plan, self.hosts, self.folder = plan, hosts, folder
        self._running: list[Running] = []
        self._started = False
        #: When its duration will be over, on the monotonic clock; infinite before it began.
        self.ends = math.inf
        folder.mkdir(parents=True, exist_ok=True)

    @classmethod
    def virtual(cls, plan: TrafficPlan) -> VirtualTraffic | None:
        """What it is in virtual time; None: its programs run in real time only."""
        return None

    @abstractmethod
    def prepare(self) -> None:
        """Makes media and configuration files: whatever takes CPU and must not happen while something is measured."""

    @abstractmethod
    def arrange(self) -> None:
        """Starts its programs, at most seconds before its start: receivers listen, senders are held.

        Entries are arranged at the same time, each in a thread.
        """

    def start(self) -> None:
        """Traffic begins now, and the duration with it; returns at once."""
        self.release()
        self.begin()

    @abstractmethod
    def flows(self) -> list[Flow]:
        """The flows with the addresses and ports that are really used."""

    @abstractmethod
    def facts(self) -> Mapping[str, object]:
        """What else the measuring needs to know, in a TypedDict of the application's own.

        JSON values; files are relative to the application's folder.
        """

    @cached_property
    def options(self) -> ApplicationOptions:
        """The options of the plan, in base units already, over the defaults; an application declares its own type for them."""
        return self.OPTIONS.model_construct(**self.plan.options)

    def wait(self) -> None:
        """Returns when the duration is over. Raises ApplicationFailed as soon as a program has failed."""
        while (left := self.ends - time.monotonic()) > 0:
            self.check()
            time.sleep(min(left, 0.05))
        self.check()

    def check(self) -> None:
        """Raises ApplicationFailed when a program that should run has ended."""
        for running in self._running:
            status = running.program.poll()
            if status not in (None, running.ends_with):
                raise self.failed(
                    f"{running.name} on {running.host} ended with status {status} before the traffic was over", running.log
                )

    def stop(self) -> None:
        """Ends what still runs, last started first. Safe to call twice, or when it was not arranged whole.

        Of one that started it writes `flows.json`. Once the duration is over, programs that end by themselves are given the time
        to do so.
        """
        over = self.ends <= time.monotonic()
        while self._running:
            running = self._running.pop()
            if over and running.ends_with is not None:
                with contextlib.suppress(NetBoxITError):
                    running.program.wait(running.patience_s)
            end(running.program, min(running.patience_s, _INSISTENCE_S))
        try:
            self.keep()
        finally:
            if self._started:
                ApplicationRecord(
                    name=self.plan.name,
                    application=self.plan.application,
                    flows=tuple(self.flows()),
                    facts=dict(self.facts()),
                ).write(self.folder)

    def keep(self) -> None:  # noqa: B027, most have nothing to keep
        """Moves what its programs left into the folder, when they have ended. It may be called again, as `stop` may."""

    # What the applications are built with.

    def launch(
        self,
        host: str,
        name: str,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        patience_s: float = _INSISTENCE_S,
        held: bool = False,
        ends_with: int | None = None,
    ) -> Running:
        """Starts a program in a host, or has it wait there; its log is `<host>-<name>.log` in the application's folder."""
        log = self.folder / f"{host}-{name}.log"
        running = Running(host, name, self.hosts.start(host, argv, log=log, env=env, held=held), log, patience_s, held, ends_with)
        self._running.append(running)
        return running

    def release(self) -> None:
        """Releases the programs that are held: the application has started."""
        self._started = True
        for running in self._running:
            if running.held:
                running.program.release()

    def begin(self) -> None:
        """Lets the duration count from now."""
        self.ends = time.monotonic() + self.options.duration

    def own_files(self, host: str) -> Files:
        """Files of this application inside the host, which sees them as `inside()`."""
        return self.hosts.own_files(host, self.plan.name)

    def inside(self, file: str = "") -> str:
        return str(INSIDE / self.plan.name / file)

    def wait_for(self, condition: Callable[[], bool], what: str, deadline_s: float, log: Path) -> None:
        """Returns when the condition holds. Raises ApplicationFailed when a program ends or the deadline passes first."""
        until = time.monotonic() + deadline_s
        while not condition():
            self.check()
            if time.monotonic() > until:
                raise self.failed(f"{what} did not happen within {deadline_s:g} s", log)
            time.sleep(0.05)

    def wait_for_port(self, server: Running, port: int, *protocols: Transport, named: str, deadline_s: float) -> None:
        """The same, when the server has opened the port; `named` is how a message calls it, with others that it opens."""
        self.wait_for(
            lambda: any(self._listens(server.host, port, protocol) for protocol in protocols),
            f"opening {named}",
            deadline_s,
            server.log,
        )

    def _listens(self, host: str, port: int, protocol: Transport) -> bool:
        """Whether a program in the host has opened the port, for IPv4 or IPv6: by the kernel's tables of sockets (proc(5))."""
        # Where there is no IPv6, there is no table of it. Ports are in hexadecimal.
        shown = self.hosts.run(host, ["cat", f"/proc/net/{protocol}", f"/proc/net/{protocol}6"], timeout_s=_ASK_S).stdout
        sockets = (line.split() for line in shown.splitlines())
        return any(
            fields[1].endswith(f":{port:04X}") and fields[3] in _LISTENS[protocol] for fields in sockets if fields[0] != "sl"
        )

    def failed(self, what: str, log: Path) -> ApplicationFailed:
        text = log.read_text(errors="replace") if log.exists() else ""
        end_of_it = "\n".join(text.replace("\r", "\n").splitlines()[-_TAIL_LINES:]) or "(nothing)"
        return ApplicationFailed(f"traffic {self.plan.name}: {what}; the end of {log} says:\n{end_of_it}")


def flow_of(plan: TrafficPlan, name: str, kind: str, port: int, *, rtp_clock_hz: int | None = None, back: bool = False) -> Flow:
    """A flow of UDP from the plan's source to its destination, or `back`, with this port at both of its ends."""
    ends = [(plan.source, plan.source_address), (plan.destination, plan.destination_address)]
    (source, source_address), (destination, destination_address) = reversed(ends) if back else ends
    return Flow(
        name=name,
        kind=kind,
        direction=opposite(plan.direction) if back else plan.direction,
        source=source,
        destination=destination,
        source_address=source_address,
        destination_address=destination_address,
        protocol="udp",
        source_ports=(port, port),
        destination_ports=(port, port),
        rtp_clock_hz=rtp_clock_hz,
    )


def end(program: Program, patience_s: float) -> None:
    """Interrupts a program as Ctrl-C does, so that it can close its files. One that goes on is terminated, then killed."""
    for ask in (program.interrupt, program.terminate, program.kill):
        if program.poll() is not None:
            return
        ask()
        with contextlib.suppress(NetBoxITError):
            program.wait(patience_s)
