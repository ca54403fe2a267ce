# SPDX-License-Identifier: GPL-2.0-or-later
"""Plug-ins, each a package of a few modules: ours are folders, other installed packages name theirs in entry points.

Entry points are read when all names are needed, or one that is not ours: commands that use only our own do not wait for it.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Final, TypeVar

from contracts.errors import NetBoxITError
from contracts.names import PATTERN

T = TypeVar("T")

OURS: Final = "netboxit"


class BadPlugin(NetBoxITError):
    """A plug-in of another package cannot be used, or has a name that is taken."""


@dataclass(frozen=True)
class Plugin:
    """A package that can be imported, and who brings it."""

    #: What it is: "application".
    kind: str
    name: str
    package: str
    brought_by: str
    #: Of ours, where its modules are; None of others', which Python finds.
    folder: Path | None = None

    def __str__(self) -> str:
        return f"{self.kind} {self.name} of {self.brought_by}"

    def has(self, part: str) -> bool:
        """Whether it has this module. Raises BadPlugin when the package itself cannot be imported, or is none."""
        if self.folder is not None:
            return (self.folder / f"{part}.py").exists()
        if not hasattr(self._import(self.package), "__path__"):
            raise self.unusable(f"{self.package} is a module, and not a package with modules")
        return find_spec(f"{self.package}.{part}") is not None

    def module(self, part: str) -> ModuleType:
        """Raises BadPlugin when a module of another package cannot be imported."""
        return self._import(f"{self.package}.{part}")

    def only_class(self, part: str, base: type[T]) -> type[T]:
        """The class of this module that extends `base`, and is not abstract. Raises BadPlugin when there is none, or several."""
        classes = self.classes(part, base)
        if len(classes) != 1:
            raise self.unusable(f"{self.package}.{part} has {len(classes)} classes that extend {base.__name__}, and needs one")
        return classes[0]

    def classes(self, part: str, base: type[T]) -> list[type[T]]:
        """Those of this module that extend `base`, and are not abstract. Raises BadPlugin as `module` does."""
        module = self.module(part)
        return [
            item
            for _, item in inspect.getmembers(module, inspect.isclass)
            if item.__module__ == module.__name__ and issubclass(item, base) and not inspect.isabstract(item)
        ]

    def unusable(self, why: str) -> BadPlugin:
        return BadPlugin(f"{self} cannot be used: {why}; repair or uninstall the package")

    def _import(self, module: str) -> ModuleType:
        try:
            return importlib.import_module(module)
        except (Exception, SystemExit) as error:
            if self.folder is not None:
                raise
            why = str(error) or type(error).__name__
            raise self.unusable(f"{module} cannot be imported: {why}") from error


class OursFirst(Mapping[str, T]):
    """All of a kind by name. Those of other packages are looked for when a name is not ours, or when all are asked for."""

    def __init__(self, ours: Mapping[str, T], everything: Callable[[], Mapping[str, T]]) -> None:
        """`everything` returns ours, too; it raises BadPlugin where two have one name."""
        self.ours: Final = ours
        self._everything = cache(everything)

    def __getitem__(self, name: str) -> T:
        return self.ours[name] if name in self.ours else self._everything()[name]

    def __contains__(self, name: object) -> bool:
        return name in self.ours or name in self._everything()

    def __iter__(self) -> Iterator[str]:
        return iter(self._everything())

    def __len__(self) -> int:
        return len(self._everything())


def plugins(kind: str, group: str, folder: Path, part: str) -> OursFirst[Plugin]:
    """Our folders below `folder`, a package, that have the module `part`; and what others name in this group of entry points.

    An entry point is `name = "their_package.name"`.
    """
    ours = {
        name: Plugin(kind, name, f"{folder.name}.{own.name}", OURS, own)
        for own in sorted(file.parent for file in folder.glob(f"*/{part}.py"))
        for name in (own.name.replace("_", "-"),)
    }
    return OursFirst(ours, lambda: _with_installed(kind, group, ours))


def loaded(plugins_by_name: OursFirst[Plugin], load: Callable[[Plugin], T]) -> OursFirst[T]:
    """What `load` makes of each plug-in, by its name, when it is first asked for."""
    return OursFirst(_Loaded(plugins_by_name.ours, load), lambda: _Loaded(dict(plugins_by_name), load))


def _with_installed(kind: str, group: str, ours: Mapping[str, Plugin]) -> Mapping[str, Plugin]:
    installed = dict(ours)
    for entry in sorted(metadata.entry_points(group=group), key=lambda entry: (entry.name, entry.value)):
        plugin = Plugin(kind, entry.name, entry.value, entry.dist.name if entry.dist else entry.value)
        if not re.fullmatch(PATTERN, plugin.name):
            raise BadPlugin(
                f'{plugin.brought_by} has an entry point "{plugin.name}" in {group}, which is not the name of {_a(kind)}: '
                "use small letters, digits and -, a letter first, 15 at most; repair or uninstall the package"
            )
        if (other := installed.get(plugin.name)) is not None:
            raise BadPlugin(
                f"{plugin.brought_by} and {other.brought_by} both have {_a(kind)} {plugin.name} "
                f"({plugin.package} and {other.package}); uninstall one of them"
            )
        installed[plugin.name] = plugin
    return installed


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


class _Loaded(Mapping[str, T]):
    def __init__(self, plugins_by_name: Mapping[str, Plugin], load: Callable[[Plugin], T]) -> None:
        self._plugins = plugins_by_name
        self._load = cache(load)

    def __getitem__(self, name: str) -> T:
        return self._load(self._plugins[name])

    def __contains__(self, name: object) -> bool:
        return name in self._plugins

    def __iter__(self) -> Iterator[str]:
        return iter(self._plugins)

    def __len__(self) -> int:
        return len(self._plugins)
