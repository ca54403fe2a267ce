# SPDX-License-Identifier: GPL-2.0-or-later
"""Changing a netbox while it runs, with the names and units of the topology file."""

from __future__ import annotations

import difflib
import json
from typing import Annotated, Any, get_args

from pydantic import TypeAdapter, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from netboxes.technology import StationParameters, Technology, technologies
from testbed.errors import NetBoxITError
from testbed.lab import Lab
from testbed.quantities import Quantity


class BadChange(NetBoxITError):
    """A parameter that cannot be changed live, or a value that it cannot have."""

    exit_status = 2


def change_parameter(lab: Lab, netbox: str, change: str) -> dict[str, Any]:
    """Applies "parameter=value" or "station.parameter=value", and returns the netbox's answer,
    in base units, with `written`, the value for people.

    Raises BadChange before anything was sent.
    """
    with lab.control(netbox) as control:
        configuration = json.loads(lab.node(netbox).files["netbox.json"])
        technology = technologies()[configuration["technology"]]
        parameter, value = parse(technology, change)
        answer = control.set(parameter, value)
    return {**answer, "written": written(technology, parameter, answer["value"])}


def written(technology: type[Technology], parameter: str, value: object) -> str:
    """A value as a person would write it in YAML."""
    for limits in _model(technology, parameter).model_fields[parameter.rpartition(".")[2]].metadata:
        if isinstance(limits, Quantity) and isinstance(value, int | float):
            return limits.dimension.write(value)
    return str(value)


def parse(technology: type[Technology], change: str) -> tuple[str, object]:
    """The parameter's name and its value in the base unit, checked by the model of the technology, or of its stations."""
    parameter, separator, text = change.partition("=")
    parameter = parameter.strip()
    if not separator:
        raise BadChange(f"{change!r}: write PARAMETER=VALUE, say 'distance=2 km'")
    model, own = _model(technology, parameter), parameter.rpartition(".")[2]
    if own not in model.LIVE:
        near = difflib.get_close_matches(own, model.LIVE, n=1)
        names = ", ".join(sorted(model.LIVE)) or "none"
        hint = f"did you mean {parameter.removesuffix(own)}{near[0]}?" if near else f"those that can are: {names}"
        raise BadChange(f"{parameter} is not a parameter that can change while the netbox runs; {hint}")
    field = model.model_fields[own]
    annotated: Any = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    adapter: TypeAdapter[Any] = TypeAdapter(annotated)
    try:
        value = adapter.validate_python(YAML(typ="safe").load(text))
    except YAMLError as error:
        raise BadChange(f"{parameter}: {text!r} is not a value as in YAML") from error
    except ValidationError as error:
        raise BadChange(f"{parameter}: {'; '.join(_cause(one) for one in error.errors())}") from error
    return parameter, adapter.dump_python(value, mode="json")


def _model(technology: type[Technology], parameter: str) -> type[Technology] | type[StationParameters]:
    """Whose parameter it is: "station.parameter" is one of a station; which stations there are, the netbox says."""
    if "." not in parameter:
        return technology
    station: type[StationParameters] = get_args(technology.model_fields["stations"].annotation)[1]
    return station


def _cause(error: Any) -> str:
    return str(error["msg"]).removeprefix("Value error, ")
