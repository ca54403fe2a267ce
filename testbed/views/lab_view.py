# SPDX-License-Identifier: GPL-2.0-or-later
"""How labs that are up look on the terminal, and what was done to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from contracts.quantities import RATE
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
    only_in_runs = f"{drawing.counted(events, 'event')} of the file happen in runs only; `netboxit set` makes changes here"
    host = next((node["name"] for node in status["nodes"] if node["kind"] == "host"), status["nodes"][0]["name"])
    which = f"--lab {status['lab']} " if len(state.own_lab_names()) > 1 else ""
    drawing.say(
        *drawing.notes([only_in_runs] if events else []),
        f"try: netboxit exec {which}{host} ip address     end it: netboxit down {status['lab']}",
    )


def show_status(labs: Sequence[LabStatus], as_json: bool) -> None:
    if as_json:
        return drawing.print_json(kinds.STATUS.of({"labs": list(labs)}))
    if not labs:
        drawing.say("no lab is up")
    for lab in labs:
        _print_lab(lab)


def show_captured(captured: Captured, as_json: bool, where: TextIO) -> None:
    points: list[Point] = [
        {
            "name": of_point.point.name,
            "node": of_point.point.node,
            "interface": of_point.point.interface,
            "by": of_point.point.by,
            "frames": of_point.frames,
            "dropped": of_point.dropped,
        }
        for of_point in captured.points
    ]
    late = [f"{drawing.counted(captured.late, 'frame')} came late, and not in the order of their times"] if captured.late else []
    drawing.show(
        as_json,
        kinds.CAPTURE.of({"points": points, "files": list(map(str, captured.files)), "late": captured.late}),
        *(
            f"{of_point.point.name}: {drawing.counted(of_point.frames, 'frame')}"
            + (f", and {of_point.dropped} more for which there was no room" if of_point.dropped else "")
            for of_point in captured.points
        ),
        *drawing.notes(late),
        *(f"in {file}" for file in captured.files),
        file=where,
    )


def show_recorded(files: Sequence[Recorded], as_json: bool) -> None:
    document = kinds.RECORD.of(
        {
            "files": [
                {"file": str(recorded.file), "from": recorded.trace.source, "to": recorded.trace.destination}
                for recorded in files
            ]
        }
    )
    drawing.show(as_json, document, *map(_recorded, files))


def show_down(labs: Sequence[str], notes: Sequence[str], as_json: bool) -> None:
    """`notes` are what could not be put back."""
    document = kinds.DOWN.of({"removed": list(labs), "notes": list(notes)})
    drawing.show(as_json, document, f"removed: {', '.join(labs)}" if labs else "no lab was up", *drawing.notes(notes))


def _recorded(recorded: Recorded) -> str:
    trace = recorded.trace
    means = [f"{name} {sum(values) / len(values):.4g}" for name, values in trace.columns().items()]
    return f"{trace.source} to {trace.destination}: {recorded.file} ({trace.end_s:g} s; means: {', '.join(means)})"


def _print_lab(status: LabStatus) -> None:
    machine = ["machine"] if "hosts" in status else []
    drawing.print_table(
        f"lab {status['lab']}",
        ("node", *machine, "kind", "state", "cores", "addresses", "netbox or switch"),
        (
            (
                node["name"],
                *([node["host"]] if machine else []),
                node["kind"],
                drawing.plain(*_STATES[node["alive"]]),
                drawing.cores(node["cores"], bool(node["awake"])),
                " ".join(node["addresses"]),
                _about(node),
            )
            for node in status["nodes"]
        ),
    )
    drawing.print_table("wires", ("wire", "kind", "left end by", "right end by", "why"), map(_wire, status["wires"]))
    drawing.print_table(
        "equipment",
        ("equipment", "what", "is", "MTU"),
        ((port["name"], port["what"], f"{port['node']}.{port['interface']}", str(port["mtu"])) for port in status["equipment"]),
    )
    drawing.print_table("managed links", ("link", "node", "part", "rate", "state"), _parts(status["nodes"]))
    drawing.print_table(
        "ports of switches",
        ("port", "in", "out", "policed", "lost in queues", "lost otherwise"),
        _switch_ports(status["nodes"]),
    )
    drawing.print_table(
        "latest events",
        ("at", "what"),
        ((f"{event['at_s']:.3f} s", event["words"]) for event in _latest(status["events"])),
    )
    drawing.say(*drawing.notes(status["notes"]))


def _wire(wire: WireStatus) -> tuple[str, ...]:
    return (
        wire["name"],
        wire["kind"],
        *(end["port"] or "?" for end in wire["ends"]),
        "; ".join([wire["reason"], *(f"{end['node']}: {end['reason']}" for end in wire["ends"] if end["reason"])]),
    )


def _parts(nodes: Sequence[NodeStatus]) -> Iterator[tuple[str, ...]]:
    """Of allocators what they divide, of members their budgets."""
    for node in nodes:
        for part in node["management"] or ():
            if part["role"] == "allocator":
                state = f"{drawing.counted(part['members'] or 0, 'member')}, each {RATE.write(part['share'] or 0)}"
                rate = part["capacity"]
            else:
                state = f"{part['state']}" if part["reachable"] else f"{part['state']}, hears no allocator"
                rate = part["budget"]
            yield part["name"], node["name"], part["role"], "no budget" if rate is None else RATE.write(rate), state


def _switch_ports(nodes: Sequence[NodeStatus]) -> Iterator[tuple[str, ...]]:
    """What each port has counted since the switch came up."""
    for node in nodes:
        for name, port in node["switch"]["ports"].items() if node["switch"] else ():
            lost = port["receive_drops"] + port["send_drops"]
            counts = (port["received"], port["sent"], port["policed"], port["queue_drops"], lost)
            yield (f"{node['name']}.{name}", *map(str, counts))


def _latest(events: Sequence[Event]) -> Iterator[Event]:
    """The latest of each node, and of what was changed; times count from when the network's time began."""
    left = Counter(event["node"] for event in events)
    for event in events:
        if left[event["node"]] <= (_MOST_CHANGES if event["node"] is None else _MOST_EVENTS):
            yield event
        left[event["node"]] -= 1


def _about(node: NodeStatus) -> Text | str:
    """What its netbox says of itself, or its switch."""
    if node["netbox"]:
        return _netbox(node["netbox"])
    return _switch(node["switch"]) if node["switch"] else ""


def _switch(switch: SwitchStatus) -> Text:
    where = "the kernel's datapath" if switch["datapath"] == "system" else "datapath in user space"
    words = f"{where}, {drawing.counted(len(switch['ports']), 'port')}"
    return _with_alarm(words, f"{switch['unserved']} frames never looked at" if switch["unserved"] else "")


def _netbox(netbox: NetboxStatus) -> Text:
    words = (
        f"{netbox['technology']}, {'ready' if netbox['ready'] else 'not ready'}, "
        f"{netbox['scheduler']['policy']} {netbox['scheduler']['priority']}, {netbox['simulated_s']:.1f} s simulated"
    )
    unlinked = ", ".join(f"{station} ({reason})" for station, reason in netbox["unlinked"].items())
    return _with_alarm(words, f"no link: {unlinked}" if unlinked else "")


def _with_alarm(words: str, alarm: str) -> Text:
    return drawing.coloured(f"{words}, ", (alarm, "red")) if alarm else drawing.plain(words)
