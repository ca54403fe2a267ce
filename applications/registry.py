# SPDX-License-Identifier: GPL-2.0-or-later
"""Which applications there are: the folders beside this file, and what other installed packages bring (docs/applications.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from applications.application import Application
from contracts.plugins import BadPlugin, OursFirst, Plugin, loaded, plugins
from results.application_analysis import ApplicationAnalysis
from results.measure import NAME, OF_FLOWS, OF_OTHERS, TAKEN, Measure
from results.metrics_document import Metrics

#: Under which other packages name their applications: `probe = "their_package.probe"`, a folder as those beside this file.
GROUP: Final = "netboxit.applications"


@cache
def applications() -> OursFirst[type[Application]]:
    """All applications by name, each imported when it is first asked for; BadPlugin is raised then, too."""
    return loaded(application_plugins(), lambda plugin: plugin.only_class("application", Application))  # type: ignore[type-abstract]


@cache
def analyses() -> Mapping[str, ApplicationAnalysis]:
    """The analyses of those applications that have one, by the applications' names. Raises BadPlugin."""
    analysis_of: dict[str, ApplicationAnalysis] = {}
    by_key = {key: "every run's metrics" for key in ("format", "version", *Metrics.__required_keys__, *Metrics.__optional_keys__)}
    for name, plugin in application_plugins().items():
        if plugin.has("analysis"):
            analysis = getattr(plugin.module("analysis"), "ANALYSIS", None)
            if not isinstance(analysis, ApplicationAnalysis):
                raise plugin.unusable(f"{plugin.package}.analysis has no ANALYSIS, an ApplicationAnalysis")
            if (other := by_key.setdefault(analysis.key, str(plugin))) != str(plugin):
                raise BadPlugin(f"{other} and {plugin} both have the key {analysis.key} in metrics.json; one needs another")
            analysis_of[name] = analysis
    return analysis_of


@cache
def measures() -> Mapping[str, Measure]:
    """All that a run may be measured by, by name: of every run, then of applications. Raises BadPlugin."""
    known = {measure.name: measure for measure in (*OF_FLOWS, *OF_OTHERS)}
    brought_by = dict.fromkeys(known, "every run")
    for name, analysis in analyses().items():
        plugin = application_plugins()[name]
        for measure in analysis.measures:
            if not re.fullmatch(NAME, measure.name) or measure.name in TAKEN:
                raise plugin.unusable(
                    f'"{measure.name}" is not the name of a measure: use a-z, 0-9 and _, and no name of a column'
                )
            if measure.of not in ("flow", "traffic"):
                raise plugin.unusable(
                    f"its measure {measure.name} is of {measure.of}, and an application's is of flow or traffic"
                )
            if (other := brought_by.setdefault(measure.name, str(plugin))) != str(plugin):
                raise BadPlugin(f"{other} and {plugin} both have the measure {measure.name}; one needs another name")
            known[measure.name] = measure
    return known


@cache
def application_plugins() -> OursFirst[Plugin]:
    return plugins("application", GROUP, Path(__file__).parent, "application")
