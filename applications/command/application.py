# SPDX-License-Identifier: GPL-2.0-or-later
"""A program of the user's own: any command line in the host that it starts from, and one that answers it in the other host.

What it sends is on the captures, and the run tells it as conversations (results.conversations). It begins in a folder of its own,
in which it may write.
"""

from __future__ import annotations

import time
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from typing_extensions import TypedDict

from applications.application import Application, ApplicationOptions, Ports, Running
from applications.dscp import Dscp
from contracts.command_line import CommandLine
from contracts.flow import Flow

#: For Python on a busy machine, and a web server.
_READY_DEADLINE_S = 30.0
#: path_resolution(7), NAME_MAX.
_LONGEST_NAME = 255
#: How long a program may take to end after Ctrl-C.
_GOODBYE_S = 5.0


def _named(name: str) -> str:
    if name in ("", ".", "..") or "/" in name or "\0" in name or len(name.encode()) > _LONGEST_NAME:
        raise ValueError(f"{name!r} is not the name of a file; write one without /, as `run` leaves it where it begins")
    return name


def _not_given(dscp: int) -> int:
    if dscp:
        raise ValueError("the program marks its packets itself; leave dscp out")
    return dscp


FileName = Annotated[str, AfterValidator(_named)]


class CommandOptions(ApplicationOptions):
    #: Its program marks its packets itself, so that nothing else can be said here.
    dscp: Annotated[Dscp, AfterValidator(_not_given)] = 0
    #: What runs in the host that it starts from, as a shell reads it: `iperf3 -c eoc -t 10`. Hosts know each other by name.
    run: CommandLine
    #: What runs in the other host meanwhile: `iperf3 -s`. It is there before, and interrupted afterwards.
    server: CommandLine | None = None
    #: The TCP or UDP port that the server opens when it is ready.
    listens: int | None = Field(default=None, ge=1, le=65_535)
    #: itself: `run` ends by itself before its duration is over; duration: it goes on until then, and is interrupted.
    ends: Literal["itself", "duration"] = "itself"
    #: What `run` leaves in the folder where it begins and the run is to keep, by name: `[iperf.json]`.
    files: tuple[FileName, ...] = Field(default=(), max_length=100)
    #: The exit status with which `run` ends by itself.
    status: int = Field(default=0, ge=0, le=255)

    def ports(self) -> tuple[Ports, ...]:
        return () if self.listens is None else (Ports("listens", self.listens, self.listens, at_source=False),)

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if (self.server is None) != (self.listens is None):
            raise ValueError("server and listens belong together: `run` starts when the server has opened the port")
        if self.ends == "duration" and "status" in self.model_fields_set:
            raise ValueError("status is that of a program which ends by itself; with ends: duration it is interrupted")
        return self


class CommandFacts(TypedDict):
    """What an analysis needs to know of it."""

    run: str
    server: str | None
    #: When it ended by itself.
    took_s: float | None
    #: Files that it was to leave, and did not.
    absent: list[str]


class Command(Application):
    OPTIONS: ClassVar[type[ApplicationOptions]] = CommandOptions

    options: CommandOptions
    #: On the monotonic clock: when it started, and when it was seen to have ended by itself.
    _began: float | None = None
    _ended: float | None = None

    def prepare(self) -> None:
        """Raises NotConfined: an operator's file starts nothing in a host whose root is the machine's."""
        for host in (self.plan.source, *([self.plan.destination] if self.options.server else [])):
            self.hosts.check_confined(host)
            self.own_files(host)

    def arrange(self) -> None:
        options = self.options
        if options.server is not None and options.listens is not None:
            server, port = self._launch(self.plan.destination, "server", options.server), options.listens
            self.wait_for_port(server, port, "tcp", "udp", named=f"port {port}", deadline_s=_READY_DEADLINE_S)
        self._launch(
            self.plan.source, "run", options.run, ends_with=options.status if options.ends == "itself" else None, held=True
        )

    def start(self) -> None:
        self._began = time.monotonic()
        self.release()
        if self.options.ends == "duration":
            self.begin()

    def check(self) -> None:
        super().check()
        if self._began is None or self._ended is not None or self.options.ends == "duration":
            return
        (run,) = (running for running in self._running if running.name == "run")
        now = time.monotonic()
        if run.program.poll() is not None:
            self._ended = self.ends = now
        elif now > self._began + self.options.duration:
            raise self.failed(
                f"run on {run.host} has not ended by itself within its duration of {self.options.duration:g} s; give it a longer "
                "one, or say ends: duration",
                run.log,
            )

    def keep(self) -> None:
        for name in self.options.files:
            self.own_files(self.plan.source).take(name, self.folder / name)

    def flows(self) -> list[Flow]:
        """None that are known before: they are conversations."""
        return []

    def facts(self) -> CommandFacts:
        return {
            "run": self.options.run,
            "server": self.options.server,
            "took_s": None if self._began is None or self._ended is None else round(self._ended - self._began, 3),
            "absent": [name for name in self.options.files if not (self.folder / name).exists()],
        }

    def _launch(self, host: str, name: str, line: str, *, ends_with: int | None = None, held: bool = False) -> Running:
        argv = ["/bin/sh", "-c", 'cd "$0" && exec /bin/sh -c "$1"', self.inside(), line]
        return self.launch(host, name, argv, patience_s=_GOODBYE_S, ends_with=ends_with, held=held)
