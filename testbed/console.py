# SPDX-License-Identifier: GPL-2.0-or-later
"""How the command line looks: text for people by Rich, data for programs with --json, errors in one line each."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from testbed.errors import BadInput, BadTopology, NetBoxITError
from testbed.interruption import SIGNALS

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from testbed.calibration import Calibration
    from testbed.capturing import Captured
    from testbed.doctor import Examination
    from testbed.load import LoadEstimate
    from testbed.plan import Plan

#: Exit statuses of a run (docs/architecture.md).
_VERDICTS = {"valid": 0, "degraded": 3, "invalid": 4}
_COLOURS = {"valid": "green", "degraded": "yellow", "invalid": "red", "yes": "green", "partly": "yellow", "no": "red"}

#: Tables in a pipe, where there is no terminal to ask for a width.
_PIPE_WIDTH = 160


class Interrupted(BaseException):
    """Ctrl-C or a signal that ends a program. Not a KeyboardInterrupt, which Typer would turn into an exit of its own."""


class BadOption(NetBoxITError):
    """An option of the command line has a value that it cannot have."""

    exit_status = 2


def guarded(application: Callable[[], object]) -> int:
    """Runs the command line and returns its exit status. Whoever stops it, by Ctrl-C or a signal, has everything undone."""
    for number in SIGNALS:
        signal.signal(number, _interrupt)
    try:
        application()
    except NetBoxITError as error:
        _tell(error)
        return error.exit_status
    except Interrupted:
        _say("netboxit: interrupted; what this command had created was removed")
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        descriptor, name = tempfile.mkstemp(prefix="netboxit-", suffix=".log")
        with os.fdopen(descriptor, "w") as file:
            traceback.print_exception(error, file=file)
        _say(f"netboxit: a defect of its own: {type(error).__name__}: {error}")
        _say(f"The traceback is in {name}; please report it with the command and the file that you used.")
        return 1
    return 0


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """What is being done, on standard error: a line that changes on a terminal, else one line for each new step."""
    if sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status("") as display:
            yield lambda text: display.update(text)
        return
    told = ""

    def tell(text: str) -> None:
        nonlocal told
        step = text.partition(",")[0]  # what follows a comma is a countdown
        if step != told:
            told = step
            _say(step)

    yield tell


def read_duration(text: str) -> float:
    """Seconds, with a unit as in a topology file or as a bare number."""
    from testbed.quantities import TIME

    try:
        return TIME.parse(f"{text} s" if text.replace(".", "", 1).isdecimal() else text)
    except ValueError as error:
        raise BadOption(f"--duration: {error}") from error


def show_check(file: Path, plan: Plan, load: LoadEstimate, as_json: bool) -> None:
    if as_json:
        return _print_json({"file": str(file), "sound": True, "notes": [*plan.notes, *load.notes]})
    kinds: list[str] = [node.kind for node in plan.nodes]
    counts = [_count(kinds.count(kind), kind) for kind in dict.fromkeys(kinds)]
    counts += [_count(len(plan.wires), "wire"), _count(len(plan.traffic), "application")]
    print(f"{file} is sound: {', '.join(counts)}")
    _print_notes((*plan.notes, *load.notes))


def show_plan(plan: Plan, load: LoadEstimate, as_json: bool) -> None:
    if as_json:
        return _print_json({**plan.to_json(), "load": asdict(load)})
    nodes = _table(f"lab {plan.lab}", "node", "kind", "cores", "interface", "MAC", "addresses", "wire")
    for node in plan.nodes:
        first: tuple[str, str, str] = (node.name, node.kind, _cores(node.cores))
        for interface in node.interfaces:
            nodes.add_row(*first, interface.name, interface.mac, " ".join(interface.addresses), interface.wire)
            first = ("", "", "")
    _console().print(nodes)
    if plan.wires:
        table = _table("wires", "wire", "kind", "MTU", "why")
        for wire in plan.wires:
            table.add_row(wire.name, wire.kind, str(wire.mtu), wire.reason)
        _console().print(table)
    if load.netboxes:
        _print_load(load)
    for traffic in plan.traffic:
        print(
            f"{traffic.name}: {traffic.application} from {traffic.source} ({traffic.source_address}) "
            f"to {traffic.destination} ({traffic.destination_address})"
        )
    _print_notes((*plan.notes, *load.notes))


def show_calibration(calibration: Calibration, file: Path, as_json: bool) -> None:
    if as_json:
        return _print_json({"file": str(file), **calibration.model_dump()})
    from testbed.calibration import LARGE, SMALL

    table = _table(f"CPU time on {calibration.machine.cpu}", "what", "idle", f"frame of {SMALL} B", f"of {LARGE} B")
    for name, technology in calibration.technologies.items():
        frame = technology.frame
        table.add_row(
            f"{name}, virtual time", f"{technology.idle_share:.2%}", f"{frame.small_us:.1f} us", f"{frame.large_us:.1f} us"
        )
    for kind, port in calibration.ports.items():
        for which, cost in (("alone", port.alone), ("among many", port.among_many)):
            table.add_row(f"ethernet on {kind} ports, {which}", "", f"{cost.small_us:.1f} us", f"{cost.large_us:.1f} us")
    _console().print(table)
    for kind, reason in calibration.missing.items():
        print(f"no {kind} ports: {reason}")
    print(f"kept in {file}")


def show_up(status: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        return _print_json(status)
    _print_lab(status)
    host = next((node["name"] for node in status["nodes"] if node["kind"] == "host"), status["nodes"][0]["name"])
    print(f"try: netboxit exec {host} -- ip address     end it: netboxit down {status['lab']}")


def show_status(labs: Sequence[Mapping[str, Any]], as_json: bool) -> None:
    if as_json:
        return _print_json({"labs": list(labs)})
    if not labs:
        print("no lab is up")
    for lab in labs:
        _print_lab(lab)


def show_change(netbox: str, answer: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        return _print_json({"netbox": netbox, **answer})
    print(f"{netbox}: {answer['parameter']} is now {answer['written']}")


def show_captured(captured: Captured, as_json: bool) -> None:
    if as_json:
        return _print_json({**asdict(captured), "file": str(captured.file)})
    dropped = f"; {captured.dropped} more found no memory" if captured.dropped else ""
    print(f"{captured.port}: {_count(captured.frames, 'frame')} in {captured.file}{dropped}")


def show_down(labs: Sequence[str], as_json: bool) -> None:
    if as_json:
        return _print_json({"removed": list(labs)})
    print(f"removed: {', '.join(labs)}" if labs else "no lab was up")


def show_outcome(folder: Path, metrics: Mapping[str, Any], as_json: bool) -> int:
    """Prints a run's verdict and where its report is; returns the exit status that belongs to it."""
    verdict = metrics["verdict"]
    if as_json:
        _print_json({"folder": str(folder), "metrics": metrics})
    else:
        _console().print(f"the run is [{_COLOURS[verdict['status']]}]{verdict['status']}[/]")
        for reason in verdict["reasons"]:
            print(f"  - {reason}")
        print(f"report: {folder / 'report.html'}")
    return _VERDICTS[verdict["status"]]


