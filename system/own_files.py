# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that an application has in a node, in a folder of its own, which programs of the node see and can write.

On which machine the node runs is not seen here: `testbed.several_hosts` has the same for nodes elsewhere.
"""

from __future__ import annotations

from pathlib import Path

from system import node_files


class OwnFiles:
    """Files by their names. What programs of the node put in their places is never followed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, name: str, content: str | bytes) -> None:
        """A new file in the place of what is there."""
        node_files.write(self._folder / name, content)

    def exists(self, name: str) -> bool:
        """Whether there is anything of that name: a file, a pipe."""
        return node_files.exists(self._folder / name)

    def take(self, name: str, to: Path) -> bool:
        """Moves a file out of the node. False when there is none, or no ordinary one."""
        return node_files.take(self._folder / name, to)

    def remove(self, name: str) -> None:
        """What is not there is removed already."""
        node_files.remove(self._folder / name)
