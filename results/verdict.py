# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a run can be trusted: valid, degraded or invalid, with reasons; thresholds are explained in docs/measuring.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from contracts.node_status import NodeStatus
from contracts.plan import Plan
from contracts.run_records import CaptureCount
from contracts.statistics import LatenessCountersByKind, NetboxStatistics
from results.metrics_document import Conversation, Event, Flow, Miss, Status, Switch, Timekeeping, VerdictTold

#: Frames that a netbox had no time for are losses that the emulated network would not have: beyond one in a thousand they are
#: more than most of the losses that one wants to measure.
OVERLOAD_RATIO = 1e-3

#: Time that other guests of a virtual machine's host took from a netbox's core. What harm it did is in the lateness of what the
#: netbox had to do then; beyond one moment in twenty one cannot rely on that having been much.
STEAL_RATIO = 0.05

#: Of a link layer's frames. Now and then one takes longer; beyond one in twenty it is the settings.
_LATE_RATIO = 0.05

#: Freezes that are told with their times.
_MOST_FREEZES = 3


@dataclass
class Verdict:
    """Reasons for the worse come first; `notes` change nothing but should be known, `advice` is what would help (advice.py)."""

    invalid: list[str] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)

    @property
    def status(self) -> Status:
        return "invalid" if self.invalid else "degraded" if self.degraded else "valid"

    def lost_here(self, lost: int, frames: int, words: str) -> None:
        """Of frames that the testbed itself lost, where it lost any."""
        if lost:
            (self.invalid if lost > OVERLOAD_RATIO * frames else self.degraded).append(words)

    def to_json(self) -> VerdictTold:
        return {"status": self.status, "reasons": [*self.invalid, *self.degraded], "advice": self.advice, "notes": self.notes}


def judge(
    plan: Plan,
    failures: Sequence[str],
    statistics: Mapping[str, NetboxStatistics],
    netboxes: Mapping[str, Timekeeping],
    captures: Sequence[CaptureCount],
    flows: Sequence[Flow],
    nodes: Sequence[NodeStatus],
    switches: Mapping[str, Switch],
    events: Sequence[Event],
    conversations: Sequence[Conversation] = (),
) -> Verdict:
    """`failures` are what the run met, or should have left; `nodes` are those of lab.json."""
    verdict = Verdict(invalid=list(failures))
    for netbox, counted in statistics.items():
        _netbox(netbox, counted, netboxes[netbox], verdict)
    for switch, ports in switches.items():
        _switch(switch, ports, verdict)
    _captures(captures, verdict)
    for flow in flows:
        name = f"flow {flow['name']} ({flow['direction']})"
        if flow["packets"] == 0 < flow["warm_up_packets"]:
            verdict.notes.append(
                f"{name}: all of its {flow['warm_up_packets']:,} frames were sent in the warm-up, so it has no figures"
            )
        elif flow["packets"] == 0:
            nothing = f"{name}: not one frame was sent"
            if flow["unreached"] is None:
                verdict.invalid.append(nothing)
            else:
                verdict.notes.append(f"{nothing}: {flow['unreached']}")
    sent = flows or conversations or any(counted["frames"].get("emitted", 0) for counted in statistics.values())
    if not plan.traffic and not sent and not failures:
        verdict.notes.append(
            "the topology has no `traffic`, and no program in a host sent any, so no delay, loss or rate from end to end was "
            "measured; the verdict says only that the testbed was in time"
        )
    _without_link(events, verdict)
    _nodes(nodes, verdict)
    verdict.notes += plan.notes
    return verdict


