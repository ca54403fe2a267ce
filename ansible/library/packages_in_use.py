#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Ansible module: which of the packages that came with NetBoxIT a machine has come to need. Looks only; changes nothing.

    recorded  all that came, as PACKAGE:ARCHITECTURE
    asked     those of them that NetBoxIT asked for by name, which apt marks as wanted by hand from then on
    kept      names of packages that stay in any case, because they let people in
    started   names of packages whose programs NetBoxIT itself started

Answers

    going     those that nobody but NetBoxIT uses
    staying   {package: why it stays}

"Needs" is Depends and Pre-Depends of what is installed (Debian Policy, 7.2): the packages were installed without what they
recommend, and what was there before did without them.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import apt_pkg
from ansible.module_utils.basic import AnsibleModule

_UNIT = re.compile(r"(?:/usr)?/lib/systemd/system/([^/]+\.(?:service|socket|timer|path))")


class Packages:
    """Those of a machine, by apt's configuration: only what is installed counts, not what could be had."""

    def __init__(self, processes: Path = Path("/proc"), systemd: Path = Path("/run/systemd/system")) -> None:
        apt_pkg.init_system()
        for setting, file in (
            ("Dir::State::lists", "/nonexistent"),
            ("Dir::Cache::pkgcache", ""),
            ("Dir::Cache::srcpkgcache", ""),
        ):
            apt_pkg.config.set(setting, file)
        self._cache = apt_pkg.Cache(None)
        self._marks = apt_pkg.DepCache(self._cache)
        self._processes, self._systemd = processes, systemd
        self._files = Path(apt_pkg.config.find_file("Dir::State::status")).parent / "info"

    def in_use(
        self, recorded: Collection[str], asked: Collection[str], kept: Collection[str], started: Collection[str]
    ) -> tuple[list[str], dict[str, str]]:
        """`going` and `staying`."""
        came = {name: package for name in recorded if (package := self._package(name)) is not None}
        programs, units = self._running(), self._active_units()
        staying: dict[str, str] = {}
        for name, package in came.items():
            short = package.name
            by_hand = short not in asked and not self._marks.is_auto_installed(package)
            used = "" if short in started else self._used(name, package, programs, units)
            if short in kept:
                staying[name] = "it lets people in"
            elif package.essential or package.important:
                staying[name] = "Debian protects it"
            elif package.selected_state == apt_pkg.SELSTATE_HOLD:
                staying[name] = "somebody holds it (apt-mark hold)"
            elif by_hand and package.current_ver:
                staying[name] = "somebody asked for it since (apt-mark showmanual)"
            elif used:
                staying[name] = used
        going = {package.id: name for name, package in came.items() if name not in staying}
        while needed := {going[id]: by for id, by in self._needed(going)}:
            staying |= {name: f"{by} needs it" for name, by in needed.items()}
            going = {id: name for id, name in going.items() if name not in needed}
        return sorted(going.values()), dict(sorted(staying.items()))

    def _package(self, name: str) -> Any:
        """None when nothing is left of it, not even its configuration."""
        short, _, architecture = name.partition(":")
        with suppress(KeyError):
            package = self._cache[short, apt_pkg.config.find("APT::Architecture") if architecture == "all" else architecture]
            return package if package.current_state != apt_pkg.CURSTATE_NOT_INSTALLED else None
        return None

    def _needed(self, going: Collection[int]) -> Iterator[tuple[int, str]]:
        """Each package that goes though one that stays could not do without it, and which that is."""
        for package in self._cache.packages:
            if package.current_ver is None or package.id in going:
                continue
            depends = package.current_ver.depends_list
            for alternatives in (*depends.get("Depends", ()), *depends.get("PreDepends", ())):
                found = {version.parent_pkg.id for item in alternatives for version in _installed(item)}
                if found and found <= set(going):
                    yield from ((id, package.name) for id in found)

    def _used(self, name: str, package: Any, programs: Collection[str], units: Collection[str]) -> str:
        info = [self._files / f"{form}.list" for form in (name, package.name)]
        for file in (path for item in info if item.exists() for path in item.read_text().splitlines()):
            if file in programs:
                return f"{file} runs"
            if (unit := _UNIT.fullmatch(file)) and unit[1] in units:
                return f"{unit[1]} is active"
        return ""

    def _running(self) -> set[str]:
        """The programs of all processes."""
        programs = set()
        for process in self._processes.glob("[0-9]*"):
            with suppress(OSError):
                programs.add(str((process / "exe").readlink()))
        # A package may list a file by another way to it: /bin is a link to /usr/bin.
        return programs | {program.removeprefix("/usr") for program in programs}

    def _active_units(self) -> set[str]:
        """Of systemd, where it runs."""
        if not self._systemd.is_dir():
            return set()
        listed = ("systemctl", "list-units", "--state=active", "--plain", "--no-legend", "--no-pager", "--full")
        return {line.split()[0] for line in subprocess.check_output(listed, text=True).splitlines() if line.strip()}


def _installed(dependency: Any) -> Iterable[Any]:
    """What is installed and fulfils it."""
    return [version for version in dependency.all_targets() if version.parent_pkg.current_ver == version]


def main() -> None:
    lists = {"type": "list", "elements": "str", "required": True}
    module = AnsibleModule({name: lists for name in ("recorded", "asked", "kept", "started")}, supports_check_mode=True)
    apt_pkg.init_config()
    going, staying = Packages().in_use(**{name: module.params[name] for name in ("recorded", "asked", "kept", "started")})
    module.exit_json(changed=False, going=going, staying=staying)


if __name__ == "__main__":
    main()
