# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading a topology file: a sound topology, or everything that is wrong with the file at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from contracts.errors import BadInput, BadTopology
from system.user_privileges import as_user
from testbed.description import settings
from testbed.description.event_checks import event_problems
from testbed.description.events import Event
from testbed.description.input_errors import explain
from testbed.description.machine_checks import machine_problems
from testbed.description.machines import KnownMachines, MachineName
from testbed.description.managed_link import ManagedLink
from testbed.description.replacement import Replacing
from testbed.description.settings import Setting
from testbed.description.topology import SINGULAR, Topology, Traffic, Wire, WireKind
from testbed.description.wiring import Draft, Problem
from testbed.description.wiring_checks import problems
from testbed.description.yaml_source import Source, read

T = TypeVar("T")


@as_user()
def load(path: str | Path, machines: KnownMachines | None = None, said: Sequence[Setting] = ()) -> Topology:
    """Reads and checks a topology file; the machines that it names must be of `machines`, if these are known.

    `said` is what the command line says in place of the file. Raises BadTopology with everything that is wrong in it.
    """
    return topology_of(source_of(Path(path), said), machines)


@as_user()
def topology_of(source: Source, machines: KnownMachines | None = None) -> Topology:
    """The topology in a file that was read; see `load`."""
    topology: Topology | None = None
    errors = list(source.defects)
    try:
        topology = Topology.model_validate(source.data, context=source.context)
        draft = Draft.of(topology)
    except ValidationError as error:
        errors += explain(source, Topology, error.errors(include_url=False))
        if _sections_in_doubt(source):
            raise BadTopology(errors) from None
        draft = _salvage(source)
    replacements = topology.replace if topology else {}
    errors += _at_places(
        source,
        [
            *problems(draft),
            *event_problems(draft, source.context),
            *machine_problems(draft, draft.places(machines), replacements, source.context),
        ],
    )
    if errors or topology is None:
        raise BadTopology(errors)
    topology.read_from(Path(source.path))
    if not replacements:
        return topology
    if wrong := list((replacing := Replacing(topology)).problems()):
        raise BadTopology(_at_places(source, wrong))
    return replacing.topology()


@as_user()
def source_of(path: Path, values: Sequence[Setting] = ()) -> Source:
    """The file as it is, and as the command line says. Raises BadTopology."""
    source = read(path)
    settings.apply(source, values, Topology.model_fields)
    return source


def _at_places(source: Source, wrong: Iterable[Problem]) -> list[BadInput]:
    return [source.bad(problem.place, problem.cause, problem.remedy, key=problem.key) for problem in wrong]


def _sections_in_doubt(source: Source) -> bool:
    """Whether whole sections are wrong or perhaps misspelt: then every name in them would seem unknown."""
    misspelt = set(source.data) - set(Topology.model_fields)
    misspelt |= {key for key, (kind, _) in SINGULAR.items() if isinstance(source.data.get(key), kind)}
    return bool(misspelt) or not all(isinstance(source.data.get(key, {}), dict) for key in Topology.SECTIONS)


def _salvage(source: Source) -> Draft:
    """The parts of a faulty file that are right in themselves, so that what is wrong between them is found at the same time."""

    def part(key: str, kind: type[T]) -> T:
        value = source.data.get(key)
        return value if isinstance(value, kind) else kind()

    def right(kind: Any, value: Any) -> Any:
        try:
            return TypeAdapter(kind).validate_python(value, context=source.context)
        except ValidationError:
            return None

    wires = [right(Wire, wire) for wire in part("wires", list)]
    return Draft(
        sections={
            key: {name: right(kind, node) for name, node in part(key, dict).items()} for key, kind in Topology.SECTIONS.items()
        },
        wires={index: wire for index, wire in enumerate(wires) if wire},
        traffic={name: entry for name, value in part("traffic", dict).items() if (entry := right(Traffic, value))},
        events={index: event for index, value in enumerate(part("events", list)) if (event := right(Event, value))},
        management={name: link for name, value in part("management", dict).items() if (link := right(ManagedLink, value))},
        centre=right(str, source.data.get("centre")),
        host=right(MachineName | None, source.data.get("host")),
        wire=right(WireKind, source.data.get("wire")) or "auto",
        whole=False,
        lost_wires=None in wires or not isinstance(source.data.get("wires"), list),
    )
