# SPDX-License-Identifier: GPL-2.0-or-later
"""How topologies, plans and what they will cost look on the terminal."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from contracts.quantities import SIZE, TIME
from testbed.documents import kinds
from testbed.nodes import host_program
from testbed.views import drawing
from testbed.views.change_view import as_data, show_compared

if TYPE_CHECKING:
    from contracts.changes import EventPlan
    from contracts.plan import Plan, TrafficPlan, WirePlan
    from testbed.changing.comparison import Compared
    from testbed.documents.plan import PlanDocument
    from testbed.plans.calibration import Calibration, Costs
    from testbed.plans.load import Failure, LoadEstimate, TrafficPath


def show_check(file: Path, plan: Plan, load: LoadEstimate, as_json: bool) -> None:
    machines = {host.name: [node.name for node in plan.nodes if node.host == host.name] for host in plan.hosts}
    notes = [*plan.notes, *load.notes]
    counts = [
        *(drawing.counted(number, kind) for kind, number in Counter(node.kind for node in plan.nodes).items()),
        drawing.counted(len(plan.wires), "wire"),
        drawing.counted(len(plan.traffic), "application"),
        *([f"{drawing.counted(len(plan.equipment), 'port')} of equipment"] if plan.equipment else []),
        *([drawing.counted(len(plan.events), "event")] if plan.events else []),
        *([drawing.counted(len({node.host for node in plan.nodes}), "machine")] if plan.hosts else []),
    ]
    document = kinds.CHECK.of({"file": str(file), "sound": True, "machines": machines, "notes": notes})
    drawing.show(as_json, document, f"{file} is sound: {', '.join(counts)}", *drawing.notes(notes))


def show_schema(schema: Mapping[str, Any]) -> None:
    drawing.say(json.dumps(schema, indent=1, ensure_ascii=False))


def show_plan(compared: Compared, missing: Sequence[str], remarks: Sequence[str], as_json: bool) -> None:
    """`missing` is what this machine lacks for the plan's equipment, `remarks` what is to be known of what it has."""
    plan, load = compared.plan, compared.load
    if as_json:
        own: PlanDocument = {
            "load": load,
            "difference": as_data(compared.difference),
            "missing": list(missing),
            "remarks": list(remarks),
        }
        return drawing.print_json(kinds.PLAN.of(cast("PlanDocument", {**vars(plan), **own})))
    _print_nodes(plan)
    _print_machines(plan)
    drawing.print_table(
        "wires",
        ("wire", "kind", "MTU", "why"),
        ((wire.name, _kind(wire), str(wire.mtu), wire.reason) for wire in plan.wires),
    )
    drawing.print_table(
        "equipment",
        ("equipment", "what", "becomes", "MTU"),
        ((port.name, port.words(), f"{port.end.node}.{port.end.interface}", str(port.mtu)) for port in plan.equipment),
    )
    drawing.print_table("hosts' own", ("host", "what", "is"), _own(plan))
    _print_load(load)
    _print_failures(load.failures)
    _print_traffic(plan.traffic)
    drawing.say(*(f"{_ends(path)}: {f'by {_by(path)}' if path.paths else 'no route'}" for path in load.paths))
    drawing.print_table("events", ("at", "what"), ((_time(event), event.change.words()) for event in plan.events))
    notes = (*plan.notes, *load.notes, *(f"missing for `up`: {lack}" for lack in missing), *remarks)
    drawing.say(*drawing.notes(notes))
    show_compared(compared)


def _print_nodes(plan: Plan) -> None:
    headers = ("node", "kind", *(["machine"] if plan.hosts else []), "cores", "interface", "MAC", "addresses", "wire")
    rows = []
    for node in plan.nodes:
        first = (node.name, node.kind, *([node.host] if plan.hosts else []), drawing.cores(node.cores))
        for interface in node.interfaces:
            rows.append((*first, interface.name, interface.mac or "its own", " ".join(interface.addresses), interface.wire))
            first = ("",) * len(first)
    drawing.print_table(f"lab {plan.lab}", headers, rows)


def _print_machines(plan: Plan) -> None:
    nodes = Counter(node.host for node in plan.nodes)
    drawing.print_table(
        "machines",
        ("machine", "nodes", "wires by", "kept awake", "real time, of each core"),
        (
            (
                f"{host.name} (this one)" if host.here else host.name,
                str(nodes[host.name]),
                host.address + (f" ({host.interface})" if host.interface else "") + (", in WireGuard" if host.sealed else ""),
                drawing.cores(host.awake_cores),
                f"{host.realtime_budget_us / 1e6:.0%}",
            )
            for host in plan.hosts
        ),
    )