def show_bench(tables: str, measured: Mapping[str, Any], file: Path, as_json: bool) -> int:
    """Prints what was measured and where it is kept; returns the exit status that belongs to it."""
    if as_json:
        _print_json(measured)
    else:
        from rich.markdown import Markdown

        _console().print(Markdown(tables))
        _console().print(f"kept: {file} and, as these tables, {file.with_suffix('.md')}", markup=False)
    return 1 if measured["failures"] else 0


def show_examination(examination: Examination, as_json: bool) -> None:
    if as_json:
        return _print_json(examination.to_json())
    table = _table("this host", "what", "there", "found", "lost without it", "remedy")
    for finding in examination.findings:
        lost, remedy = ("", "") if finding.there == "yes" else (finding.lost, finding.remedy)
        table.add_row(finding.name, f"[{_COLOURS[finding.there]}]{finding.there}[/]", finding.found, lost, remedy)
    _console().print(table)
    needed = ", ".join(finding.name for finding in examination.findings if finding.needed and finding.there == "no")
    _console().print("labs can run here" if examination.able else f"[red]labs cannot run here[/red]: {needed}")


@cache
def _console() -> Console:
    """For what has tables or colours; Rich takes 30 ms to import, which lines of plain text do without."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else _PIPE_WIDTH)


def _say(text: str) -> None:
    """A line on standard error."""
    print(text, file=sys.stderr, flush=True)


def _table(title: str, *headers: str) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for header in headers:
        table.add_column(header, overflow="fold")
    return table


def _print_lab(status: Mapping[str, Any]) -> None:
    table = _table(f"lab {status['lab']}", "node", "kind", "state", "cores", "addresses", "netbox")
    for node in status["nodes"]:
        state = "[green]runs[/]" if node["alive"] else "[red]ended[/]"
        addresses = " ".join(node["addresses"])
        table.add_row(node["name"], node["kind"], state, _cores(node["cores"], node["awake"]), addresses, _netbox(node["netbox"]))
    _console().print(table)
    if status["wires"]:
        _print_wires(status["wires"])
    _print_notes(status["notes"])


def _print_wires(wires: Sequence[Mapping[str, Any]]) -> None:
    table = _table("wires", "end", "by", "wire", "by", "end", "why")
    for wire in wires:
        left, right = wire["ends"]
        reasons = [f"{end['node']}: {end['reason']}" for end in (left, right) if end["reason"]]
        names = [f"{end['node']}.{end['interface']}" for end in (left, right)]
        ports = [end["port"] or "?" for end in (left, right)]
        table.add_row(names[0], ports[0], wire["kind"], ports[1], names[1], "; ".join([wire["reason"], *reasons]))
    _console().print(table)


def _print_load(load: LoadEstimate) -> None:
    from testbed.load import rounded

    title = "load by the declared traffic" + (f", calibrated {load.measured}" if load.measured else "")
    table = _table(title, "netbox", "frames/s", "mean size", "of a core", "most of the smallest", "why not")
    for one in load.netboxes:
        share = "" if one.share is None else f"{one.share:.1%}"
        most = "" if one.most_per_s is None else f"{rounded(one.most_per_s)}/s"
        table.add_row(one.netbox, f"{one.frames_per_s:.4g}", f"{one.mean_bytes:.0f} B", share, most, one.reason)
    _console().print(table)


def _netbox(answer: Mapping[str, Any] | None) -> str:
    if answer is None:
        return ""
    scheduler = answer["scheduler"]
    ready = "ready" if answer["ready"] else "not ready"
    return (
        f"{answer['technology']}, {ready}, {scheduler['policy']} {scheduler['priority']}, {answer['simulated_s']:.1f} s simulated"
    )


def _print_notes(notes: Sequence[str]) -> None:
    for note in notes:
        print(f"note: {note}")


def _cores(cores: Sequence[int], awake: bool = False) -> str:
    return f"{','.join(map(str, cores))}{', kept awake' if awake else ''}"


def _count(number: int, noun: str) -> str:
    ending = "" if number == 1 else "es" if noun.endswith("x") else "s"
    return f"{number} {noun}{ending}"


def _print_json(data: object) -> None:
    sys.stdout.write(json.dumps(data, indent=1, default=str) + "\n")


def _tell(error: NetBoxITError) -> None:
    """One line for each thing that is wrong; for programs the same as data, on standard output."""
    if "--json" in sys.argv:
        errors = error.errors if isinstance(error, BadTopology) else [error]
        _print_json({"errors": [_as_data(one) for one in errors]})
    prefix = "" if isinstance(error, BadInput | BadTopology) else "netboxit: "
    _say(f"{prefix}{error}")


def _as_data(error: NetBoxITError) -> dict[str, object]:
    if isinstance(error, BadInput):
        return {"path": error.path, "line": error.line, "column": error.column, "cause": error.cause, "remedy": error.remedy}
    return {"kind": type(error).__name__, "cause": str(error)}


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise Interrupted
