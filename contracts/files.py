# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that a topology file names: beside it, or in the checkout (in NetBoxIT's own folder, where there is none)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from contracts.errors import listed
from contracts.installation import CHECKOUT


def find_file(text: str, context: Mapping[str, Path] | None) -> Path:
    """The file that is meant; `context` is that of Pydantic's validation, with the topology's `folder`.

    With `terminal`, the folder of somebody at a terminal, it is any file that this user may read, looked for there first. Raises
    ValueError when there is none, or when it is neither below the topology's folder nor in the checkout.
    """
    if not text.strip() or not text.isprintable():
        raise ValueError(f"{text!r} is not the name of a file; write its path, as it is from the topology's folder")
    folders = context or {}
    homes = [folders[key] for key in ("terminal", "folder") if key in folders] + [CHECKOUT]
    # Not by Path.resolve, which takes a circle of links for a defect.
    paths = [Path(os.path.realpath(home / text)) for home in homes]
    inside = [path for path, home in zip(paths, homes, strict=True) if "terminal" in folders or path.is_relative_to(home)]
    if not inside:
        raise ValueError(f"{text} leads out of the topology's folder and of the checkout; keep the file beside the topology")
    for path in inside:
        with suppress(OSError):  # a name too long for the file system, a folder that may not be entered
            if path.is_file():
                return path
            if path.is_dir():
                raise ValueError(f"{text} is a folder; name a file")
            if path.is_symlink():
                raise ValueError(f"{text} is a circle of links; name a file")
            if path.exists():
                raise ValueError(f"{text} is a pipe, a socket or a device; name a file")
    places = list(dict.fromkeys(map(str, homes)))
    raise ValueError(f"there is no file {text}; looked in {listed(places, 'and')}")
