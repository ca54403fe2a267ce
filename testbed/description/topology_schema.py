# SPDX-License-Identifier: GPL-2.0-or-later
"""The JSON schema of topology files, with which editors complete and check them while they are written."""

from __future__ import annotations

from types import GenericAlias
from typing import Annotated, Any, Literal, Optional, Union, get_args

from pydantic import BaseModel, Field, create_model
from pydantic.fields import FieldInfo

from applications.registry import applications
from contracts.name import Name
from netboxes.technology import technologies
from testbed.description.topology import Netbox, Topology, Traffic


def schema() -> dict[str, Any]:
    """JSON schema (draft 2020-12) of a topology file.

    What takes more than one field to be seen wrong is left to `testbed.description.topology.load`.
    """
    json_schema: dict[str, Any] = names_only(_topology().model_json_schema(by_alias=True))
    return json_schema


def names_only(part: Any) -> Any:
    """The schema, with mappings by name closed to keys that are no names: Pydantic leaves them open."""
    if isinstance(part, list):
        return [names_only(item) for item in part]
    if not isinstance(part, dict):
        return part
    closed = {"additionalProperties": False} if "patternProperties" in part else {}
    return {key: names_only(value) for key, value in part.items()} | closed


def _topology() -> type[BaseModel]:
    """The topology's model, with each technology's and application's own keys in place."""
    netboxes = [
        _flattened(
            f"Netbox of {name}",
            parameters,
            {"technology": (_only(name), ...), "stations": _with_bare_names(parameters.model_fields["stations"])},
            Netbox,
            ("classes", "stages", "link_layer", "telemetry", "realtime"),
        )
        for name, parameters in technologies().items()
    ]
    traffic = [
        _flattened(f"Traffic of {name}", kind.OPTIONS, {"application": (_only(name), ...)}, Traffic, ("source", "destination"))
        for name, kind in applications().items()
    ]
    parts: dict[str, Any] = {
        "netboxes": (GenericAlias(dict, (Name, _one_of(netboxes, "technology"))), Topology.model_fields["netboxes"]),
        "traffic": (GenericAlias(dict, (Name, _one_of(traffic, "application"))), Topology.model_fields["traffic"]),
    }
    return create_model("Topology", __base__=Topology, **parts)


def _flattened(
    title: str, parameters: type[BaseModel], named: dict[str, Any], section: type[BaseModel], keys: tuple[str, ...]
) -> type[BaseModel]:
    own: dict[str, Any] = {key: (section.model_fields[key].annotation, section.model_fields[key]) for key in keys}
    return create_model(title, __base__=parameters, **named, **own)


def _with_bare_names(stations: FieldInfo) -> tuple[Any, FieldInfo]:
    """`NAME:` alone is a station of which nothing is said."""
    name, station = get_args(stations.annotation)
    return GenericAlias(dict, (name, Optional[station])), stations  # noqa: UP045, the station is no type to mypy


def _only(word: str) -> Any:
    return Literal.__getitem__(word)


def _one_of(models: list[type[BaseModel]], discriminator: str) -> Any:
    return Annotated[Union[tuple(models)], Field(discriminator=discriminator)] if len(models) > 1 else models[0]  # noqa: UP007
