# SPDX-License-Identifier: GPL-2.0-or-later
"""The folder of a run while it is written. An operator's is root's own until then: nobody can put a link in a file's place."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from contracts.errors import NetBoxITError
from ownership.operators import operator
from system import node_files, strays
from system.user_privileges import as_user


class NotHandedOver(NetBoxITError):
    """The files of an operator's run could not be written to the operator's folder."""


@contextmanager
def being_written(folder: Path) -> Iterator[Path]:
    """Where the files of a run have their place meanwhile. `folder` has them in the end, however that comes."""
    if operator() is None:
        yield folder
        return
    with strays.folder_of_own() as place:
        try:
            yield place
        finally:
            _hand_over(place, folder)


def _hand_over(place: Path, folder: Path) -> None:
    """Copies, with the operator's rights to where it goes."""
    try:
        for file in sorted(place.rglob("*")):
            target = folder / file.relative_to(place)
            if file.is_dir():
                with as_user():
                    target.mkdir()
                continue
            # Root alone writes there, so no link should be among them; one would be refused.
            with node_files.opened(file) as source, as_user(), target.open("xb") as copy:
                node_files.copy_sparsely(source.fileno(), copy.fileno(), sys.maxsize)
    except OSError as error:
        raise NotHandedOver(
            f"what the run left cannot be written to {folder}: {error.strerror}; say another --results"
        ) from error
