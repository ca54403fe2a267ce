# SPDX-License-Identifier: GPL-2.0-or-later
"""What would help where a run was late, as far as the plan and the measurements show a cause; nothing else is guessed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from contracts.errors import listed
from contracts.node_status import NodeStatus
from contracts.plan import Plan
from contracts.statistics import NetboxStatistics
from results.metrics_document import LatenessOfNetbox, Timekeeping

#: Share of a core beyond which what comes waits longer, in the mean, than it takes: of work that comes at random and always takes
#: as long, from two thirds on (M/D/1, Pollaczek-Khinchine: the wait is rho / (2 (1 - rho)) of the service).
BUSY: Final = 2 / 3
#: A limit of lateness beyond which no delay of a network can be told from the testbed's.
_LARGEST_LIMIT_S: Final = 0.1


def advice(
    plan: Plan,
    statistics: Mapping[str, NetboxStatistics],
    netboxes: Mapping[str, Timekeeping],
    lateness_us: Mapping[str, LatenessOfNetbox],
    nodes: Sequence[NodeStatus],
    duration_s: float,
) -> list[str]:
    """Sentences; none where no netbox was later than its limit or dropped frames, or a drill was the cause.

    `statistics` are what netboxes counted, `duration_s` is how long; `nodes` are those of lab.json.
    """
    late = [name for name, kept in netboxes.items() if _was_late(kept)]
    if not late or duration_s <= 0:
        return []
    asleep = {node["name"] for node in nodes if not node["awake"]}
    places = {node.name: (node.host, node.cores) for node in plan.nodes if node.name in netboxes}
    sentences: list[str] = []
    for place in dict.fromkeys(places[name] for name in late):
        there = [name for name in places if places[name] == place]
        busy = sum(_worked_s(statistics[name]) for name in there) / duration_s / max(1, len(place[1]))
        sentences += _of_cores(there, _named(place[1]), busy)
        if not asleep.isdisjoint(there):
            sentences.append(
                f"`realtime: {{keep_awake: true}}` keeps {_named(place[1])} from sleeping, which costs time at each wake-up"
            )
    return [*sentences, *_of_limit(late, netboxes, lateness_us)]


def _was_late(kept: Timekeeping) -> bool:
    return not kept["freezes"] and bool(kept["missed"] or kept["overload_drops"] + kept["send_drops"])


def _worked_s(counted: NetboxStatistics) -> float:
    """Without the time in which it watched the clock, to be there when something is due."""
    scheduler = counted.get("scheduler")
    return scheduler["cpu_s"] - scheduler["spin_s"] if scheduler else 0.0


def _of_cores(names: Sequence[str], cores: str, busy: float) -> Iterator[str]:
    subject = f"netbox{'es' if len(names) > 1 else ''} {listed(names, 'and')}"
    computed = f"computed for {busy:.0%} of the time of {cores}"
    if busy >= BUSY and len(names) > 1:
        yield (
            f"{subject} {computed}: fewer netboxes on a core (more cores, or `host:` for some), or less traffic; "
            "`netboxit plan` estimates what each takes"
        )
    elif busy >= BUSY:
        yield (
            f"{subject} alone {computed}, and cannot use a second one: less traffic, or a medium that carries less; "
            "`netboxit plan` estimates what it takes"
        )
    else:
        if len(names) > 1:
            yield f"{subject} share {cores}, where one waits while another computes: fewer netboxes on a core"
        yield (
            f"{subject} {computed} only, so it was this machine that was late: end what else runs on it; "
            "`netboxit bench` measures what it can do"
        )


def _of_limit(
    late: Sequence[str], netboxes: Mapping[str, Timekeeping], lateness_us: Mapping[str, LatenessOfNetbox]
) -> Iterator[str]:
    if any(netboxes[name]["overload_drops"] + netboxes[name]["send_drops"] for name in late):
        return
    worst = {name: max(lateness_us[name]["max"] or 0.0, lateness_us[name]["event"]["max"] or 0.0) / 1e6 for name in late}
    name = max(worst, key=lambda netbox: worst[netbox])
    limit_s = _round_above(worst[name])
    if limit_s <= _LARGEST_LIMIT_S:
        yield (
            f"with `realtime: {{limit: {limit_s * 1e3:g} ms}}` nothing would have been too late (netbox {name} was the latest, "
            f"by {worst[name] * 1e3:.2g} ms); it says what a frame may be late without changing what you want to learn"
        )


def _round_above(seconds: float) -> float:
    """The next of 1, 2, 5, 10, 20…"""
    decade = 10.0 ** math.floor(math.log10(seconds))
    return next(decade * step for step in (1, 2, 5, 10) if decade * step > seconds)


def _named(cores: Sequence[int]) -> str:
    return f"core{'s' if len(cores) > 1 else ''} {', '.join(map(str, cores))}"