def _netbox(netbox: str, counted: NetboxStatistics, kept: Timekeeping, verdict: Verdict) -> None:
    _lateness(netbox, counted["lateness_us"], kept, verdict)
    # Those of a generator come from itself.
    dropped, frames = kept["overload_drops"] + kept["send_drops"], kept["received"] + counted["frames"].get("emitted", 0)
    verdict.lost_here(
        dropped,
        frames,
        f"netbox {netbox}: {dropped:,} of {frames:,} frames were dropped at its ports because it was too slow{_drill(kept)}",
    )
    if (stolen := kept["steal_ratio"]) is not None and stolen > STEAL_RATIO:
        verdict.degraded.append(
            f"netbox {netbox}: other guests of this machine took {stolen:.1%} of its core's time; "
            "run it on a machine, or on cores, that nobody else uses"
        )
    if missing := counted["records"]["dropped"]:
        verdict.invalid.append(
            f"netbox {netbox}: {missing:,} frame records are missing, so delays and losses inside it are not known"
        )
    _generators(netbox, counted, verdict)
    _link_layers(netbox, counted, verdict)
    if lines := counted["journal"]["dropped"]:
        verdict.notes.append(
            f"netbox {netbox}: {lines:,} lines of its journal found no room, so events or statistics are missing"
        )


def _without_link(events: Sequence[Event], verdict: Verdict) -> None:
    """Stations that could not be reached from the beginning on: it may be what the topology wants, or why a flow is empty."""
    announced = [event for event in events if not event["by_run"]]
    for down in announced:
        if down["kind"] == "link_down" and down["time_s"] <= 0:
            netbox, station = down["netbox"], down["station"]
            ups = [
                up["time_s"]
                for up in announced
                if (up["kind"], up["netbox"], up["station"]) == ("link_up", netbox, station) and up["time_s"] >= down["time_s"]
            ]
            until = f"got one after {ups[0]:.1f} s" if ups else "never got one"
            why = down["details"].get("reason", "no reason told")
            verdict.notes.append(f"netbox {netbox}: station {station} had no link when the run began ({why}), and {until}")


def _lateness(netbox: str, lateness: LatenessCountersByKind, kept: Timekeeping, verdict: Verdict) -> None:
    limit_us = kept["limit_us"]
    for late, things in ((lateness["frame"], "frames"), (lateness["event"], "events")):
        if (p99 := late.get("p99", 0.0)) > limit_us:
            verdict.invalid.append(
                f"netbox {netbox}: one in a hundred {things} is more than {p99:,.0f} us late, the limit is {limit_us:,.0f} us"
                + _drill(kept)
            )
    if kept["missed"]:
        many = "1 event or frame was" if kept["missed"] == 1 else f"{kept['missed']:,} events or frames were"
        verdict.degraded.append(
            f"netbox {netbox}: {many} later than the limit of {limit_us:,.0f} us{_when(kept['misses'])}{_drill(kept)}"
        )


def _when(misses: Sequence[Miss]) -> str:
    """The first of them and the latest of those that were taken down, where it is known when the traffic began."""
    times = [miss for miss in misses if miss["after_s"] is not None]
    if not times:
        return ""
    worst = max(times, key=lambda miss: float(miss["lateness_us"]))
    return (
        f", the first {times[0]['after_s']:.1f} s after the traffic began; "
        f"{worst['lateness_us']:,.0f} us is the most, at {worst['after_s']:.1f} s"
    )


def _drill(kept: Timekeeping) -> str:
    """What the run itself did to the netbox's time, so that nobody looks for it at the host."""
    if not (freezes := kept["freezes"]):
        return ""
    moments = ", ".join(f"{freeze['for_s'] * 1e3:,.0f} ms at {freeze['at_s']:.1f} s" for freeze in freezes[:_MOST_FREEZES])
    more = f" and {len(freezes) - _MOST_FREEZES} times more" if len(freezes) > _MOST_FREEZES else ""
    misses = [miss["after_s"] for miss in kept["misses"] if miss["after_s"] is not None]
    others = sum(
        not any(freeze["at_s"] - 0.1 <= at <= freeze["at_s"] + freeze["for_s"] + 0.5 for freeze in freezes) for at in misses
    )
    rest = f"; {others} of the first {len(misses)} were at other times" if others else ""
    return f" (drill: the run froze it for {moments}{more}{rest})"


