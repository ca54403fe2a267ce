# SPDX-License-Identifier: GPL-2.0-or-later
"""At which commit a checkout is, and whether files differ from it; of a package, at which it was built.

A repository's settings and attributes name programs (core.fsmonitor, filters, hooks, remotes' helpers), which git runs with the
rights of whoever asks. So git is asked in a repository of our own, without settings, which has only the objects, the commit and a
copy of the index in common with the checkout's.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

_HASH: Final = re.compile(r"[0-9a-f]{40}")
#: Of the hash, as much as people read.
_SHOWN: Final = 12
#: gitrepository-layout(5): HEAD names a branch, which may name another; git follows five (refs.c, SYMREF_MAXDEPTH).
_MOST_REFERENCES: Final = 5
_TIMEOUT_S: Final = 10
#: What the build of a package leaves there (CMakeLists.txt).
_BUILT_OF: Final = "build/commit"


def commit(checkout: Path) -> str | None:
    """The first 12 digits, with "-dirty" when files of it were changed, "-unknown" when git could not tell.

    None: it is no repository, or has no commit.
    """
    if (built := checkout / _BUILT_OF).is_file():
        return built.read_text().strip() or None
    try:
        repository = _repository(checkout)
        head = _resolved(repository, "HEAD")
    except (OSError, ValueError):
        return None
    if head is None:
        return None
    try:
        return head[:_SHOWN] + ("-dirty" if _changes(checkout, repository, head) else "")
    except (OSError, subprocess.SubprocessError):
        return f"{head[:_SHOWN]}-unknown"


def _repository(checkout: Path) -> Path:
    """Git's folder; in a further work tree a file names it."""
    place = checkout / ".git"
    return place if place.is_dir() else checkout / place.read_text().removeprefix("gitdir:").strip()


def _common(repository: Path) -> Path:
    """What all work trees of a repository share: objects and branches."""
    file = repository / "commondir"
    return repository / file.read_text().strip() if file.exists() else repository


def _resolved(repository: Path, name: str) -> str | None:
    """The hash that a reference leads to; None when it leads to none (no commit yet)."""
    for _ in range(_MOST_REFERENCES):
        places = (repository / name, _common(repository) / name)
        text = next((place.read_text().strip() for place in places if place.is_file()), None) or _packed(repository, name)
        if text is None or _HASH.fullmatch(text):
            return text
        name = text.removeprefix("ref:").strip()
    return None


def _packed(repository: Path, name: str) -> str | None:
    """The same from `packed-refs`."""
    file = _common(repository) / "packed-refs"
    lines = file.read_text().splitlines() if file.exists() else []
    return next((line.split()[0] for line in lines if line.split()[1:] == [name]), None)


def _changes(checkout: Path, repository: Path, head: str) -> str:
    """What `git status` tells of files that the commit has. Raises OSError, subprocess.SubprocessError."""
    with TemporaryDirectory() as folder:
        own = Path(folder)
        (own / "refs").mkdir()
        (own / "HEAD").write_text(f"{head}\n")
        shutil.copy2(repository / "index", own / "index")  # with its time, by which git knows what it has to read
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {
            "GIT_DIR": str(own),
            "GIT_WORK_TREE": str(checkout),
            "GIT_OBJECT_DIRECTORY": str(_common(repository) / "objects"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
        }
        command = ["git", "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all"]
        return subprocess.run(
            command, cwd=checkout, env=environment, capture_output=True, text=True, check=True, timeout=_TIMEOUT_S
        ).stdout
