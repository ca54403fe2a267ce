# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of docs/topology.md, docs/results.md and the technologies' READMEs, made of models and measures.

python -m testbed.description.reference     writes them anew
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from applications.dscp import parse_dscp
from applications.registry import analyses, applications
from contracts import addresses
from contracts.installation import CHECKOUT
from contracts.management_key import check_key
from contracts.name import Name
from contracts.names import check_name
from contracts.quantities import Quantity
from netboxes.mobility import stations
from netboxes.technology import StationParameters, Technology, technologies
from netboxes.timeline import TimeSeries
from results.measure import OF_FLOWS, OF_OTHERS, Measure
from testbed.description import switch, traffic_class, wire_ends
from testbed.description.drills import all_drills
from testbed.description.equipment_section import check_host_interface
from testbed.description.input_errors import classes_in
from testbed.description.machines import MachineName, check_machine
from testbed.description.section import Written
from testbed.description.topology import Topology

DOCUMENT = CHECKOUT / "docs" / "topology.md"
RESULTS = CHECKOUT / "docs" / "results.md"


def readme(technology: str) -> Path:
    return CHECKOUT / "netboxes" / technology / "README.md"


#: What a value is, where a validator of ours says it better than its type.
_BY_VALIDATOR: dict[object, str] = {
    check_name: "name",
    wire_ends._two_ends: "wire",
    check_host_interface: "interface",
    check_machine: "name, or `auto`",
    check_key: "32 hexadecimal digits",
    parse_dscp: "DSCP",
    switch._dscps: "DSCP, or a list",
    switch._port_name: "name",
    addresses._interfaces: "address/length, or a list",
    addresses._gateways: "address, or a list",
    addresses.parse_network: "network",
    addresses.parse_ipv4: "IPv4 address",
    addresses.parse_mac: "MAC address",
    stations._with_height: "[x, y] or [x, y, z]",
    stations._waypoints: "list, or a CSV file",
    traffic_class._dscps: "DSCP, or a list",
    traffic_class._protocol: "name or number",
    traffic_class._port_ranges: "port or range, or a list",
    traffic_class._ether_types: "name or number, or a list",
}

_BY_TYPE: dict[object, str] = {
    bool: "true, false",
    int: "whole number",
    float: "number",
    str: "text",
    Path: "path",
    Any: "mapping",
}


def documents() -> list[Path]:
    """All that have tables."""
    return [DOCUMENT, RESULTS, *(readme(name) for name in technologies().ours)]


def written(document: Path) -> str:
    """The document's text with each table between its markers made anew."""
    if document == DOCUMENT:
        tables = dict(_tables())
    elif document == RESULTS:
        tables = dict(_measures())
    else:
        tables = {"parameters": _technology(technologies()[document.parent.name])}
    return with_tables(document.read_text(), tables)


def with_tables(text: str, tables: Mapping[str, str]) -> str:
    """The text with each table between markers in place of what is there."""
    return re.sub(
        r"(<!-- table: (.+?) -->\n).*?(<!-- end -->)",
        lambda markers: f"{markers[1]}\n{tables[markers[2]]}\n\n{markers[3]}",
        text,
        flags=re.DOTALL,
    )


def _tables() -> Iterator[tuple[str, str]]:
    yield "Topology", table(Topology)
    for _, section in _models_below(Topology):
        yield section.__name__, table(section)
    rows = [f"| [`{name}`](../netboxes/{name}/README.md) | {_summary(model)} |" for name, model in technologies().ours.items()]
    yield "technologies", "\n".join(["| technology | what it is |", "|---|---|", *rows])
    yield (
        "drills",
        "\n\n".join(f"#### `{name}`\n\n{_summary(kind)}\n\n{table(kind)}" for name, kind in all_drills().ours.items()),
    )
    yield (
        "applications",
        "\n\n".join(f"### `application: {name}`\n\n{table(kind.OPTIONS)}" for name, kind in applications().ours.items()),
    )


def _measures() -> Iterator[tuple[str, str]]:
    own = {name: analyses()[name].measures for name in applications().ours if name in analyses()}
    of_flows = [(f"`{name}`", measure) for name, measures in own.items() for measure in measures if measure.of == "flow"]
    of_traffic = [
        (f"traffic, `{name}`", measure) for name, measures in own.items() for measure in measures if measure.of == "traffic"
    ]
    yield "flows", _measure_table([*(("every flow", measure) for measure in OF_FLOWS), *of_flows])
    yield "measures", _measure_table([*((measure.of, measure) for measure in OF_OTHERS), *of_traffic])


def _measure_table(measures: Iterable[tuple[str, Measure]]) -> str:
    rows = [
        f"| `{measure.name}` | {of} | {measure.unit or '–'} | {measure.meaning} | {measure.better or '–'} |"
        for of, measure in measures
    ]
    return "\n".join(["| measure | of | unit | meaning | better |", "|---|---|---|---|---|", *rows])


