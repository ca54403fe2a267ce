# SPDX-License-Identifier: GPL-2.0-or-later
"""Packages of others that are installed beside NetBoxIT, and name their plug-ins in entry points."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from applications import registry
from netboxes import drill, technology
from testbed.description import drills

#: What remembers which plug-ins there are.
_REMEMBERED: Final = (
    *(registry.application_plugins, registry.applications, registry.analyses, registry.measures),
    *(technology.technology_plugins, technology.technologies, drill.netbox_drills, drills.all_drills),
)


class InstalledPackages:
    """They are in a folder of their own, where Python looks first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self, distribution: str, group: str, plugin: str, files: Mapping[str, str]) -> Path:
        """A package with these files, which brings one plug-in by an entry point. Returns the package's folder."""
        package = distribution.replace("-", "_")
        placed = self.folder / package
        placed.mkdir()
        for name, text in {"__init__.py": "", **files}.items():
            (placed / name).write_text(text)
        about = self.folder / f"{package}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[{group}]\n{plugin} = {package}\n")
        return placed


@pytest.fixture
def installed_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InstalledPackages]:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    _forget()
    yield InstalledPackages(folder)
    _forget()
    for name in [name for name, module in sys.modules.items() if str(getattr(module, "__file__", "")).startswith(str(folder))]:
        del sys.modules[name]


def _forget() -> None:
    for known in _REMEMBERED:
        known.cache_clear()
