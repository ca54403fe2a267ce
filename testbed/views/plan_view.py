# SPDX-License-Identifier: GPL-2.0-or-later
"""How topologies, plans and what they will cost look on the terminal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from testbed.documents import kinds
from testbed.nodes import host_program
from testbed.views import drawing
from testbed.views.difference_view import as_data, show_compared

if TYPE_CHECKING:
    from contracts.changes import EventPlan
    from contracts.plan import EquipmentPlan, Plan, TrafficPlan, WirePlan
    from testbed.changing.comparison import Compared
    from testbed.documents.plan import PlanDocument
    from testbed.plans.calibration import Calibration
    from testbed.plans.load import Failure, LoadEstimate
    from testbed.plans.traffic_paths import TrafficPath


def show_check(file: Path, plan: Plan, load: LoadEstimate, as_json: bool) -> None:
    if as_json:
        machines = {host.name: [node.name for node in plan.nodes if node.host == host.name] for host in plan.hosts}
        notes = [*plan.notes, *load.notes]
        return drawing.print_json(kinds.CHECK.of({"file": str(file), "sound": True, "machines": machines, "notes": notes}))
    nodes: list[str] = [node.kind for node in plan.nodes]
    counts = [drawing.counted(nodes.count(kind), kind) for kind in dict.fromkeys(nodes)]
    counts += [drawing.counted(len(plan.wires), "wire"), drawing.counted(len(plan.traffic), "application")]
    counts += [f"{drawing.counted(len(plan.equipment), 'port')} of equipment"] if plan.equipment else []
    counts += [drawing.counted(len(plan.events), "event")] if plan.events else []
    counts += [drawing.counted(len({node.host for node in plan.nodes}), "machine")] if plan.hosts else []
    drawing.say(f"{file} is sound: {', '.join(counts)}")
    drawing.print_notes((*plan.notes, *load.notes))


def show_schema(schema: Mapping[str, Any]) -> None:
    drawing.say(json.dumps(schema, indent=1, ensure_ascii=False))


def show_plan(compared: Compared, missing: Sequence[str], remarks: Sequence[str], as_json: bool) -> None:
    """`missing` is what this machine lacks for the plan's equipment, `remarks` what is to be known of what it has."""
    plan, load = compared.plan, compared.load
    if as_json:
        return drawing.print_json(kinds.PLAN.of(_as_document(compared, missing, remarks)))
    on = ("machine",) if plan.hosts else ()
    nodes = drawing.table(f"lab {plan.lab}", "node", "kind", *on, "cores", "interface", "MAC", "addresses", "wire")
    for node in plan.nodes:
        first = (node.name, node.kind, *([node.host] if plan.hosts else []), drawing.cores(node.cores))
        for interface in node.interfaces:
            mac = interface.mac or "its own"
            nodes.add_row(*first, interface.name, mac, " ".join(interface.addresses), interface.wire)
            first = ("",) * len(first)
    drawing.console().print(nodes)
    if plan.hosts:
        _print_machines(plan)
    if plan.wires:
        table = drawing.table("wires", "wire", "kind", "MTU", "why")
        for wire in plan.wires:
            table.add_row(wire.name, _kind(wire), str(wire.mtu), wire.reason)
        drawing.console().print(table)
    if plan.equipment:
        _print_equipment(plan.equipment)
    _print_own(plan)
    if load.netboxes:
        _print_load(load)
    if load.failures:
        _print_failures(load.failures)
    _print_traffic(plan.traffic)
    _print_paths(load.paths)
    if plan.events:
        _print_events(plan.events)
    drawing.print_notes((*plan.notes, *load.notes, *(f"missing for `up`: {one}" for one in missing), *remarks))
    show_compared(compared)


def _as_document(compared: Compared, missing: Sequence[str], remarks: Sequence[str]) -> PlanDocument:
    plan = compared.plan
    return {
        "lab": plan.lab,
        "topology": plan.topology,
        "seed": plan.seed,
        "nodes": plan.nodes,
        "wires": plan.wires,
        "traffic": plan.traffic,
        "lateness_limit_s": plan.lateness_limit_s,
        "lateness_policy": plan.lateness_policy,
        "awake_cores": plan.awake_cores,
        "notes": plan.notes,
        "realtime_budget_us": plan.realtime_budget_us,
        "events": plan.events,
        "equipment": plan.equipment,
        "hosts": plan.hosts,
        "take": plan.take,
        "elsewhere": plan.elsewhere,
        "centre": plan.centre,
        "load": compared.load,
        "difference": as_data(compared.difference),
        "missing": list(missing),
        "remarks": list(remarks),
    }


def _print_machines(plan: Plan) -> None:
    table = drawing.table("machines", "machine", "nodes", "wires by", "kept awake", "real time, of each core")
    for host in plan.hosts:
        nodes = sum(node.host == host.name for node in plan.nodes)
        name = f"{host.name} (this one)" if host.here else host.name
        by = f"{host.address} ({host.interface})" if host.interface else host.address
        by += ", in WireGuard" if host.sealed else ""
        table.add_row(name, str(nodes), by, drawing.cores(host.awake_cores), f"{host.realtime_budget_us / 1e6:.0%}")
    drawing.console().print(table)