def _technology(parameters: type[Technology]) -> str:
    parts = [f"Can be changed while the lab runs: {_live(parameters)}.", table(parameters)]
    models = [*dict.fromkeys(_models_below(parameters))]
    for key, model in models:
        if any(other is not model and issubclass(other, model) for _, other in models):
            continue  # the other's table has its keys
        parts.append(f"Each of `{key}`: {_summary(model)}")
        if issubclass(model, StationParameters) and model.LIVE:
            parts.append(f"Can be changed while the lab runs, as `station.parameter`: {_live(model)}.")
        parts.append(table(model))
    return "\n\n".join(parts)


def _live(model: type[Technology] | type[StationParameters]) -> str:
    return ", ".join(f"`{key}`" for key in sorted(model.LIVE)) or "nothing"


def _models_below(model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    """With those below them in turn."""
    for key, field in model.model_fields.items():
        for model_below in classes_in(field.annotation, BaseModel):
            yield key, model_below
            yield from _models_below(model_below)


def table(model: type[BaseModel]) -> str:
    """The keys of a section, in Markdown."""
    if not model.model_fields:
        return "It has no keys."
    lines = ["| key | value | default | meaning |", "|---|---|---|---|"]
    for key, kind, default, meaning in rows(model):
        written = meaning.replace("|", "\\|")
        lines.append(f"| `{key}` | {kind} | {default} | {written} |")
    return "\n".join(lines)


def rows(model: type[BaseModel]) -> list[tuple[str, str, str, str]]:
    """Of each field: its key, what may be written, its default, what it means."""
    return [
        (
            field.alias or name,
            _kind(field.annotation, field.metadata),
            _default(field),
            field.description or comments(model).get(name, ""),
        )
        for name, field in model.model_fields.items()
        if not any("SkipJsonSchema" in type(item).__name__ for item in field.metadata)
    ]


def _summary(model: type[BaseModel]) -> str:
    return (inspect.getdoc(model) or "").split("\n\n")[0].replace("\n", " ")


@cache
def comments(shape: type) -> dict[str, str]:
    """Of a class and of those that it extends: the `#:` lines before each field, where others say it in `description`."""
    bases = [base for base in vars(shape).get("__orig_bases__", shape.__bases__) if isinstance(base, type)]
    field_comments = {name: comment for base in bases for name, comment in comments(base).items()}
    try:
        source = inspect.getsource(shape)
    except (OSError, TypeError):  # it was not made by a statement of its own
        return field_comments
    for lines, name in re.findall(r"((?:^ *#: .*\n)+) *(\w+):", source, re.MULTILINE):
        field_comments[name] = " ".join(line.strip().removeprefix("#: ") for line in lines.splitlines())
    return field_comments


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is None or value in ("", (), []) or isinstance(value, (dict, BaseModel)):
        return "–"
    limits = next(_limits(field.annotation, field.metadata), None)
    if limits is not None:
        return limits.dimension.write(value)
    return str(value).lower() if isinstance(value, bool) else f"{value}"


def _limits(annotation: Any, metadata: list[Any]) -> Iterator[Quantity]:
    yield from (item for item in metadata if isinstance(item, Quantity))
    if get_origin(annotation) is Annotated:
        yield from _limits(get_args(annotation)[0], list(get_args(annotation)[1:]))
    elif get_origin(annotation) in (Union, UnionType):
        for argument in get_args(annotation):
            yield from _limits(argument, [])


def _kind(annotation: Any, metadata: list[Any]) -> str:
    """What may be written, in a few words."""
    for item in metadata:
        if isinstance(item, Written):
            return item.words
        if isinstance(item, Quantity | TimeSeries):
            return str(item)
        if (validator := getattr(item, "func", None)) in _BY_VALIDATOR:
            return _BY_VALIDATOR[validator]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kind(arguments[0], list(arguments[1:]))
    if origin in (Union, UnionType):
        return " or ".join(_kind(argument, metadata) for argument in arguments if argument is not NoneType)
    if origin is Literal:
        return ", ".join(f"`{argument}`" for argument in arguments)
    if origin is dict:
        return f"mapping by {'name' if arguments[0] in (Name, MachineName, switch.PortName, str) else 'key'}"
    if origin in (list, tuple):
        return "list"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "mapping"
    return _BY_TYPE[annotation] + _bounds(metadata)


def _bounds(metadata: list[Any]) -> str:
    low = next((item.ge for item in metadata if isinstance(item, Ge)), None)
    high = next((item.le for item in metadata if isinstance(item, Le)), None)
    return f", {low} … {high}" if low is not None and high is not None else f", {low} or more" if low is not None else ""


if __name__ == "__main__":
    for document in documents():
        document.write_text(written(document))
