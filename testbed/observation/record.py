# SPDX-License-Identifier: GPL-2.0-or-later
"""`netboxit record`: makes traces of a path, which a `link` plays, by probing a running lab or from captures at both ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from contracts.errors import NetBoxITError
from contracts.quantities import RATE, TIME
from contracts.run_folder import MACHINES_FILE
from results.machines import Clock
from results.run_folder import RunFolder
from system.user_privileges import as_user, check_new
from testbed.labs.lab import Lab, NoSuchNode
from testbed.observation.record_captures import from_captures
from testbed.observation.record_probe import End, Probing, probe
from testbed.observation.record_trace import PathTrace

__all__ = [
    "BadRecord",
    "Probing",
    "Recorded",
    "check_target",
    "of_captures",
    "of_lab",
    "of_run",
    "path_between",
    "read_rate",
    "write",
]

ONE_CLOCK = (Clock(), Clock())
#: Limits of what may be asked for.
LONGEST_S, SHORTEST_STEP_S, LONGEST_STEP_S = 3600.0, 0.2, 60.0
_LEAST_RATE = 1e4
MOST_PACKETS_PER_S, MOST_RATE = 1000.0, 100e6


class BadRecord(NetBoxITError):
    """What is asked for cannot be recorded."""

    exit_status = 2


@dataclass(frozen=True)
class Recorded:
    """A file of one direction."""

    file: Path
    trace: PathTrace


def of_lab(
    lab: Lab, hosts: tuple[str, str], probing: Probing, progress: Callable[[str], None] = lambda _: None
) -> list[PathTrace]:
    """Probes the path between two hosts, both ways. Raises BadRecord, NoSuchNode, ProbeFailed."""
    check(probing)
    try:
        return probe(_end(lab, hosts[0]), _end(lab, hosts[1]), probing, progress)
    except BaseException as error:
        error.add_note("nothing was recorded")
        raise


def of_run(folder: Path, hosts: tuple[str, str], step_s: float, *, saturated: bool) -> list[PathTrace]:
    """From the captures of a run, also when the hosts are on two machines.

    Raises BadRecord, BadCapture, NothingInCommon, NoRun, DamagedRun.
    """
    files = tuple(folder / "captures" / f"{host}.pcapng" for host in hosts)
    clocks = ONE_CLOCK
    if (folder / MACHINES_FILE).exists():
        machines = RunFolder(folder).machines
        clocks = (machines.clock_of(hosts[0]), machines.clock_of(hosts[1]))
    return of_captures(hosts, (files[0], files[1]), step_s, saturated=saturated, clocks=clocks)


def of_captures(
    ends: tuple[str, str],
    files: tuple[Path, Path],
    step_s: float,
    *,
    saturated: bool,
    clocks: tuple[Clock, Clock] = ONE_CLOCK,
) -> list[PathTrace]:
    """From two captures, on one clock if nothing else is said. Raises BadRecord, BadCapture, NothingInCommon."""
    _check_step(step_s)
    for file in files:
        if not file.is_file():
            raise BadRecord(f"there is no capture {file}")
    if files[0].samefile(files[1]):
        raise BadRecord(f"{files[0]} is given as the capture at both ends; give the capture at each")
    try:
        return from_captures(ends, files, step_s, saturated=saturated, clocks=clocks)
    except OSError as error:
        raise BadRecord(f"{error.filename} cannot be read: {error.strerror}") from error


def path_between(source: str, destination: str) -> tuple[str, str]:
    """The ends of a path. Raises BadRecord when they are the same host."""
    if source == destination:
        raise BadRecord(f"a path has two ends, and {source} is given as both; name two hosts")
    return source, destination


@as_user()
def check_target(hosts: tuple[str, str], out: Path, *, mahimahi: bool, overwrite: bool) -> None:
    """Before anything is recorded: whether `write` has where to write. Raises BadRecord, FileThere."""
    if not out.parent.is_dir():
        raise BadRecord(f"{out.parent} is no folder")
    if out.is_dir():
        raise BadRecord(f"{out} is a folder; give the name of a file in it")
    if not overwrite:
        check_new(_file(out, *ends, mahimahi) for ends in (hosts, hosts[::-1]))


@as_user()
def write(traces: list[PathTrace], out: Path, *, mahimahi: bool) -> list[Recorded]:
    """One file for each direction: out-FROM-to-TO.csv, or .trace in Mahimahi's format. Raises BadRecord."""
    written = []
    for trace in traces:
        file = _file(out, trace.source, trace.destination, mahimahi)
        if mahimahi and not trace.write_mahimahi(file):
            raise BadRecord(
                f"{trace.source} to {trace.destination}: no rate was measured, of which a trace in this format consists"
            )
        if not mahimahi:
            trace.write_csv(file)
        written.append(Recorded(file, trace))
    return written


def read_rate(text: str) -> float:
    """bit/s. Raises BadRecord."""
    try:
        return RATE.parse(text)
    except ValueError as error:
        raise BadRecord(f"--most-rate: {error}") from error


def check(probing: Probing) -> None:
    """Raises BadRecord naming what is permitted."""
    _check_step(probing.step_s)
    least_s = 2 * probing.step_s
    if not least_s <= probing.duration_s <= LONGEST_S:
        limits = f"{TIME.write(least_s)} (two steps) … {TIME.write(LONGEST_S)}"
        raise BadRecord(f"--duration is {TIME.write(probing.duration_s)}, outside {limits}")
    if not 1 <= probing.packets_per_s <= MOST_PACKETS_PER_S:
        raise BadRecord(f"--packets is {probing.packets_per_s:g} a second, outside 1 … {MOST_PACKETS_PER_S:g}")
    if not _LEAST_RATE <= probing.most_rate <= MOST_RATE:
        limits = f"{RATE.write(_LEAST_RATE)} … {RATE.write(MOST_RATE)}"
        raise BadRecord(f"--most-rate is {RATE.write(probing.most_rate)}, outside {limits}")


def _file(out: Path, source: str, destination: str, mahimahi: bool) -> Path:
    return out.with_name(f"{out.with_suffix('').name}-{source}-to-{destination}{'.trace' if mahimahi else '.csv'}")


def _check_step(step_s: float) -> None:
    if not SHORTEST_STEP_S <= step_s <= LONGEST_STEP_S:
        raise BadRecord(f"--step is {step_s:g} s, outside {SHORTEST_STEP_S:g} … {LONGEST_STEP_S:g} s")


def _end(lab: Lab, host: str) -> End:
    node = lab.node(host)
    if node.kind != "host":
        raise NoSuchNode(f"{host} is a {node.kind}; a path is probed between two hosts")
    addresses = [address.partition("/")[0] for interface in node.interfaces for address in interface.addresses]
    if (address := next((address for address in addresses if ":" not in address), None)) is None:
        raise BadRecord(f"{host} has no IPv4 address, between which a path is probed")
    return End(host, node.namespace, address)
