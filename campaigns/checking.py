# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the topologies of a campaign take its values: all that they refuse is found before the first run, with its place."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from campaigns import measures
from campaigns.campaign import Campaign
from campaigns.description import TOPOLOGY
from campaigns.design import Point
from campaigns.measures import Network, NoMeasure
from contracts.errors import BadInput, BadTopology
from contracts.files import Found, files_found
from contracts.plan import Plan
from contracts.quantities import TIME
from system.realtime_support import realtime_support
from system.user_privileges import as_user
from testbed import virtual_run, where
from testbed.description import settings
from testbed.description.settings import Setting
from testbed.description.topology import Topology
from testbed.description.topology_file import source_of
from testbed.description.yaml_source import Location, Source
from testbed.labs.deployment import Progress
from testbed.plans.traffic_plan import BadDuration, length_s

#: Up to so many points each is tried; of more, so many that each value is in one of them, and this many at most.
ALL_TRIED: Final = 100
MOST_TRIED: Final = 1000
#: Errors that are not one value's; more are told by their number.
_MOST_TOLD: Final = 10


@dataclass(frozen=True)
class Checked:
    """A campaign that is sound, as far as it was tried."""

    campaign: Campaign
    points: Sequence[Point]
    #: Plans of the points that were tried.
    plans: Mapping[int, Plan]
    #: By topology the files that it names, with the values of these points.
    named: Mapping[str, Found]

    def longest_s(self) -> float:
        """Of the runs of points that were tried, in the network's time."""
        return max(map(self._length_s, self.plans.values()))

    def shortest_s(self) -> float:
        return min(map(self._length_s, self.plans.values()))

    def cores_needed(self) -> int:
        """Of the lab that needs the most, of points that were tried (`Plan.cores_needed`); 0: it is not known of one."""
        needed = [plan.cores_needed for plan in self.plans.values()]
        return max(needed) if all(needed) else 0

    def _length_s(self, plan: Plan) -> float:
        return length_s(plan.traffic, self.campaign.file.duration)

    def notes(self) -> Iterator[str]:
        if warm_up_s := self.campaign.file.warm_up:
            yield f"what is sent in the first {TIME.write(warm_up_s)} of each run, its warm-up, is in no figure"
        if (tried := len(self.plans)) < len(self.points):
            values = "each value is in one of them" if tried < MOST_TRIED else "not each value is in one of them"
            yield f"{tried} of {len(self.points)} points were tried, and {values}; the others are checked when they are run"


def check(campaign: Campaign, progress: Progress) -> Checked:
    """Raises BadTopology, with all that is wrong."""
    sources = dict(_sources(campaign))
    nowhere = dict(_nowhere(campaign, sources))
    points = campaign.points()
    tried = _chosen(points)
    trial = _Trial(campaign, frozenset(nowhere))
    for number, point in enumerate(tried):
        progress(f"checking points, {number} of {len(tried)}")
        trial.try_point(point)
    plans: dict[str, list[Plan]] = {}
    for point in tried:
        if (plan := trial.plans.get(point.number)) is not None:
            plans.setdefault(campaign.variant(point), []).append(plan)
    if errors := [
        *nowhere.values(),
        *trial.errors(),
        *_too_short(campaign, points, trial.plans),
        *_unknown_measures(campaign, sources, plans),
    ]:
        raise BadTopology(errors)
    return Checked(campaign, points, trial.plans, trial.named)


@as_user()
def _sources(campaign: Campaign) -> Iterator[tuple[str, Source]]:
    """Each topology file as it is. Raises BadTopology."""
    for name, file in campaign.topologies().items():
        yield name, source_of(file)


