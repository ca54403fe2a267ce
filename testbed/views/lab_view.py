# SPDX-License-Identifier: GPL-2.0-or-later
"""How labs that are up look on the terminal, and what was done to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from ownership import state
from testbed.documents import kinds
from testbed.views import drawing

if TYPE_CHECKING:
    from rich.text import Text

    from contracts.node_status import NetboxStatus, NodeStatus
    from contracts.statistics import SwitchStatus
    from testbed.documents.captures import Point
    from testbed.documents.status import LabStatus, WireStatus
    from testbed.documents.watch import Event
    from testbed.observation.capture_points import CapturedPoint
    from testbed.observation.capturing import Captured
    from testbed.observation.record import Recorded


#: Of what each node announced, and of what was changed in the lab; --json has 100 of all.
_MOST_EVENTS, _MOST_CHANGES = 5, 10
#: Of a node, by whether it is alive (None: nobody knows), and the colour of it.
_STATES = {None: ("not reached", "yellow"), True: ("runs", "green"), False: ("ended", "red")}


def show_up(status: LabStatus, events: int, as_json: bool) -> None:
    """`events` is how many the topology has: they happen in runs only."""
    if as_json:
        return drawing.print_json(kinds.UP.of(status))
    _print_lab(status)
    if events:
        drawing.say(
            f"note: {drawing.counted(events, 'event')} of the file happen in runs only; `netboxit set` makes changes here"
        )
    host = next((node["name"] for node in status["nodes"] if node["kind"] == "host"), status["nodes"][0]["name"])
    which = f"--lab {status['lab']} " if len(state.own_lab_names()) > 1 else ""
    drawing.say(f"try: netboxit exec {which}{host} ip address     end it: netboxit down {status['lab']}")


def show_copied(place: str) -> None:
    drawing.say(f"copied to {place}")


def show_status(labs: Sequence[LabStatus], as_json: bool) -> None:
    if as_json:
        return drawing.print_json(kinds.STATUS.of({"labs": list(labs)}))
    if not labs:
        drawing.say("no lab is up")
    for lab in labs:
        _print_lab(lab)


def show_captured(captured: Captured, as_json: bool, where: TextIO) -> None:
    if as_json:
        files, points = list(map(str, captured.files)), list(map(_point, captured.points))
        return drawing.print_json(kinds.CAPTURE.of({"points": points, "files": files, "late": captured.late}))
    for one in captured.points:
        dropped = f", and {one.dropped} more for which there was no room" if one.dropped else ""
        drawing.say(f"{one.point.name}: {drawing.counted(one.frames, 'frame')}{dropped}", file=where)
    if captured.late:
        drawing.say(f"note: {drawing.counted(captured.late, 'frame')} came late, and not in the order of their times", file=where)
    for file in captured.files:
        drawing.say(f"in {file}", file=where)


def show_recorded(files: Sequence[Recorded], as_json: bool) -> None:
    if as_json:
        return drawing.print_json(
            kinds.RECORD.of(
                {"files": [{"file": str(one.file), "from": one.trace.source, "to": one.trace.destination} for one in files]}
            )
        )
    for one in files:
        columns = one.trace.columns()
        means = [f"{name} {sum(values) / len(values):.4g}" for name, values in columns.items()]
        drawing.say(
            f"{one.trace.source} to {one.trace.destination}: {one.file} ({one.trace.end_s:g} s; means: {', '.join(means)})"
        )


def show_down(labs: Sequence[str], notes: Sequence[str], as_json: bool) -> None:
    """`notes` are what could not be put back."""
    if as_json:
        return drawing.print_json(kinds.DOWN.of({"removed": list(labs), "notes": list(notes)}))
    drawing.say(f"removed: {', '.join(labs)}" if labs else "no lab was up")
    drawing.print_notes(notes)


def _point(captured: CapturedPoint) -> Point:
    point = captured.point
    return {
        "name": point.name,
        "node": point.node,
        "interface": point.interface,
        "by": point.by,
        "frames": captured.frames,
        "dropped": captured.dropped,
    }


def _print_lab(status: LabStatus) -> None:
    machine = ["machine"] if "hosts" in status else []
    table = drawing.table(f"lab {status['lab']}", "node", *machine, "kind", "state", "cores", "addresses", "netbox or switch")
    for node in status["nodes"]:
        state = drawing.plain(*_STATES[node["alive"]])
        addresses = " ".join(node["addresses"])
        cores = drawing.cores(node["cores"], bool(node["awake"]))
        where = [node["host"]] if machine else []
        about = _netbox(node["netbox"]) or _switch(node["switch"])
        table.add_row(node["name"], *where, node["kind"], state, cores, addresses, about)
    drawing.console().print(table)
    if status["wires"]:
        _print_wires(status["wires"])
    if status["equipment"]:
        table = drawing.table("equipment", "equipment", "what", "is", "MTU")
        for one in status["equipment"]:
            table.add_row(one["name"], one["what"], f"{one['node']}.{one['interface']}", str(one["mtu"]))
        drawing.console().print(table)
    _print_switches(status["nodes"])
    _print_events(status["events"])
    drawing.print_notes(status["notes"])


def _print_wires(wires: Sequence[WireStatus]) -> None:
    table = drawing.table("wires", "wire", "kind", "left end by", "right end by", "why")
    for wire in wires:
        left, right = wire["ends"]
        reasons = [f"{end['node']}: {end['reason']}" for end in (left, right) if end["reason"]]
        ports = [end["port"] or "?" for end in (left, right)]
        table.add_row(wire["name"], wire["kind"], *ports, "; ".join([wire["reason"], *reasons]))
    drawing.console().print(table)


def _print_switches(nodes: Sequence[NodeStatus]) -> None:
    """What each port has counted since the switch came up."""
    if not any(node["switch"] for node in nodes):
        return
    table = drawing.table("ports of switches", "port", "in", "out", "policed", "lost in queues", "lost otherwise")
    for node in nodes:
        for name, port in node["switch"]["ports"].items() if node["switch"] else ():
            counted = (port["received"], port["sent"], port["policed"], port["queue_drops"])
            lost = port["receive_drops"] + port["send_drops"]
            table.add_row(f"{node['name']}.{name}", *map(str, (*counted, lost)))
    drawing.console().print(table)


def _print_events(events: Sequence[Event]) -> None:
    """The latest of each node, and of what was changed; times count from when the network's time began."""
    left = Counter(event["node"] for event in events)
    shown = []
    for event in events:
        if left[event["node"]] <= (_MOST_CHANGES if event["node"] is None else _MOST_EVENTS):
            shown.append(event)
        left[event["node"]] -= 1
    if not shown:
        return
    table = drawing.table("latest events", "at", "what")
    for event in shown:
        table.add_row(f"{event['at_s']:.3f} s", event["words"])
    drawing.console().print(table)


def _switch(answer: SwitchStatus | None) -> Text:
    if answer is None:
        return drawing.plain("")
    where = "the kernel's datapath" if answer["datapath"] == "system" else "datapath in user space"
    told = f"{where}, {drawing.counted(len(answer['ports']), 'port')}"
    if not answer["unserved"]:
        return drawing.plain(told)
    return drawing.coloured(f"{told}, ", (f"{answer['unserved']} frames never looked at", "red"))


def _netbox(answer: NetboxStatus | None) -> Text:
    if answer is None:
        return drawing.plain("")
    scheduler = answer["scheduler"]
    ready = "ready" if answer["ready"] else "not ready"
    down = [f"{station} ({reason})" for station, reason in answer["unlinked"].items()]
    scheduling = f"{scheduler['policy']} {scheduler['priority']}"
    told = f"{answer['technology']}, {ready}, {scheduling}, {answer['simulated_s']:.1f} s simulated"
    return drawing.coloured(f"{told}, ", (f"no link: {', '.join(down)}", "red")) if down else drawing.plain(told)
