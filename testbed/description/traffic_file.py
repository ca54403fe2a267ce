# SPDX-License-Identifier: GPL-2.0-or-later
"""Traffic for a lab that is up: that of a topology file, or of a file with nothing but `traffic`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, ValidationError

from contracts.errors import BadTopology
from contracts.name import Name
from system.user_privileges import as_user
from testbed.description import topology_file
from testbed.description.input_errors import explain
from testbed.description.section import Section
from testbed.description.settings import Setting
from testbed.description.topology import Topology, Traffic
from testbed.description.yaml_source import Source


class TrafficFile(Section):
    """The whole of a file that has no network."""

    name: Name | None = Field(None, description="Name of the lab that it is for; the only one that is up by default.")
    description: str = Field("", description="What it is.")
    centre: str | None = Field(None, description='The host that "return" is towards; that of the lab by default.')
    traffic: dict[Name, Traffic] = Field(min_length=1, description="What crosses the network.")


@dataclass(frozen=True)
class Wanted:
    """What a file has said of traffic; `source` tells where."""

    name: str | None
    centre: str | None
    traffic: Mapping[str, Traffic]
    #: How many events it has, which need a run.
    events: int
    source: Source


@as_user()
def load(path: Path, settings: Sequence[Setting] = ()) -> Wanted:
    """`settings` is what the command line says in place of the file.

    Raises BadTopology with everything that is wrong in it.
    """
    source = topology_file.source_of(path, settings)
    if not source.data.keys().isdisjoint((*Topology.SECTIONS, "wires")):  # then it is a topology, and is checked as one
        return _of_topology(path, settings, source)
    errors = list(source.defects)
    try:
        file = TrafficFile.model_validate(source.data, context=source.context)
    except ValidationError as error:
        raise BadTopology([*errors, *explain(source, TrafficFile, error.errors(include_url=False))]) from None
    if errors:
        raise BadTopology(errors)
    return Wanted(file.name, file.centre, file.traffic, 0, source)


def _of_topology(path: Path, settings: Sequence[Setting], source: Source) -> Wanted:
    topology = topology_file.load(path, said=settings)
    if not topology.traffic:
        raise BadTopology([source.bad((), "the file has no traffic", "add traffic: …, or name another file")])
    return Wanted(topology.name, topology.centre, topology.traffic, len(topology.events), source)