class _Trial:
    """Plans of points, and what is wrong with them."""

    def __init__(self, campaign: Campaign, nowhere: frozenset[tuple[str, str]]) -> None:
        """`nowhere` are topologies with paths that they do not have, which is told already."""
        self.plans: dict[int, Plan] = {}
        self.named: dict[str, Found] = {}
        self._campaign, self._nowhere = campaign, nowhere
        #: By topology.
        self._tried: dict[str, list[Point]] = {}
        self._own: dict[str, set[str]] = {}
        #: Of values, by place, and by what is told but for ranges; and of points, each with all that have it.
        self._of_values: dict[tuple[Location, str], BadInput] = {}
        self._of_points: dict[tuple[str, str], tuple[BadInput, list[Point]]] = {}
        self._realtime = None if campaign.file.virtual else realtime_support()

    def try_point(self, point: Point) -> None:
        variant = self._campaign.variant(point)
        placed = {
            f"--set {setting.text}": (setting, place)
            for setting, place in self._campaign.placed_settings(point)
            if (variant, ".".join(setting.path)) not in self._nowhere
        }
        topology, said = self._campaign.topology(point), tuple(setting for setting, _ in placed.values())
        self._tried.setdefault(variant, []).append(point)
        try:
            with files_found() as found:
                self.plans[point.number] = self._plan(topology, said)
            self.named.setdefault(variant, Found()).add(found)
        except BadTopology as error:
            for one in error.errors:
                if not one.line and one.path in placed:
                    self._at_value(variant, *placed[one.path], one)
                else:
                    self._add(variant, point, one)

    def _add(self, variant: str, point: Point, error: BadInput) -> None:
        self._of_points.setdefault((variant, str(error)), (error, []))[1].append(point)

    def _plan(self, topology: Path, said: Sequence[Setting]) -> Plan:
        """Raises BadTopology."""
        duration_s = self._campaign.file.duration
        try:
            if self._realtime is None:
                return virtual_run.planned(topology, None, duration_s, said).plan
            plan, _ = where.checked(topology, None, self._realtime, said)
            if not plan.traffic and duration_s is None:
                raise BadDuration(f"{topology} has no traffic that would say how long a run is")
        except BadDuration as error:
            cause = str(error).partition(";")[0]
            raise BadTopology([BadInput(str(topology), 1, 1, cause, "say duration: 60 s in the campaign")]) from None
        return plan

    def _at_value(self, variant: str, setting: Setting, place: Location, error: BadInput) -> None:
        if error.cause.endswith(f'there is no key "{setting.path[-1]}"'):  # whatever its value
            place = _place_of_path(self._campaign, str(place[1]), variant, ".".join(setting.path))
        # Of a range one value is enough to tell.
        value = "" if self._campaign.file.parameters[str(place[1])].range else str(error)
        self._of_values.setdefault((place, value), self._campaign.source.bad(place, f"{_in(variant)}{error.cause}", error.remedy))

    def errors(self) -> Iterator[BadInput]:
        yield from self._of_values.values()
        for (variant, _), (error, points) in list(self._of_points.items())[:_MOST_TOLD]:
            if str(error) in self._own_errors(variant):
                yield error
                continue
            told = f"{error.path}:{error.line}:{error.column}: {error.cause}" if error.line else f"{error.path}: {error.cause}"
            if (name := self._culprit(variant, points)) is not None:
                place, values = self._campaign.place(name, points[0].parameters[name]), _in(variant)
            else:
                place, values = _topology_place(self._campaign, variant), f"with {points[0].words}: "
            yield self._campaign.source.bad(place, f"{values}{told}", error.remedy)
        if (more := len(self._of_points) - _MOST_TOLD) > 0:
            yield self._campaign.source.bad(("parameters",), f"{more} more such errors", "correct these first")

    def _own_errors(self, variant: str) -> set[str]:
        """What a topology has wrong without any value of the campaign's."""
        if variant not in self._own:
            try:
                self._plan(self._campaign.topologies()[variant], ())
                self._own[variant] = set()
            except BadTopology as error:
                self._own[variant] = {str(one) for one in error.errors}
        return self._own[variant]

    def _culprit(self, variant: str, points: Sequence[Point]) -> str | None:
        """The parameter with a value that all of these points have, and no other one that was tried."""
        numbers = {point.number for point in points}
        others = [point for point in self._tried[variant] if point.number not in numbers]
        shared = [
            name
            for name, value in points[0].parameters.items()
            if all(point.parameters[name] == value for point in points)
            and not any(point.parameters[name] == value for point in others)
        ]
        return shared[0] if len(shared) == 1 and shared[0] != TOPOLOGY else None


def _chosen(points: Sequence[Point]) -> Sequence[Point]:
    """Points that have all values of all parameters among them; all points where they are few."""
    if len(points) <= ALL_TRIED:
        return points
    seen: set[tuple[str, object]] = set()
    chosen: list[Point] = []
    for point in _spread(points):
        values = set(point.parameters.items())
        if not values <= seen:
            chosen.append(point)
            seen |= values
            if len(chosen) == MOST_TRIED:
                break
    return sorted(chosen, key=lambda point: point.number)