def _switch(switch: str, counted: Switch, verdict: Verdict) -> None:
    """What policing and queues drop is the network's doing; what the machine had no time or room for is the testbed's."""
    ports = counted["ports"].values()
    received = sum(port["received"] for port in ports)
    dropped = sum(port["receive_drops"] + port["send_drops"] for port in ports) + (counted["unserved"] or 0)
    verdict.lost_here(
        dropped, received, f"switch {switch}: {dropped:,} of {received:,} frames were dropped because it was too slow"
    )


def _generators(netbox: str, counted: NetboxStatistics, verdict: Verdict) -> None:
    """A generator that was behind the clock offered the network less than it was told to."""
    stations = counted["segment"].get("stations", {})
    for station, counters in stations.items() if isinstance(stations, Mapping) else ():
        behind, intended = (counters.get(key) if isinstance(counters, Mapping) else None for key in ("behind", "intended"))
        if behind and isinstance(behind, int) and isinstance(intended, int):
            verdict.degraded.append(
                f"generator {netbox}.{station}: {behind:,} of {intended:,} frames were never sent, because it was behind "
                "the clock; the network was offered less than the topology says"
            )


def _link_layers(netbox: str, counted: NetboxStatistics, verdict: Verdict) -> None:
    """Frames of a link layer that take longer than its timers bear are repeated in vain, and so delay the others further."""
    stations = counted["segment"].get("stations", {})
    for station, counters in stations.items() if isinstance(stations, Mapping) else ():
        if not isinstance(counters, Mapping) or not (frames := counters.get("link_layer")):
            continue
        late, arrived = frames.get("frames_late", 0), frames.get("frames_arrived", 0)
        repeats = sum(service["retransmissions"] for service in counters["services"].values())
        if repeats and late > _LATE_RATIO * arrived:
            verdict.notes.append(
                f"netbox {netbox}: {late / arrived:.0%} of the link layer's frames from {station} took longer than half of the "
                "default timer; with that services repeat what is not lost; in `link_layer` say a lower `rate`, at most what the "
                "technology carries, acknowledgements included, or a longer `delay`"
            )


def _captures(captures: Sequence[CaptureCount], verdict: Verdict) -> None:
    for capture in captures:
        name = f"the capture at {capture['interface']} of {capture['node']}"
        if capture["received"] is None:
            verdict.invalid.append(f"{name} ended before the run was over: {capture['ended'] or 'dumpcap said nothing'}")
        elif capture["dropped"]:
            verdict.invalid.append(f"{name} missed {capture['dropped']:,} frames, so losses cannot be told from them")


def _nodes(nodes: Sequence[NodeStatus], verdict: Verdict) -> None:
    """What the user of a node made of its network, and whether its program should have ended, is theirs to know.

    What a node was refused by a limit is told: its programs may have done otherwise than without limits.
    """
    others = [
        f"{node['name']} ({'; '.join(netbox['scheduler']['reasons']) or 'no reason given'})"
        for node in nodes
        if (netbox := node["netbox"]) and netbox["scheduler"]["policy"] != "fifo"
    ]
    if others:
        verdict.degraded.append(f"no real-time scheduling for netbox {', '.join(others)}: nothing bounds their lateness")
    verdict.notes += [
        f"node {node['name']} reached its limit of {limit}; `limits:` in the topology says more"
        for node in nodes
        for limit in node["limits_reached"]
    ]
    verdict.notes += [
        f"node {node['name']}: its network was not as planned at the end: {'; '.join(changes)}"
        for node in nodes
        if (changes := node["network_changes"])
    ]
    for node in nodes:
        program = node["program"]
        if program and program["status"] is not None:
            ended = f"with status {program['status']}; its log is nodes/{node['name']}/program.log"
            starts = f" (it was started {program['starts']} times)" if program["starts"] > 1 else ""
            verdict.notes.append(f"node {node['name']}: its program ended {ended}{starts}")