def _own(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """What hosts get of the topology's writer: files, packages, and programs that they start."""
    for node in plan.nodes:
        for place, copied in node.copied.items():
            what = f"{drawing.counted(copied.entries, 'file')} and folders" if copied.entries > 1 else "a file"
            yield node.name, place, f"{what}, {SIZE.write(copied.size)}, from {copied.source}"
        if node.packages:
            yield node.name, "packages", ", ".join(node.packages)
        if (program := host_program.of_user(node)) is not None:
            yield node.name, "starts", f"{program.line} (again: {program.restart})"


def _kind(wire: WirePlan) -> str:
    if wire.over is not None:
        return f"cable at {wire.over[0]} and {wire.over[1]}"
    return wire.kind if wire.vni is None else f"VXLAN {wire.vni}"


def _print_traffic(entries: Sequence[TrafficPlan]) -> None:
    for entry in entries:
        start, duration = entry.options.get("start", 0.0), entry.options.get("duration")
        when = "" if duration is None else f", {TIME.write(start)} to {TIME.write(start + duration)}"
        ends = f"from {entry.source} ({entry.source_address}) to {entry.destination} ({entry.destination_address})"
        drawing.say(f"{entry.name}: {entry.application} {ends}{when}")


def _time(event: EventPlan) -> str:
    at = TIME.write(event.at_s)
    return at if event.when is None else f"{event.when.words()}{f', + {at}' if event.at_s else ''}"


def _print_load(load: LoadEstimate) -> None:
    from testbed.plans.load import rounded

    drawing.print_table(
        "load by the declared traffic" + (f", calibrated {load.measured}" if load.measured else ""),
        ("netbox", "frames/s", "mean size", "of a core", "most of the smallest", "why not"),
        (
            (
                netbox.netbox,
                f"{netbox.frames_per_s:.4g}",
                f"{netbox.mean_bytes:.0f} B",
                "" if netbox.share is None else f"{netbox.share:.1%}",
                "" if netbox.most_per_s is None else f"{rounded(netbox.most_per_s)}/s",
                netbox.reason,
            )
            for netbox in load.netboxes
        ),
    )


def _print_failures(failures: Sequence[Failure]) -> None:
    """A block of lines for each: its parts, its traffic and its netboxes stand beside each other."""
    rows: list[tuple[str, ...]] = []
    for failure in failures:
        loads = [
            f"{netbox.netbox} {netbox.frames_per_s:.4g} frames/s"
            + ("" if netbox.share is None else f", {netbox.share:.1%} of a core")
            for netbox in failure.netboxes
        ]
        rows += zip_longest(
            failure.parts,
            map(_ends, (*failure.moved, *failure.cut)),
            (*map(_by, failure.moved), *("no path" for _ in failure.cut)),
            loads,
            fillvalue="",
        )
    drawing.print_table("when a part of a path fails", ("what fails", "traffic", "goes on by", "netboxes then"), rows)


def _ends(path: TrafficPath) -> str:
    return f"{path.traffic}, {path.source} to {path.destination}"


def _by(path: TrafficPath) -> str:
    return " or ".join(", ".join(netboxes) or "no netbox" for netboxes in path.paths)


def show_calibration(calibration: Calibration, file: Path, as_json: bool) -> None:
    if as_json:
        return drawing.print_json(
            kinds.CALIBRATE.of(
                {
                    "file": str(file),
                    "measured": calibration.measured,
                    "machine": calibration.machine,
                    "technologies": calibration.technologies,
                    "ports": calibration.ports,
                    "missing": calibration.missing,
                    "failed": calibration.failed,
                }
            )
        )
    from testbed.plans.calibration import LARGE, SMALL

    rows = [
        *(
            (f"{name}, virtual time", f"{technology.idle_share:.2%}", *_microseconds(technology.frame))
            for name, technology in calibration.technologies.items()
        ),
        *(
            (f"ethernet on {kind} ports, {how}", "", *_microseconds(cost))
            for kind, port in calibration.ports.items()
            for how, cost in (("alone", port.alone), ("among many", port.among_many))
        ),
    ]
    headers = ("what", "idle", f"frame of {SMALL} B", f"of {LARGE} B")
    drawing.print_table(f"CPU time on {calibration.machine.cpu}", headers, rows)
    drawing.say(
        *(f"no {kind} ports: {reason}" for kind, reason in calibration.missing.items()),
        *(f"failed: {what}: {reason}" for what, reason in calibration.failed.items()),
        f"kept in {file}",
    )


def _microseconds(cost: Costs) -> tuple[str, str]:
    return f"{cost.small_us:.1f} us", f"{cost.large_us:.1f} us"
