# SPDX-License-Identifier: GPL-2.0-or-later
"""Changing a netbox while it runs, with the names and units of the topology file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from contracts.errors import AtPlaces, WrongInput
from contracts.quantities import TIME, Quantity
from netboxes.link_layer.link_layer import LinkLayer
from netboxes.queueing.queue import CLASSES
from netboxes.stages.stage import StationStages
from netboxes.technology import StationParameters, Technology, classes_of_queues
from netboxes.timeline import TimeSeries
from testbed.description import yaml_source
from testbed.description.input_errors import classes_in, nearest, told
from testbed.description.traffic_class import unknown_classes

#: Of a series over time so many points are written out.
_MOST_POINTS = 4


#: Who has live parameters.
_Model = type[Technology] | type[StationParameters] | type[LinkLayer]


class BadChange(WrongInput):
    """A parameter that cannot be changed live, or a value that it cannot have."""


def parsed(change: str) -> tuple[str, object]:
    """The name of a parameter and what is said of it, as in YAML. Raises BadChange."""
    parameter, separator, text = change.partition("=")
    parameter = parameter.strip()
    if not separator:
        raise BadChange(f"{change!r}: write PARAMETER=VALUE, say 'distance=2 km'")
    try:
        return parameter, yaml_source.value(text)
    except ValueError as error:
        raise BadChange(f"{parameter}: {error}") from error


def read_value(
    technology: type[Technology],
    parameter: str,
    yaml_value: object,
    context: Mapping[str, Path] | None = None,
    classes: Sequence[str] = (),
) -> Any:
    """The value of a live parameter ("distance", "responder.position") in base units, for a netbox, from `yaml_value`.

    `yaml_value` is the value as YAML has it. `context` is that of Pydantic's validation, with the folder in which files
    are looked for. `classes` are the traffic classes that the netbox declares, in their order. Raises ValueError with cause and
    remedy, "; " between them.
    """
    models, own = _models(technology, parameter), parameter.rpartition(".")[2]
    model = next((model for model in models if own in model.LIVE), None)
    if model is None:
        raise ValueError(f"{parameter} is not a parameter that can change while the netbox runs; {_those_that_can(models, own)}")
    return _read(model, parameter, yaml_value, context, classes)


def read_stages(parameter: str, yaml_value: object) -> list[dict[str, Any]]:
    """The stages of an interface of a Click router ("lan.stages"), as `read_value` reads those of a station."""
    stages: list[dict[str, Any]] = _read(StationStages, parameter, yaml_value)
    return stages


def _read(
    model: _Model,
    parameter: str,
    yaml_value: object,
    context: Mapping[str, Path] | None = None,
    classes: Sequence[str] = (),
) -> Any:
    own = parameter.rpartition(".")[2]
    field = model.model_fields[own]
    annotated: Any = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    adapter: TypeAdapter[Any] = TypeAdapter(annotated)
    try:
        value = adapter.validate_python(yaml_value, context=dict(context) if context else None)
        if wrong := unknown_classes(dict(classes_of_queues(value)), classes):
            place, message = next(iter(wrong.items()))
            raise ValueError(f"{'.'.join([parameter, *map(str, place)])}: {message}")
        return adapter.dump_python(value, mode="json", context={CLASSES: tuple(classes)})
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        # Of a value of the wrong kind; who finds a wrong value names the right ones.
        about = f" ({field.description.rstrip('.')})" if field.description and detail["type"] != "value_error" else ""
        raise ValueError(f"{parameter}{''.join(_place(detail, yaml_value))}: {told(detail)}{about}") from error


def _place(detail: ErrorDetails, yaml_value: object) -> Iterator[str]:
    """The keys below the parameter, and numbers in lists, that lead to what is wrong, as far as what was said has them."""
    wrong = detail.get("ctx", {}).get("error")
    further = next(iter(wrong.errors)) if isinstance(wrong, AtPlaces) else ()
    for step in (*detail["loc"], *further):
        if isinstance(yaml_value, Mapping) and step in yaml_value:
            yaml_value = yaml_value[step]
            yield f".{step}"
        elif isinstance(yaml_value, list) and isinstance(step, int) and isinstance(yaml_value[step], Mapping):
            yaml_value = yaml_value[step]
            yield f"[{step}]"
        else:
            return


def shown(technology: type[Technology], parameter: str, value: object, yaml_value: object) -> str:
    """A value as a person would write it in YAML; mappings, which a netbox knows in another form, as `yaml_value`."""
    has_mappings = isinstance(value, Mapping) or (isinstance(value, list) and any(isinstance(item, Mapping) for item in value))
    return in_yaml(yaml_value) if has_mappings else written(technology, parameter, value)


def written(technology: type[Technology], parameter: str, value: object) -> str:
    """A value as a person would write it in YAML."""
    own = parameter.rpartition(".")[2]
    for model in _models(technology, parameter):
        if own in model.model_fields:
            field = model.model_fields[own]
            return _written(field.annotation, list(field.metadata), value)
    return in_yaml(value)


def written_stages(value: object) -> str:
    """Stages as a person would write them in YAML."""
    field = StationStages.model_fields["stages"]
    return _written(field.annotation, list(field.metadata), value)


def _written(annotation: Any, metadata: list[Any], value: Any) -> str:
    """By what the annotation says of the number, in lists as well."""
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        return _written(inner, [*metadata, *more], value)
    if get_origin(annotation) in (Union, UnionType):
        kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
        if isinstance(value, float):  # beside a word, as the rate of a stage
            kinds = [kind for kind in kinds if get_origin(kind) is Annotated] or kinds
        if len(kinds) == 1:
            return _written(kinds[0], metadata, value)
    for limits in metadata:
        if isinstance(limits, Quantity) and isinstance(value, int | float):
            return limits.dimension.write(value)
        if isinstance(limits, TimeSeries) and isinstance(value, list | tuple):
            return _in_brackets([f"[{TIME.write(time)}, {limits.value.dimension.write(then)}]" for time, then in value])
    if isinstance(value, list | tuple):
        kinds = [kind for kind in get_args(annotation) if kind is not Ellipsis]
        if not kinds:
            return in_yaml(value)
        return f"[{', '.join(_written(kinds[min(at, len(kinds) - 1)], [], part) for at, part in enumerate(value))}]"
    if isinstance(value, Mapping):
        fields = annotation.model_fields if isinstance(annotation, type) and issubclass(annotation, BaseModel) else {}
        pairs = (
            f"{key}: {_written(fields[key].annotation, list(fields[key].metadata), part) if key in fields else in_yaml(part)}"
            for key, part in value.items()
        )
        return f"{{{', '.join(pairs)}}}"
    return in_yaml(value)


def in_yaml(value: object) -> str:
    """In YAML's flow style."""
    match value:
        case Mapping():
            return f"{{{', '.join(f'{key}: {in_yaml(part)}' for key, part in value.items())}}}"
        case list() | tuple():
            return _in_brackets([*map(in_yaml, value)])
        case bool():
            return str(value).lower()
        case None:
            return "null"
        case float():
            return f"{value:g}"
        case _:
            return str(value)


def _in_brackets(items: Sequence[str]) -> str:
    return f"[{', '.join([*items[:_MOST_POINTS], *(['…'] if len(items) > _MOST_POINTS else [])])}]"


def _models(technology: type[Technology], parameter: str) -> Sequence[_Model]:
    """Whose parameter it can be: "station.parameter" is one of a station."""
    if "." in parameter:
        return station_models(technology)
    return [LinkLayer] if is_of_link_layer(technology, parameter) else [technology]


def is_of_link_layer(technology: type[Technology], parameter: str) -> bool:
    """Whether it is a parameter of the link layer above a netbox of this technology."""
    return parameter in LinkLayer.LIVE and parameter not in technology.LIVE


def station_models(technology: type[Technology]) -> list[type[StationParameters]]:
    """The models of a technology's stations; one that has several kinds of them has a model for each, and all have stages."""
    return [*classes_in(technology.model_fields["stations"].annotation, StationParameters), StationStages]


def _those_that_can(models: Sequence[_Model], own: str) -> str:
    live = sorted({name for model in models for name in model.LIVE})
    near = nearest(own, live)
    return near if near.startswith("did") else f"those that can are: {', '.join(live)}" if live else "it has none that can"