def _spread(points: Sequence[Point]) -> Iterator[Point]:
    """The last one, then all in an order in which those of any beginning are far from each other (van der Corput, 1935)."""
    yield points[-1]
    digits = (len(points) - 1).bit_length()
    for number in range(2**digits):
        place = int(f"{number:0{digits}b}"[::-1], 2)
        if place < len(points):
            yield points[place]


def _too_short(campaign: Campaign, points: Sequence[Point], plans: Mapping[int, Plan]) -> Iterator[BadInput]:
    """A warm-up that leaves nothing of the runs of some points."""
    warm_up_s, duration_s = campaign.file.warm_up, campaign.file.duration
    if not warm_up_s:
        return
    lengths_s = {number: length_s(plan.traffic, duration_s) for number, plan in plans.items()}
    short = [point for point in points if lengths_s.get(point.number, math.inf) <= warm_up_s]
    if short:
        first, *others = short
        which = f" with {first.words}" if first.words else ""
        more = f"; so it is at other points ({len(others)})" if others else ""
        cause = f"it leaves nothing of a run{which}, which is {TIME.write(lengths_s[first.number])} long{more}"
        yield campaign.source.bad(("warm_up",), cause, "say a shorter warm_up, or a longer duration")


def _nowhere(campaign: Campaign, sources: Mapping[str, Source]) -> Iterator[tuple[tuple[str, str], BadInput]]:
    """Topologies with paths that they could not have, and what is wrong with each."""
    for name, parameter in campaign.file.parameters.items():
        for topology, source in sources.items():
            for path in parameter.paths(topology):
                setting = Setting(path, tuple(path.split(".")), None)
                if (error := settings.leads_nowhere(source, setting, Topology.model_fields)) is not None:
                    place = _place_of_path(campaign, name, topology, path)
                    yield (topology, path), campaign.source.bad(place, f"{_in(topology)}{error.cause}", error.remedy)


def _place_of_path(campaign: Campaign, name: str, topology: str, path: str) -> Location:
    place: Location = ("parameters", name)
    if variants := campaign.file.parameters[name].variants:
        return (*place, "values", next(variant for variant, written in variants.items() if path in written), path)
    place = (*place, "path")
    written = campaign.source.data["parameters"][name]["path"]
    if isinstance(written, dict):
        place, written = (*place, topology), written[topology]
    return (*place, written.index(path)) if isinstance(written, list) else place


def _unknown_measures(
    campaign: Campaign, sources: Mapping[str, Source], plans: Mapping[str, Sequence[Plan]]
) -> Iterator[BadInput]:
    """Of names that no measure has at any of the points that were tried."""
    until = campaign.file.repetitions.until
    names: dict[Location, str] = {("measures", number): name for number, name in enumerate(campaign.file.measures)}
    if until is not None:
        names["repetitions", "until", "measure"] = until.measure
    for topology, source in sources.items():
        network = _network(source, plans.get(topology, ()))
        for place, name in names.items():
            try:
                measures.check(name, network)
            except NoMeasure as error:
                yield campaign.source.bad(place, f"{_in(topology)}{error.cause}", error.remedy)


def _network(source: Source, plans: Sequence[Plan]) -> Network:
    """As points have it; where none has a plan, as the file does."""
    traffic = {entry.name: entry.application for plan in plans for entry in plan.traffic}
    netboxes = {
        node.name: [interface.name for interface in node.interfaces]
        for plan in plans
        for node in plan.nodes
        if node.kind == "netbox"
    }
    if not plans:
        for name, entry in _mapping(source.data.get("traffic")).items():
            traffic[name] = str(_mapping(entry).get("application"))
        for name, netbox in _mapping(source.data.get("netboxes")).items():
            netboxes[name] = list(_mapping(_mapping(netbox).get("stations")))
    return Network(traffic, netboxes)


def _mapping(part: Any) -> dict[str, Any]:
    return part if isinstance(part, dict) else {}


def _in(topology: str) -> str:
    return f"topology {topology}: " if topology else ""


def _topology_place(campaign: Campaign, topology: str) -> Location:
    return ("topologies", topology) if topology else ("topology",)
