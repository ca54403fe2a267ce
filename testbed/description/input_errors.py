# SPDX-License-Identifier: GPL-2.0-or-later
"""What Pydantic found wrong, told to the person who wrote the file: where, why, and what to write instead."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar, get_args, get_origin

import annotated_types
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from contracts.errors import AtPlaces, BadInput, listed
from testbed.description.yaml_source import Location, Source

T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)

#: Of words that are equally similar to a wrong one so many are proposed.
_MOST_MEANT: Final = 3
#: Ratio of equal letters (difflib). At 0.6, its default, "cisco" would be "click".
_LEAST_SIMILAR: Final = 0.61
_PERCENT: Final = re.compile(r"(\d+(?:\.\d*)?) ?%", re.ASCII)


class InPart(ValueError):
    """Raised by a validator that hands a part of its input to another model (`read_part`): the errors inside keep their places.

    `also` are keys that the mapping may have besides the model's; errors below `skipped` keys are reported elsewhere.
    """

    def __init__(self, model: type[BaseModel], error: ValidationError, also: Iterable[str], skipped: Iterable[str] = ()) -> None:
        self.model, self.also, skip = model, frozenset(also), frozenset(skipped)
        self.details = [detail for detail in error.errors(include_url=False) if not detail["loc"] or detail["loc"][0] not in skip]
        super().__init__(str(error))


def read_part(model: type[Model], part: Any, context: Any = None, also: Iterable[str] = (), skipped: Iterable[str] = ()) -> Model:
    """A part of a validator's input as another model reads it, which raises InPart."""
    try:
        return model.model_validate(part, context=context)
    except ValidationError as error:
        raise InPart(model, error, also, skipped) from None


class AtKey(ValueError):
    """Raised by a validator of a key's value where the key is what is wrong."""


def explain(
    source: Source,
    model: type[BaseModel],
    details: Sequence[ErrorDetails],
    at: Location = (),
    also: frozenset[str] = frozenset(),
) -> Iterator[BadInput]:
    """Every error of `details`, which `model` found in what stands at `at` in the file."""
    unknown = [detail["loc"] for detail in details if detail["type"] == "extra_forbidden"]
    for detail in details:
        inside: Location = detail["loc"]
        part = detail.get("ctx", {}).get("error")
        if isinstance(part, InPart):
            yield from explain(source, part.model, part.details, (*at, *inside), part.also)
        elif isinstance(part, AtPlaces):
            yield from (_error_at(source, (*at, *inside, *place), message) for place, message in part.errors.items())
        elif isinstance(part, AtKey):
            yield _error_at(source, (*at, *inside), str(part), key=True)
        elif detail["type"] == "extra_forbidden":
            keys = _keys_at(model, inside[:-1]) | (also if len(inside) == 1 else frozenset())
            yield _unknown_key(source, keys, (*at, *inside))
        elif detail["type"] == "missing":
            # A misspelt key is one error, not an unknown key and a missing one.
            if not any(loc[:-1] == inside[:-1] and _near(str(loc[-1]), [str(inside[-1])]) for loc in unknown):
                about = _meaning(_field_at(model, inside))
                yield _missing_key(source, _keys_at(model, inside[:-1]), (*at, *inside), about)
        else:
            place, is_key = (inside[:-1], True) if inside and inside[-1] == "[key]" else (inside, False)
            field = None if is_key else _field_at(model, place)
            yield _error_at(source, (*at, *place), told(detail, _range(field)), key=is_key, about=_meaning(field))


def nearest(word: str, words: Iterable[str]) -> str:
    """A remedy for a word that is none of `words`."""
    candidates = list(words)
    near = _near(word, candidates)
    if 0 < len(near) <= _MOST_MEANT:
        return "did you mean {}?".format(listed([f'"{name}"' for name in near]))
    return f"use {listed(candidates)}" if candidates else "there is none"


def one_of(word: str, words: Collection[str], what: str) -> str:
    """Returns the word when it is one of those known. Raises ValueError; `what` is what they name, as "a technology"."""
    if word not in words:
        raise ValueError(f'"{word}" is not {what}; {nearest(word, words)}')
    return word


def _near(word: str, words: Iterable[str]) -> list[str]:
    """The most similar ones: several where none of them is more similar than the others."""
    folded = {name.casefold(): name for name in words}
    close = difflib.get_close_matches(word.casefold(), folded, n=max(len(folded), 1), cutoff=_LEAST_SIMILAR)
    ratios = {name: difflib.SequenceMatcher(None, name, word.casefold()).ratio() for name in close}
    return [folded[name] for name, ratio in ratios.items() if ratio == ratios[close[0]]]


def _error_at(source: Source, place: Location, message: str, *, key: bool = False, about: str = "") -> BadInput:
    """`about` tells what the value is, and where its limits come from."""
    cause, _, remedy = message.partition("; ")
    if about:
        cause, remedy = (cause, f"{remedy} ({about})") if remedy else (f"{cause} ({about})", "")
    return source.bad(place, f"{_label(source, place)}{cause}", remedy, key=key)


def _unknown_key(source: Source, keys: Iterable[str], place: Location) -> BadInput:
    key = str(place[-1])
    return source.bad(place, f'{_label(source, place[:-1])}there is no key "{key}"', nearest(key, sorted(keys)), key=True)


