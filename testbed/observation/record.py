# SPDX-License-Identifier: GPL-2.0-or-later
"""`netboxit record`: makes traces of a path, which a `link` plays, by probing a running lab or from captures at both ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from contracts.errors import NetBoxITError, WrongInput
from contracts.quantities import RATE, TIME
from contracts.run_folder import MACHINES_FILE
from results import pcapng
from results.captured_frames import ETHERNET_HEADER
from results.datagram import Packets, ends_of
from results.identity import identities
from results.machines import Clock
from results.run_folder import RunFolder
from system.user_privileges import as_user, check_new
from testbed.labs.lab import Lab, NoSuchNode
from testbed.observation.record_probe import End, Probing, probe
from testbed.observation.record_trace import OVERHEAD_BYTES, PathTrace, steps

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
#: What left so shortly before the end of the captures may still have been on its way.
_PATIENCE_NS = 2_000_000_000
_COLUMNS = {"identity": pl.UInt64, "time_ns": pl.Int64, "length": pl.Int64, "source": pl.String}


class BadRecord(WrongInput):
    """What is asked for cannot be recorded."""


class NothingInCommon(NetBoxITError):
    """Two captures that are not of the ends of one path, or not on one clock."""


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
    """From two captures, in both directions, from the first end first; one that nothing crossed is left out.

    `saturated`: the traffic kept the path full, so that what arrived is what it could carry; else nobody knows, and the
    trace has no rate. `clocks` are those by which the captures were made. Raises BadRecord, BadCapture, NothingInCommon.
    """
    _check_step(step_s)
    for file in files:
        if not file.is_file():
            raise BadRecord(f"there is no capture {file}")
    if files[0].samefile(files[1]):
        raise BadRecord(f"{files[0]} is given as the capture at both ends; give the capture at each")
    try:
        left, right = (_frames(file, clock) for file, clock in zip(files, clocks, strict=True))
    except OSError as error:
        raise BadRecord(f"{error.filename} cannot be read: {error.strerror}") from error
    there, back = _one_way(ends, left, right, step_s, saturated), _one_way(ends[::-1], right, left, step_s, saturated)
    if there is None and back is None:
        raise NothingInCommon(
            f"no packet of {files[0].name} arrived in {files[1].name} later, or the other way round: are they of the two ends "
            "of one path, at the same time, on one clock?"
        )
    return [trace for trace in (there, back) if trace is not None]


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


def _frames(file: Path, clock: Clock) -> pl.DataFrame:
    """UDP and TCP packets of a capture that was made by this clock, in its order."""
    ends: dict[bytes, int] = {}
    tables = [pl.DataFrame(schema=_COLUMNS)]
    for frames in pcapng.read_frames(file):
        packets = Packets.of(frames)
        own, of_packets = packets.is_datagram, packets.ends(ends)
        sources = pl.Series([ends_of(key).source for key in ends], dtype=pl.String)
        columns = {
            "identity": identities(frames)[packets.frame[own]],
            "time_ns": frames.time_ns[packets.frame[own]],
            "length": packets.ethernet_bytes[own] - ETHERNET_HEADER,
            "source": sources.gather(of_packets[own]),
        }
        tables.append(clock.corrected(pl.DataFrame(columns, schema=_COLUMNS), "time_ns"))
    return pl.concat(tables)


def _one_way(
    ends: tuple[str, str], source: pl.DataFrame, destination: pl.DataFrame, step_s: float, saturated: bool
) -> PathTrace | None:
    here, there = pl.col("time_ns"), pl.col("time_ns_there")
    # Addresses that send from this end: packets from them are seen here first.
    first = source.join(destination.unique("identity", keep="first"), on="identity", suffix="_there").filter(there > here)
    # Equal packets arrive as often as they were sent, in the same order.
    occurrence = pl.int_range(pl.len()).over("identity").alias("occurrence")
    sent = source.join(first, on="source", how="semi", maintain_order="left").with_columns(occurrence)
    keys = ["identity", "occurrence"]
    sent = sent.join(destination.with_columns(occurrence), on=keys, how="left", suffix="_there", maintain_order="left")
    came = sent.filter(there.is_not_null())
    if came.is_empty():
        return None
    start_ns = min(source["time_ns"][0], destination["time_ns"][0])
    last_ns = min(source["time_ns"][-1], destination["time_ns"][-1])
    sent = sent.filter(there.is_not_null() | (here <= last_ns - _PATIENCE_NS))
    sent_s = (sent["time_ns"].to_numpy() - start_ns) / 1e9
    delays_s = (sent["time_ns_there"] - sent["time_ns"]).to_numpy() / 1e9  # NaN of what did not arrive
    came_s = (came["time_ns_there"].to_numpy() - start_ns) / 1e9
    count = int(np.ceil(max(sent_s[-1], step_s) / step_s))
    rates: list[float | None] = [None] * count
    if saturated:
        bits = 8.0 * (came["length_there"].to_numpy() + OVERHEAD_BYTES)
        rates = [float(value) / step_s for value in np.histogram(came_s, step_s * np.arange(count + 1), weights=bits)[0]]
    arrivals = sorted(zip(came_s.tolist(), came["length_there"], strict=True)) if saturated else ()
    return PathTrace(*ends, steps(sent_s, delays_s, rates, step_s, 0.0), count * step_s, arrivals)
