# SPDX-License-Identifier: GPL-2.0-or-later
"""What a topology file brings into a host: files from beside it, where the host sees them, and Debian packages."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import permutations
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, ValidationInfo

from contracts.errors import NetBoxITError, listed
from contracts.files import copy_of, kept_tree_at, note_tree
from contracts.installation import INSTALLATION
from system import file_trees
from system.rootfs import ETC_OF_ALL, HOST_FOLDERS, own_folders

#: Of one host; each may be a folder.
MOST_COPIES: Final = 32
#: Of one host.
MOST_PACKAGES: Final = 64
_PACKAGE: Final = r"[a-z0-9][a-z0-9+.-]{1,63}(=[0-9][A-Za-z0-9.+:~-]{0,63})?"
_LONGEST: Final = 512
_LONGEST_NAME: Final = 255


def check_host_path(text: str) -> str:
    """Where a host sees what it is given: in one of the folders that are its own. Raises ValueError."""
    if not text.startswith("/"):
        raise ValueError(f'"{text}" is no path from / on; write where the host is to see it, like /srv/site')
    if posixpath.normpath(text) != text or not text.isprintable():
        raise ValueError(f'"{text}" is not written plainly; write it without "..", "." and slashes that say nothing')
    if len(text) > _LONGEST or any(len(part.encode()) > _LONGEST_NAME for part in text.split("/")):
        raise ValueError("the path is too long; use shorter names")
    if text.startswith("/etc/"):
        if (name := text.split("/")[2]) in ETC_OF_ALL:
            raise ValueError(f"/etc/{name} is the lab's, or the machine's, in each node; write another path")
        return text
    if not (folders := own_folders([text])):
        raise ValueError(f"{text} is in no folder of the host's own; write a path in {listed(HOST_FOLDERS)}")
    if INSTALLATION.is_relative_to(folder := folders[0]):
        others = [other for other in HOST_FOLDERS if not INSTALLATION.is_relative_to(other)]
        raise ValueError(f"{folder} has NetBoxIT itself on this machine, which hosts see there; write a path in {listed(others)}")
    return text


def find_beside(text: Any, info: ValidationInfo) -> Path:
    """A file or folder in the topology's folder, when all of it can be copied. Raises ValueError."""
    if not isinstance(text, str) or not text.strip() or not text.isprintable():
        raise ValueError(f"{text!r} is not the name of a file or folder; write its path, as it is from the topology's folder")
    folder = (info.context or {}).get("folder")
    if folder is None:
        raise ValueError("files are copied from beside a topology file, and there is none; leave files out")
    home, path = Path(folder).resolve(), Path(text)
    try:
        source = copy_of(kept_tree_at(text), home) or (home / path).resolve()
    except (OSError, RuntimeError):  # links that lead to each other
        raise ValueError(f"{text} cannot be read; see where its links lead") from None
    if path.is_absolute() or ".." in path.parts or not source.is_relative_to(home):
        raise ValueError(f"{text} leads out of the topology's folder; keep it beside the topology")
    if source == home:
        raise ValueError(f"{text} is the topology's folder itself; name a file or folder in it")
    try:
        file_trees.survey(source)
    except NetBoxITError as error:
        raise ValueError(str(error)) from None
    note_tree(text, source)
    return source


def wrong_together(files: Mapping[str, Path], packages: Collection[str]) -> Iterator[tuple[str, str]]:
    """What is wrong with paths of a host beside each other, with what is to be there, and without packages."""
    for path, other in permutations(files, 2):
        if path.startswith(f"{other}/"):
            yield path, f"{path} is in {other}, which is copied, too; put it into what is copied there"
    for path, source in files.items():
        if path in HOST_FOLDERS and not file_trees.is_folder(source):
            yield path, f"{path} is a folder, and {source.name} is a file; write {path}/{source.name}"
        if path.startswith("/etc/") and not packages:
            yield (
                path,
                f"only a host with packages has an /etc of its own; add packages: […], or write a path in {listed(HOST_FOLDERS)}",
            )


def check_package(text: str) -> str:
    """The name of a Debian package, with its version if need be (Debian policy manual, 5.6.1 and 5.6.12). Raises ValueError."""
    if not re.fullmatch(_PACKAGE, text):
        raise ValueError(
            f'"{text}" is no name of a Debian package; write one as `apt search` shows it: small letters, digits, "+-."'
        )
    return text


Package = Annotated[str, AfterValidator(check_package)]
HostPath = Annotated[str, AfterValidator(check_host_path)]
FileBeside = Annotated[Path, BeforeValidator(find_beside)]