def _missing_key(source: Source, keys: set[str], place: Location, about: str) -> BadInput:
    name = str(place[-1])
    for other in source.keys_of(place[:-1]):
        if other not in keys and _near(other, [name]):
            return _unknown_key(source, [name], (*place[:-1], other))
    # A block mapping begins at its first key; the mapping's own key stands before it and is what a person looks for.
    return source.bad(
        place, f'{_label(source, place[:-1])}"{name}" is missing', f"add {name}: …{f' ({about})' if about else ''}", key=True
    )


def _label(source: Source, place: Location) -> str:
    """`netboxes.field.distance: `, with the steps that the file has, as `--set` names them: the first of a list is 0."""
    steps = source.known(place)
    return f"{'.'.join(map(str, steps))}: " if steps else ""


def _keys_at(model: type[BaseModel], place: Location) -> set[str]:
    """The keys that the mapping at `place` may have."""
    return {field.alias or name for inner in _models_at(model, place) for name, field in inner.model_fields.items()}


def _field_at(model: type[BaseModel], place: Location) -> FieldInfo | None:
    """The field of a model whose value stands there; None inside of values, and where several models could be meant."""
    fields = [
        field
        for inner in _models_at(model, place[:-1])
        for name, field in inner.model_fields.items()
        if place[-1:] == (field.alias or name,)
    ]
    return fields[0] if len(fields) == 1 else None


def _meaning(field: FieldInfo | None) -> str:
    return (field.description or "").rstrip(".") if field is not None else ""


def _range(field: FieldInfo | None) -> str | None:
    """ "0 … 100", when a field has both limits."""
    limits = field.metadata if field is not None else ()
    least = [limit.ge for limit in limits if isinstance(limit, annotated_types.Ge)]
    most = [limit.le for limit in limits if isinstance(limit, annotated_types.Le)]
    return f"{_number(least[0])} … {_number(most[0])}" if least and most else None


def _models_at(model: type[BaseModel], place: Iterable[str | int]) -> set[type[BaseModel]]:
    """Those that could have read what stands there; steps that lead into no other model are passed over."""
    models = {model}
    for step in place:
        models = {below for inner in models for below in _models_below(inner, step)} or models
    return models


def _models_below(model: type[BaseModel], step: str | int) -> Iterator[type[BaseModel]]:
    for name, field in model.model_fields.items():
        if step == (field.alias or name):
            yield from classes_in(field.annotation, BaseModel)


def classes_in(annotation: Any, kind: type[T]) -> Iterator[type[T]]:
    """The subclasses of `kind` that an annotation names, wherever in it."""
    if isinstance(annotation, type) and get_origin(annotation) is None and issubclass(annotation, kind):
        yield annotation
    for argument in get_args(annotation):
        yield from classes_in(argument, kind)


#: What a wrong kind of value should have been, by the type of Pydantic's error.
_KINDS = {
    "string": "text",
    "int": "a whole number",
    "int_from_float": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "dict": "a mapping of keys to values",
    "model": "a mapping of keys to values",
    "list": "a list",
    "tuple": "a list",
}

_BOUNDS = {
    "greater_than_equal": ("ge", "is less than {0:g}; use {0:g} or more"),
    "greater_than": ("gt", "is not more than {0:g}; use more"),
    "less_than_equal": ("le", "is more than {0:g}; use {0:g} or less"),
    "less_than": ("lt", "is not less than {0:g}; use less"),
    "multiple_of": ("multiple_of", "is not a multiple of {0:g}"),
}


def told(detail: ErrorDetails, limits: str | None = None) -> str:
    """What one error of Pydantic's means: cause and remedy, with "; " between them. `limits` are those of the value's range."""
    kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    if kind in ("value_error", "assertion_error"):
        return str(context["error"])
    if kind == "literal_error":
        # The message lists them as 'a', 'b' or 'c'; a value of another kind is nobody's near neighbour.
        words = [word for word in context["expected"].split("'") if word not in ("", ", ", " or ")]
        # A word with digits is rather another version, as 802.11be, than a misspelt one.
        other_version = any(character.isdigit() for character in str(value))
        return f"{_shown(value)} is not known here; {f'use {listed(words)}' if other_version else nearest(str(value), words)}"
    if limits and kind in ("greater_than_equal", "less_than_equal"):
        return f"{_shown(value)} is outside {limits}"
    if kind in _BOUNDS:
        bound, says = _BOUNDS[kind]
        return f"{_shown(value)} {says.format(context[bound])}"
    if kind in ("too_short", "too_long"):
        bound, says = ("min_length", "at least") if kind == "too_short" else ("max_length", "at most")
        return f"has {context['actual_length']}, and {says} {context[bound]} are needed"
    if kind == "string_type" and isinstance(value, (bool, int, float)):
        return f'{_shown(value)} is not text; put it in quotes: "{_shown(value)}"'
    if (wanted := _KINDS.get(kind.removesuffix("_type").removesuffix("_parsing"))) is not None:
        percent = _PERCENT.fullmatch(value.strip()) if isinstance(value, str) else None
        remedy = f"; a ratio has no unit: write {float(percent[1]) / 100:g}" if percent else ""
        return f"{_shown(value)} stands where {wanted} is needed{remedy}"
    message = detail["msg"]
    return f"{_shown(value)}: {message[:1].lower()}{message[1:]}"


def _number(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _shown(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case dict():
            return "a mapping"
        case list() | tuple():
            return "a list"
        case _:
            return repr(value) if len(repr(value)) <= 60 else f"{repr(value)[:57]}…"
