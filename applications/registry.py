# SPDX-License-Identifier: GPL-2.0-or-later
"""Which applications there are: the folders beside this file, and what other installed packages bring (docs/applications.md)."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Final

from applications.application import Application
from contracts.errors import NetBoxITError
from results.application_analysis import ApplicationAnalysis
from results.metrics_document import Metrics

#: Under which other packages name their applications: `probe = "their_package.probe"`, a folder as those beside this file.
GROUP: Final = "netboxit.applications"
_OURS: Final = "netboxit"


class BadApplication(NetBoxITError):
    """An application of another package cannot be used, or has the name of one that is there."""


@dataclass(frozen=True)
class Plugin:
    """An application's folder, as a package that can be imported, and who brings it."""

    name: str
    package: str
    brought_by: str


@cache
def applications() -> dict[str, type[Application]]:
    """All applications by name. Raises BadApplication."""
    return {name: _application(plugin) for name, plugin in plugins().items()}


@cache
def analyses() -> Mapping[str, ApplicationAnalysis]:
    """The analyses of those applications that have one, by the applications' names. Raises BadApplication."""
    found: dict[str, ApplicationAnalysis] = {}
    by_key = {key: "every run's metrics" for key in ("format", "version", *Metrics.__required_keys__, *Metrics.__optional_keys__)}
    for name, plugin in plugins().items():
        if (analysis := _analysis(plugin)) is not None:
            owner = f"application {name} of {plugin.brought_by}"
            if (other := by_key.setdefault(analysis.key, owner)) is not owner:
                raise BadApplication(f"{other} and {owner} both have the key {analysis.key} in metrics.json; one needs another")
            found[name] = analysis
    return found


@cache
def plugins() -> Mapping[str, Plugin]:
    """All that are there by name, ours first. Raises BadApplication where two packages have one of the same name."""
    found: dict[str, Plugin] = {}
    for plugin in (*_folders(), *_installed()):
        if (other := found.get(plugin.name)) is not None:
            raise BadApplication(
                f"{plugin.brought_by} and {other.brought_by} both have an application {plugin.name} "
                f"({plugin.package} and {other.package}); uninstall one of them"
            )
        found[plugin.name] = plugin
    return found


def _folders() -> Iterator[Plugin]:
    for file in sorted(Path(__file__).parent.glob("*/application.py")):
        folder = file.parent.name
        yield Plugin(folder.replace("_", "-"), f"{__package__}.{folder}", _OURS)


def _installed() -> Iterator[Plugin]:
    for entry in sorted(metadata.entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        yield Plugin(entry.name, entry.value, entry.dist.name if entry.dist else entry.value)


def _application(plugin: Plugin) -> type[Application]:
    module = _imported(plugin, "application")
    kinds = [item for _, item in inspect.getmembers(module, inspect.isclass) if item.__module__ == module.__name__]
    found = [item for item in kinds if issubclass(item, Application) and not inspect.isabstract(item)]
    if len(found) != 1:
        raise BadApplication(
            f"{module.__name__} of {plugin.brought_by} has {len(found)} classes that are an application; it needs one"
        )
    return found[0]


def _analysis(plugin: Plugin) -> ApplicationAnalysis | None:
    _imported(plugin, "application")
    if find_spec(f"{plugin.package}.analysis") is None:
        return None
    found = getattr(_imported(plugin, "analysis"), "ANALYSIS", None)
    if not isinstance(found, ApplicationAnalysis):
        raise BadApplication(f"{plugin.package}.analysis of {plugin.brought_by} has no ANALYSIS, an ApplicationAnalysis")
    return found


def _imported(plugin: Plugin, part: str) -> ModuleType:
    try:
        return importlib.import_module(f"{plugin.package}.{part}")
    except ImportError as error:
        raise BadApplication(
            f"application {plugin.name} of {plugin.brought_by} cannot be imported: {error}; repair or uninstall it"
        ) from error
