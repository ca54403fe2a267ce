# SPDX-License-Identifier: GPL-2.0-or-later
"""What a host sees of its packages (system.package_layers): programs over the machine's, and copies of its own below /etc
and /var, which it may change.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from system import package_layers
from system.package_layers import Layer

#: Of /etc what lies over the machine's, as programs do.
_OVER: Final = ("etc/alternatives", "etc/fonts")
_LIBRARIES: Final = "etc/ld.so.cache"
_OPTIONS: Final = "ro,nosuid,nodev"
#: In the folder of copies: which layer they are of.
_LAYER: Final = "layer"


def copy(layer: Layer, copies: Path, root: Path, first_id: int) -> None:
    """Fills a folder that no node can reach; `root` is the one that the lab's nodes share. Raises OSError."""
    package_layers.copy(layer, copies, first_id)
    etc, var = copies / "etc", copies / "var"
    # What all nodes have is the lab's.
    of_all = [entry for entry in etc.iterdir() if entry.is_symlink() or (root / "etc" / entry.name).exists()]
    of_all += [entry for entry in var.iterdir() if entry.is_symlink() or entry.name in ("run", "tmp")]
    for entry in of_all:
        package_layers.remove(entry)
    for file in package_layers.ACCOUNTS:
        (made := etc / file).write_text((root / "etc" / file).read_text() + layer.accounts(file))
        os.chown(made, first_id, first_id)
        made.chmod(0o644)
    (copies / _LAYER).write_text(str(layer.folder))


def give_way(target: Path) -> None:
    """Removes what packages have put there, if anything, so that the user's file can take its place."""
    package_layers.remove(target)


def layer_of(copies: Path) -> Layer | None:
    """The layer of the host with these copies; None where it has no packages."""
    file = copies / _LAYER
    return Layer(Path(file.read_text())) if file.exists() else None


def places(copies: Path) -> list[str]:
    """Where a host sees its copies."""
    entries = (entry for part in ("etc", "var") if (copies / part).is_dir() for entry in sorted((copies / part).iterdir()))
    return [f"/{entry.relative_to(copies)}" for entry in entries]


def over_usr(layer: Layer) -> list[str]:
    """Lines of fstab(5). What is mounted below the machine's /usr is mounted again: an overlay does not show it."""
    table = Path("/proc/self/mountinfo").read_text().splitlines()
    mounted = sorted({Path(line.split()[4]) for line in table if line.split()[4].startswith("/usr/")})
    first = [place for place in mounted if not set(mounted) & set(place.parents)]
    return [_overlay(layer, "usr"), *(f"{place} {str(place)[1:]} none rbind,{_OPTIONS} 0 0" for place in first)]


def over_etc(layer: Layer, root: Path) -> list[str]:
    """The same for what the machine shows all nodes of its /etc."""
    over = [place for place in _OVER if (layer.folder / place).is_dir() and (root / place).is_dir()]
    libraries = layer.folder / _LIBRARIES
    lines = [f"{libraries} {_LIBRARIES} none bind,{_OPTIONS} 0 0"] if libraries.is_file() else []
    return [*(_overlay(layer, place) for place in over), *lines]


def _overlay(layer: Layer, place: str) -> str:
    return f"overlay {place} overlay {_OPTIONS},lowerdir={layer.folder / place}:/{place} 0 0"
