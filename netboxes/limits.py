# SPDX-License-Identifier: GPL-2.0-or-later
"""What a value in netbox.json may be, by the annotation of its field. What the annotation does not tell has no limit."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Protocol, Union, get_args, get_origin, runtime_checkable

import annotated_types
from pydantic import BaseModel, PlainSerializer, WrapSerializer
from pydantic.fields import FieldInfo

from contracts.netbox_configuration import Limit
from contracts.quantities import Quantity


@runtime_checkable
class OwnForm(Protocol):
    """A model that has other keys in netbox.json than in YAML."""

    @classmethod
    def limit(cls) -> Limit:
        """Of what its serializer returns."""


def limit_of(field: FieldInfo) -> Limit:
    return _limit(field.annotation, field.metadata)


def limits_of(model: type[BaseModel], *keys: str) -> dict[str, Limit]:
    """Of some fields, which are never null in netbox.json."""
    return {key: _never_null(limit_of(model.model_fields[key])) for key in keys}


def _never_null(limit: Limit) -> Limit:
    return {key: value for key, value in limit.items() if key != "optional"}  # type: ignore[return-value]  # keys of a Limit


def _limit(annotation: Any, metadata: list[Any]) -> Limit:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _limit(arguments[0], [*metadata, *arguments[1:]])
    if origin in (Union, UnionType):
        kinds = [kind for kind in arguments if kind is not NoneType]
        limit = _limit(kinds[0], metadata) if len(kinds) == 1 else Limit()
        return {**limit, "optional": True} if limit and NoneType in arguments else limit
    if any(isinstance(item, PlainSerializer | WrapSerializer) for item in metadata):
        return {}
    if origin is Literal:
        return {"words": list(arguments)} if all(isinstance(word, str) for word in arguments) else {}
    if origin is list or (origin is tuple and Ellipsis in arguments):
        fewest = next((item.min_length for item in metadata if isinstance(item, annotated_types.MinLen)), 0)
        return {"items": _limit(arguments[0], []), "fewest": fewest}
    if origin is tuple:
        return {"parts": [_limit(part, []) for part in arguments]}
    if annotation is bool:
        return {"truth": True}
    if annotation in (int, float):
        return _number(metadata, is_whole=annotation is int)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation.limit() if isinstance(annotation, OwnForm) else _mapping(annotation)
    return {}


def _mapping(model: type[BaseModel]) -> Limit:
    decorated = model.__pydantic_decorators__
    if decorated.model_serializers or decorated.field_serializers:
        return {}
    by_alias = model.model_config.get("serialize_by_alias", False)
    named = {(field.alias if by_alias else None) or name: limit_of(field) for name, field in model.model_fields.items()}
    return {"keys": {name: limit for name, limit in named.items() if limit}}


def _number(metadata: list[Any], *, is_whole: bool) -> Limit:
    constraints = _flat(metadata)
    quantities = [constraint for constraint in constraints if isinstance(constraint, Quantity)]
    lowest = [float(limit.ge) for limit in constraints if isinstance(limit, annotated_types.Ge)]  # type: ignore[arg-type]
    highest = [float(limit.le) for limit in constraints if isinstance(limit, annotated_types.Le)]  # type: ignore[arg-type]
    lowest += [quantity.minimum for quantity in quantities]
    highest += [quantity.maximum for quantity in quantities]
    if not (lowest and highest):
        return {}
    unit = quantities[-1].dimension.base if quantities else ""
    is_whole = is_whole or annotated_types.MultipleOf(1) in constraints
    return {"minimum": max(lowest), "maximum": min(highest), "unit": unit, **({"whole": True} if is_whole else {})}


def _flat(metadata: list[Any]) -> list[Any]:
    return [inner for item in metadata for inner in (_flat(item.metadata) if isinstance(item, FieldInfo) else [item])]
