# SPDX-License-Identifier: GPL-2.0-or-later
"""Packages that this machine has, as dpkg knows them, and which of them a host can get anew, with a configuration of its own."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from system import strays

DATABASE: Final = Path("/var/lib/dpkg")
_FIELDS: Final = ("Package", "Version", "db:Status-Status", "source:Package", "Pre-Depends", "Depends")


@dataclass(frozen=True)
class Package:
    """`installed` is false when only its configuration is there: it was removed, and not purged."""

    version: str
    installed: bool
    source: str
    needs: frozenset[str]


def known(database: Path = DATABASE) -> dict[str, Package]:
    """By name. One of several architectures counts once."""
    form = "\t".join(f"${{{field}}}" for field in _FIELDS) + "\n"
    packages = {}
    for line in _output("dpkg-query", f"--admindir={database}", "--show", f"--showformat={form}").splitlines():
        name, version, status, source, *needs = line.split("\t")
        if status in ("installed", "config-files"):
            packages[name] = Package(version, status == "installed", source, frozenset(_names(",".join(needs))))
    return packages


def name_of(wanted: str) -> str:
    """Without version and architecture: "nginx" of "nginx=1.22.1-9"."""
    return re.split("[=:]", wanted)[0]


def made_anew(wanted: Sequence[str]) -> list[str]:
    """Which of these the machine has, and could do without; with those of the same source that they need, as nginx nginx-common.

    A host sees the programs of all others as they are on the machine, and nothing of their configuration, which is the machine's.
    """
    machine = {name: package for name, package in known().items() if package.installed}
    anew: list[str] = []
    waiting = [name for name in map(name_of, wanted) if name in machine]
    while waiting:
        if (name := waiting.pop(0)) not in anew and _removable([*anew, name]):
            anew.append(name)
            waiting += sorted(
                need for need in machine[name].needs & machine.keys() if machine[need].source == machine[name].source
            )
    return anew


def left_behind(archives: Iterable[Path], machine: Mapping[str, Package]) -> list[str]:
    """Of which of these .deb files the machine has nothing but the configuration."""
    names = {_output("dpkg-deb", "--field", str(file), "Package").strip() for file in archives}
    return sorted(name for name in names if name in machine and not machine[name].installed)


def _names(relations: str) -> Iterable[str]:
    """Of packages in a field of relationships (Debian Policy, 7.1), alternatives among them."""
    return (match[0] for part in re.split("[,|]", relations) if (match := re.match(r"[a-z0-9][a-z0-9+.-]*", part.strip())))


def _removable(names: Sequence[str]) -> bool:
    """Whether dpkg would remove them all together: nothing else on the machine needs them."""
    done = subprocess.run(
        ["dpkg", "--simulate", "--purge", "--", *names],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=strays.marked_environment(),
        check=False,
    )
    return done.returncode == 0


def _output(*argv: str) -> str:
    return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout
