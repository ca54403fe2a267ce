# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes that somebody makes in a lab that is up: one, or a drill of several, which is put back however it ends."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from contracts.changes import Change, ConfigurationChange, PowerChange, Sequence
from contracts.durable import NotWritten
from contracts.errors import BadTopology, NetBoxITError
from contracts.plan import Plan
from contracts.run_records import recorded
from ownership.recorded import beside_topology
from system.interruption import HeldBack
from testbed.changing import by_hand, set_command, unfinished
from testbed.changing.executor import Executor
from testbed.description.targets import Targets
from testbed.labs import measuring
from testbed.labs.event_log import EventLog
from testbed.plan_part import node_of

if TYPE_CHECKING:
    from testbed.documents.changes import Change as Made
    from testbed.labs.lab import Lab


class NotPutBack(NetBoxITError):
    """Something that a sequence had changed could not be put back."""


def targets_of(plan: Plan) -> Targets:
    return Targets.of(plan.nodes, plan.wires, plan.equipment)


def nodes_of(sequence: Sequence) -> list[str]:
    """Those at which it changes something."""
    return list(dict.fromkeys(map(node_of, (*(step.change for step in sequence.steps), *sequence.undo))))


def change(lab: Lab, target: str, text: str, progress: Callable[[str], None] = lambda _: None) -> list[Made]:
    """What `netboxit set TARGET KEY=VALUE` does. Raises BadChange before anything is done, and what a netbox refuses."""
    sequence = set_command.change(targets_of(lab.plan), target, text, beside_topology(lab.folder))
    return carry_out(lab, f"{target} {text}", sequence, progress)


def carry_out(lab: Lab, name: str, sequence: Sequence, progress: Callable[[str], None] = lambda _: None) -> list[Made]:
    """Makes the changes at their times from now on, and returns what was recorded of each.

    Whoever interrupts it, or what fails, finds put back what the sequence leaves changed, and is told so. Raises DrillGoesOn.
    """
    _check_configurations(lab, sequence)
    log, records = EventLog.of(lab.folder), []
    with ExitStack() as open_ones:
        executor = Executor(lab, open_ones, _sample_s(lab))
        steps = [(step, executor.step(step.change)) for step in sequence.steps]
        undo = [(change, executor.step(change)) for change in sequence.undo]
        if sequence.undo:
            unfinished.begin(lab.folder, name, sequence.undo)
        began = time.monotonic()
        try:
            for step, make in steps:
                _sleep_until(began + step.after_s, progress)
                progress(step.change.words())
                records.append(_make(lab, log, step.change, make))
            executor.wait()
        except BaseException as error:
            try:
                with HeldBack():
                    _undo(lab, log, undo)
            except NotPutBack as failure:
                raise NotPutBack(f"{error}; {failure}" if isinstance(error, NetBoxITError) else str(failure)) from error
            error.add_note(_left_by(sequence, records))
            raise
        unfinished.end(lab.folder)
    return records


def _left_by(sequence: Sequence, records: list[Made]) -> str:
    """What is so after a sequence was interrupted."""
    if sequence.undo:
        return "what was changed was put back"
    return f"done until then: {'; '.join(change['words'] for change in records)}" if records else "nothing was changed"


def put_back(lab: Lab) -> tuple[str, list[Made]] | None:
    """Puts back what a sequence changed whose command was killed: its name, and what was made. None when there is none."""
    left = unfinished.of(lab.folder)
    if left is None:
        return None
    if left.goes_on:
        raise unfinished.DrillGoesOn(
            f"{left.name} is going on in lab {lab.name}; Ctrl-C in its terminal ends it and puts everything back"
        )
    with ExitStack() as open_ones, HeldBack():
        executor = Executor(lab, open_ones, _sample_s(lab))
        return left.name, _undo(lab, EventLog.of(lab.folder), [(change, executor.step(change)) for change in left.undo])


def _undo(lab: Lab, log: EventLog, steps: list[tuple[Change, Callable[[], object]]]) -> list[Made]:
    """All that can be put back; what cannot is told, and stays written down."""
    records, failures = [], []
    for change, make in steps:
        try:
            records.append(_make(lab, log, change, make))
        except NetBoxITError as error:
            failures.append(f"{change.words()}: {error}")
    if failures:
        raise NotPutBack(f"not everything could be put back; {'; '.join(failures)}")
    unfinished.end(lab.folder)
    return records


def _check_configurations(lab: Lab, sequence: Sequence) -> None:
    """By Click itself, with the line of what is wrong. Raises BadTopology."""
    from testbed.plans.planning import swap_errors  # topologies are only needed here

    changes = [step.change for step in sequence.steps if isinstance(step.change, ConfigurationChange)]
    if wrong := [error for change in changes for error in swap_errors(change, lab.node(change.router))]:
        raise BadTopology(wrong)


def _make(lab: Lab, log: EventLog, change: Change, make: Callable[[], object]) -> Made:
    started = time.monotonic()
    what = recorded(change, change.words() + _lost_by(lab, change))
    try:
        # Half of a change could not be put back.
        with HeldBack():
            make()
    except BaseException as failure:
        with suppress(NotWritten):  # of the two, what failed first says more
            _write(lab, log, started, what, str(failure) if isinstance(failure, NetBoxITError) else None)
        raise
    _write(lab, log, started, what)
    return what


def _write(lab: Lab, log: EventLog, started: float, what: Made, error: str | None = None) -> None:
    """Also into the record of traffic that is measured just now; a drill may begin before it and end after it."""
    for record in filter(None, (log, EventLog.of_traffic(lab.folder))):
        record.write(record.at_s(started), started, what, error)


def _sample_s(lab: Lab) -> float | None:
    """Of netboxes that are measured just now."""
    return measuring.SAMPLE_S if measuring.run_of(lab.folder) is not None and not measuring.stays(lab.folder) else None


def _lost_by(lab: Lab, change: Change) -> str:
    """A node that loses its power forgets what was set by hand."""
    if not isinstance(change, PowerChange) or change.power == "on":
        return ""
    values = by_hand.lost(lab.node_folder(change.node), lab.node(change.node))
    return f" (what was set by hand is lost: {', '.join(values)})" if values else ""


def _sleep_until(due: float, progress: Callable[[str], None]) -> None:
    while (left := due - time.monotonic()) > 0:
        progress(f"next change, in {left:.0f} s")
        time.sleep(min(left, 0.5))
