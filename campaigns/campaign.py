# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign as it was read: its points, and what is set in the topology for each run of them.

Who makes the runs needs no more than this:

    campaign = Campaign.load(path)                       # or BadTopology, with all that is wrong in the file itself
    checking.check(campaign)                             # or BadTopology, with all that the topologies refuse
    for point in campaign.points():                      # `design.numbered` keeps the numbers of points that have runs
        for repetition in range(campaign.file.repetitions.at_most):    # from 0; `until` may end it sooner
            campaign.topology(point)                     # the file that is run
            campaign.settings(point, repetition)         # values in place of it, the run's seed among them
            campaign.file.duration                       # seconds, or None: as the topology says
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from campaigns import design
from campaigns.description import TOPOLOGY, CampaignFile
from campaigns.design import Point
from campaigns.ranges import Scalar
from contracts.campaign import CAMPAIGN_FILE, INDEX_FILE
from contracts.errors import BadInput, BadTopology
from contracts.files import copy_of, kept_at
from contracts.names import repetition_seed
from system.user_privileges import as_user
from testbed.description.input_errors import explain, nearest
from testbed.description.settings import Setting
from testbed.description.topology import Topology
from testbed.description.yaml_source import Location, Source, read

#: Keys that no topology has at its top.
_OWN_KEYS = frozenset({"campaign", "parameters", "repetitions", "measures", "design", "topology", "topologies"})


@dataclass(frozen=True)
class Campaign:
    """A campaign file, sound in itself. Whether its topologies take its values is asked by `campaigns.checking`."""

    path: Path
    file: CampaignFile
    #: Where everything stands in the file.
    source: Source

    @classmethod
    @as_user()
    def load(cls, path: Path) -> Campaign:
        """Raises BadTopology with everything that is wrong in the file itself."""
        source = read(path, "topology: … and parameters: …")
        errors = list(source.defects)
        try:
            file = CampaignFile.model_validate(source.data, context=source.context)
        except ValidationError as error:
            raise BadTopology([*errors, *explain(source, CampaignFile, error.errors(include_url=False))]) from None
        campaign = cls(path, file, source)
        if errors := [*errors, *campaign._missing_files(), *campaign._points_twice()]:
            raise BadTopology(errors)
        return campaign

    @property
    def name(self) -> str:
        """Of one that runs by what a campaign's folder has kept of its file (`campaigns.kept_topologies`): that of the folder."""
        is_kept = self.path.name == CAMPAIGN_FILE and self.path.with_name(INDEX_FILE).exists()
        return self.file.campaign or (self.path.resolve().parent.name if is_kept else self.path.stem)

    @cached_property
    def _topologies(self) -> dict[str, Path]:
        """By name; "" where there is only one."""
        files = self.file.topologies or {"": self.file.topology or ""}
        folder = self.path.parent
        return {name: copy_of(kept_at(file), folder) or folder / file for name, file in files.items()}

    def topologies(self) -> dict[str, Path]:
        """The topology files by their names in the campaign; "" where there is only one."""
        return self._topologies

    def points(self) -> tuple[Point, ...]:
        """All points, numbered in their order."""
        return design.points(self.file)

    def topology(self, point: Point) -> Path:
        """The topology file that the point's runs are of."""
        return self._topologies[self.variant(point)]

    def variant(self, point: Point) -> str:
        """The name of its topology in the campaign; "" where there is only one."""
        return str(point.parameters[TOPOLOGY]) if self.file.topologies else ""

    def seed(self, repetition: int) -> int:
        """Of a repetition, from 0, the same at each point, so that points can be compared run by run."""
        return repetition_seed(self.file.seed, repetition)

    def settings(self, point: Point, repetition: int) -> tuple[Setting, ...]:
        """What stands in place of the topology's own values in this run."""
        seed = self.seed(repetition)
        return (*(setting for setting, _ in self.placed_settings(point)), Setting(f"seed={seed}", ("seed",), seed))

    def placed_settings(self, point: Point) -> Iterator[tuple[Setting, Location]]:
        """The settings of the point's parameters, each with its place in the campaign file."""
        for name, value in point.parameters.items():
            if name == TOPOLOGY:
                continue
            for path, written in self.file.parameters[name].assignments(self.variant(point), value):
                text = written if isinstance(written, str) else json.dumps(written, ensure_ascii=False)
                yield Setting(f"{path}={text}", tuple(path.split(".")), written), self.place(name, value, path)

    def place(self, name: str, value: Scalar, path: str = "") -> Location:
        """Where the file says a value of a parameter; of a variant with its path."""
        parameter = self.file.parameters[name]
        if parameter.variants:
            return ("parameters", name, "values", str(value), *([path] if path else []))
        if parameter.range is None:
            return ("parameters", name, "values", parameter.all_values().index(value))
        return ("parameters", name)

    def _missing_files(self) -> Iterator[BadInput]:
        for name, file in self._topologies.items():
            place = ("topologies", name) if name else ("topology",)
            if not file.exists():
                near = nearest(file.name, [other.name for other in file.parent.glob("*.yaml")])
                from_here = "its path is from the folder of the campaign's file"
                yield self.source.bad(place, f"there is no file {file}", near if near.startswith("did you") else from_here)

    def _points_twice(self) -> Iterator[BadInput]:
        """A hypercube of few whole numbers, or of lists, may have a point twice, and would say twice what is known once."""
        if self.file.design.latin_hypercube is None:
            return
        designed = self.points()
        if (different := len({point.key for point in designed})) < len(designed):
            yield self.source.bad(
                ("design", "latin_hypercube"),
                f"of {len(designed)} points only {different} are different",
                "use fewer, or design: grid",
            )


@as_user()
def is_campaign(path: Path) -> bool:
    """Whether a file is meant as a campaign, and not as a topology. What cannot be read is told by who reads it."""
    try:
        keys = read(path).data.keys()
    except BadTopology:
        return False
    return not _OWN_KEYS.isdisjoint(keys) and {*Topology.SECTIONS, "wires", "traffic"}.isdisjoint(keys)
