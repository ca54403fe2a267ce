# SPDX-License-Identifier: GPL-2.0-or-later
"""`--set PATH=VALUE`: a value of a topology as the command line says it, in place of the file's.

The path is that of keys and places in lists, joined by dots: `traffic.call.codec`, `events.0.at`.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML

from contracts.errors import BadInput, BadTopology, printable
from testbed.description.input_errors import nearest
from testbed.description.yaml_source import Location, Position, Source, value


@dataclass(frozen=True)
class Setting:
    """One, as it was given (`text`) and as it was read."""

    text: str
    path: tuple[str, ...]
    value: Any

    @classmethod
    def read(cls, text: str) -> Setting:
        """Raises BadTopology."""
        path, equals, yaml_value = text.partition("=")
        if not equals or not all(path.split(".")):
            raise BadTopology([_bad(text, "is not PATH=VALUE", "an example is --set traffic.call.codec=g722")])
        try:
            return cls(text, tuple(path.split(".")), value(yaml_value))
        except ValueError as error:
            raise BadTopology([_bad(text, str(error), "put it in quotes, as in YAML")]) from None


def read(texts: Iterable[str]) -> tuple[Setting, ...]:
    """In their order; of those with the same path the last one counts. Raises BadTopology."""
    return tuple(map(Setting.read, texts))


def apply(source: Source, settings: Sequence[Setting], sections: Iterable[str]) -> None:
    """Puts them into the data of a file that was read; `sections` are the keys at its top, which it may lack.

    Raises BadTopology with all that lead nowhere.
    """
    wrong = [error for setting in settings if (error := _apply(source, setting, set(sections)))]
    if wrong:
        raise BadTopology(wrong)


def leads_nowhere(source: Source, setting: Setting, sections: Iterable[str]) -> BadInput | None:
    """What is wrong with the setting's path in a file that was read, which stays as it is."""
    target = _target(source.data, setting, set(sections))
    return target if isinstance(target, BadInput) else None


def _apply(source: Source, setting: Setting, sections: set[str]) -> BadInput | None:
    if setting.path[0] in sections and len(setting.path) > 1 and source.data.get(setting.path[0]) is None:
        source.data[setting.path[0]] = {}
    target = _target(source.data, setting, sections)
    if isinstance(target, BadInput):
        return target
    place, inside = target
    inside[place[-1]] = setting.value
    source.said[place] = setting.text
    _place(source, place, setting.value)
    return None


def _target(data: Any, setting: Setting, sections: set[str]) -> tuple[Location, Any] | BadInput:
    """Where the setting leads, and the mapping or list that has it or will have it."""
    place: Location = ()
    inside: Any = data
    for step in setting.path[:-1]:
        key = _key(inside, step)
        if not place and step in sections and inside.get(step) is None:
            place, inside = (step,), {}
            continue
        if not isinstance(inside, dict | list) or not _has(inside, key):
            return _bad(setting.text, f"there is no {'.'.join(map(str, (*place, step)))}", _near(inside, step))
        place, inside = (*place, key), inside[key]
    key = _key(inside, setting.path[-1])
    if not isinstance(inside, dict) and not _has(inside, key):
        cause = f"{'.'.join(map(str, place))} has no {setting.path[-1]}"
        return _bad(setting.text, cause, _near(inside, setting.path[-1]))
    return (*place, key), inside


def _place(source: Source, place: Location, inside: Any) -> None:
    """Has the source know that there is something."""
    source.values[place] = source.keys[place] = Position(1, 1)
    for key, part in inside.items() if isinstance(inside, dict) else enumerate(inside) if isinstance(inside, list) else ():
        _place(source, (*place, key), part)


def _key(inside: Any, step: str) -> Any:
    return int(step) if isinstance(inside, list) and step.isascii() and step.isdecimal() else step


def _has(inside: Any, key: Any) -> bool:
    if isinstance(inside, list):
        return isinstance(key, int) and key < len(inside)
    return isinstance(inside, dict) and key in inside


def _near(inside: Any, step: str) -> str:
    if isinstance(inside, list):
        return f"it is a list of {len(inside)}; say a number from 0 to {len(inside) - 1}" if inside else "it is an empty list"
    return nearest(step, map(str, inside)) if isinstance(inside, dict) else "it is one value, which has no parts"


def _bad(text: str, cause: str, remedy: str) -> BadInput:
    return BadInput(f"--set {text}", 0, 0, printable(cause), printable(remedy))


def as_file(source: Source, settings: Sequence[Setting]) -> str:
    """The file as the settings make it, without its comments, as a topology that can be read again.

    Keys stay in their order: stations of a netbox, for example, are numbered by it.
    """
    lines = "".join(f"#   --set {printable(setting.text)}\n" for setting in settings)
    yaml = YAML(typ="safe")
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]  # None, the default, sorts
    yaml.dump(source.data, text := io.StringIO())
    return f"# {printable(source.path)}, its comments left out, with\n{lines}{text.getvalue()}"
