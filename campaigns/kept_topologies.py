# SPDX-License-Identifier: GPL-2.0-or-later
"""The topologies of a campaign in its folder, with the files that they name: so its file can be run wherever the folder is.

Each is where `contracts.files.kept_at` says, as in a run's folder: a topology in a folder of its own, which has what it names.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from campaigns.checking import Checked
from contracts import durable
from contracts.files import kept_at
from contracts.run_folder import NAMED_FILES_FOLDER
from results import reference
from system.user_privileges import as_user
from testbed.run import kept_copies

KeptFiles = Mapping[str, bytes]
NONE: Final[KeptFiles] = {}


def of(checked: Checked) -> KeptFiles:
    """All of them, by their paths in the campaign's folder. Raises NotToBeCopied."""
    campaign, files = checked.campaign, dict[str, bytes]()
    for variant, text in (campaign.file.topologies or {"": campaign.file.topology or ""}).items():
        topology, kept = campaign.topologies()[variant], PurePosixPath(kept_at(text))
        figures = reference.beside(topology)
        with as_user():
            files[str(kept)] = topology.read_bytes()
            if figures.exists():
                files[str(kept.with_name(kept.stem + reference.SUFFIX))] = figures.read_bytes()
        files |= {str(kept.parent / file): content for file, content in kept_copies(checked.named[variant]).items()}
    return files


def keep(files: KeptFiles, folder: Path) -> None:
    """Writes those that are not there yet, and removes what an earlier file of the campaign named. Raises NotWritten."""
    for name, content in files.items():
        place = folder / name
        if not place.is_file() or place.read_bytes() != content:
            with durable.told(place):
                place.parent.mkdir(parents=True, exist_ok=True)
            durable.put(place, content)
    for place in [*(folder / NAMED_FILES_FOLDER).rglob("*")]:
        if place.is_file() and str(place.relative_to(folder)) not in files:
            place.unlink()