def _print_own(plan: Plan) -> None:
    """What hosts get of the topology's writer: files, and programs that they start."""
    from contracts.quantities import SIZE

    table = drawing.table("hosts' own", "host", "what", "is")
    for node in plan.nodes:
        for place, copied in node.copied.items():
            what = f"{drawing.counted(copied.entries, 'file')} and folders" if copied.entries > 1 else "a file"
            table.add_row(node.name, place, f"{what}, {SIZE.write(copied.size)}, from {copied.source}")
        if node.packages:
            table.add_row(node.name, "packages", ", ".join(node.packages))
        if (told := host_program.told(node)) is not None:
            table.add_row(node.name, "starts", f"{told['line']} (again: {told['restart']})")
    if table.row_count:
        drawing.console().print(table)


def _kind(wire: WirePlan) -> str:
    if wire.over is not None:
        return f"cable at {wire.over[0]} and {wire.over[1]}"
    return wire.kind if wire.vni is None else f"VXLAN {wire.vni}"


def _print_equipment(ports: Sequence[EquipmentPlan]) -> None:
    table = drawing.table("equipment", "equipment", "what", "becomes", "MTU")
    for port in ports:
        table.add_row(port.name, port.words(), f"{port.end.node}.{port.end.interface}", str(port.mtu))
    drawing.console().print(table)


def _print_traffic(entries: Sequence[TrafficPlan]) -> None:
    from contracts.quantities import TIME  # Pydantic, which other commands do without

    for one in entries:
        start, duration = one.options.get("start", 0.0), one.options.get("duration")
        when = "" if duration is None else f", {TIME.write(start)} to {TIME.write(start + duration)}"
        ends = f"from {one.source} ({one.source_address}) to {one.destination} ({one.destination_address})"
        drawing.say(f"{one.name}: {one.application} {ends}{when}")


def _print_events(events: Sequence[EventPlan]) -> None:
    from contracts.quantities import TIME

    table = drawing.table("events", "at", "what")
    for event in events:
        at = TIME.write(event.at_s)
        table.add_row(
            at if event.when is None else f"{event.when.words()}{f', + {at}' if event.at_s else ''}", event.change.words()
        )
    drawing.console().print(table)


def _print_load(load: LoadEstimate) -> None:
    from testbed.plans.load import rounded

    title = "load by the declared traffic" + (f", calibrated {load.measured}" if load.measured else "")
    table = drawing.table(title, "netbox", "frames/s", "mean size", "of a core", "most of the smallest", "why not")
    for one in load.netboxes:
        share = "" if one.share is None else f"{one.share:.1%}"
        most = "" if one.most_per_s is None else f"{rounded(one.most_per_s)}/s"
        table.add_row(one.netbox, f"{one.frames_per_s:.4g}", f"{one.mean_bytes:.0f} B", share, most, one.reason)
    drawing.console().print(table)


def _print_failures(failures: Sequence[Failure]) -> None:
    table = drawing.table("when a part of a path fails", "what fails", "traffic", "goes on by", "netboxes then")
    for failure in failures:
        then = [
            f"{one.netbox} {one.frames_per_s:.4g} frames/s" + ("" if one.share is None else f", {one.share:.1%} of a core")
            for one in failure.netboxes
        ]
        rows = [(f"{path.traffic}, {path.source} to {path.destination}", _by(path)) for path in failure.moved]
        rows += [(f"{path.traffic}, {path.source} to {path.destination}", "no path") for path in failure.cut]
        cells = zip_longest(failure.parts, rows, then)
        for part, row, load in cells:
            table.add_row(part or "", *(row or ("", "")), load or "")
    drawing.console().print(table)


def _print_paths(paths: Sequence[TrafficPath]) -> None:
    for path in paths:
        drawing.say(f"{path.traffic}, {path.source} to {path.destination}: {f'by {_by(path)}' if path.paths else 'no route'}")


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

    table = drawing.table(f"CPU time on {calibration.machine.cpu}", "what", "idle", f"frame of {SMALL} B", f"of {LARGE} B")
    for name, technology in calibration.technologies.items():
        frame = technology.frame
        table.add_row(
            f"{name}, virtual time", f"{technology.idle_share:.2%}", f"{frame.small_us:.1f} us", f"{frame.large_us:.1f} us"
        )
    for kind, port in calibration.ports.items():
        for which, cost in (("alone", port.alone), ("among many", port.among_many)):
            table.add_row(f"ethernet on {kind} ports, {which}", "", f"{cost.small_us:.1f} us", f"{cost.large_us:.1f} us")
    drawing.console().print(table)
    for kind, reason in calibration.missing.items():
        drawing.say(f"no {kind} ports: {reason}")
    for what, reason in calibration.failed.items():
        drawing.say(f"failed: {what}: {reason}")
    drawing.say(f"kept in {file}")
