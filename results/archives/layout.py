# SPDX-License-Identifier: GPL-2.0-or-later
"""What an archive of a run or of a campaign is (docs/archives.md): a ZIP file with one folder, as it is in the results, and three
files beside it: what the archive says of itself, RO-Crate metadata, checksums."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Literal

from typing_extensions import TypedDict

from contracts.document import Document
from contracts.errors import WrongInput, printable

Kind = Literal["run", "campaign"]

#: Beside the folder.
ARCHIVE_FILE: Final = "netboxit-archive.json"
CRATE_FILE: Final = "ro-crate-metadata.json"
#: As of BagIt (RFC 8493, 2.1.3), which `sha256sum --check` reads. It has all files but itself.
MANIFEST_FILE: Final = "manifest-sha256.txt"
OWN_FILES: Final = (ARCHIVE_FILE, CRATE_FILE, MANIFEST_FILE)

#: A campaign of 1000 runs with everything kept has 45,000 files.
MOST_FILES: Final = 250_000
#: Of all files together, where nobody says another bound.
MOST_BYTES: Final = 20 << 30
#: What a run leaves is 2 to 30 times as large as its archive; of a file made to expand it is up to 1032 times (deflate).
MOST_RATIO: Final = 200
_LONGEST_NAME: Final = 255
_LONGEST_PATH: Final = 1000
_DEEPEST: Final = 20

#: In which folder of the results each kind is.
PLACES: Final[dict[Kind, str]] = {"run": "runs", "campaign": "campaigns"}


class BadArchive(WrongInput):
    """An archive that is damaged, or is not what NetBoxIT writes. Nothing of it is kept."""


class Archive(TypedDict):
    """netboxit-archive.json."""

    kind: Kind
    #: Of the folder.
    name: str
    #: How many runs it has.
    runs: int
    #: The version of their folders (contracts/run_folder.py).
    run_folder: int
    #: The commits of NetBoxIT that made the runs, as far as they say so.
    made_by: list[str]


ARCHIVE: Final[Document[Archive]] = Document("archive")


def check_names(names: Iterable[str]) -> None:
    """Paths of files in an archive. Raises BadArchive for one that could be outside of it, or that not every system can have."""
    spellings = dict[str, str]()
    folders = set[str]()
    for name in names:
        if why := _why_not(name):
            raise BadArchive(f"{printable(name)} is no name of a file in an archive: {why}")
        spelling = _as_any_system(name)
        if (other := spellings.setdefault(spelling, name)) is not name:
            raise BadArchive(f"{printable(name)} is there twice" + ("" if other == name else f", also as {printable(other)}"))
        parts = spelling.split("/")
        folders |= {"/".join(parts[:depth]) for depth in range(1, len(parts))}
    if both := sorted(folders & spellings.keys()):
        raise BadArchive(f"{printable(spellings[both[0]])} is a file, and a folder with files, too")


def check_name(name: str) -> None:
    """Of the folder of a run or a campaign. Raises BadArchive."""
    if why := "it has a slash" if "/" in name else "it begins with a dot" if name.startswith(".") else _why_not(name):
        raise BadArchive(f"{printable(name)} is no name of a run or campaign: {why}")


def manifest(digests: Iterable[tuple[str, str]]) -> str:
    """Of pairs of a file's path and the SHA-256 of its content."""
    return "".join(f"{digest}  {name}\n" for name, digest in digests)


def read_manifest(text: str) -> Iterator[tuple[str, str]]:
    """The pairs. Raises BadArchive."""
    for number, line in enumerate(text.split("\n")[:-1], 1):
        digest, gap, name = line[:64], line[64:66], line[66:]
        if gap not in ("  ", " *") or len(digest) < 64 or not set(digest) <= set("0123456789abcdef"):
            raise BadArchive(f"{MANIFEST_FILE}, line {number} is no checksum of a file")
        yield name, digest


def folder_of(results: Path, archive: Archive) -> Path:
    """Where the results have it."""
    return results / PLACES[archive["kind"]] / archive["name"]


def _why_not(name: str) -> str | None:
    parts = name.split("/")
    if name.startswith("/"):
        return "it begins at the root of the file system"
    if not {"", ".", ".."}.isdisjoint(parts):
        return 'it has a part that is empty, "." or ".."'
    if not name.isprintable() or {"\\", "%", ":"} & {*name}:
        return 'it has a control character, or one of "\\", "%" and ":"'
    if len(name.encode()) > _LONGEST_PATH or any(len(part.encode()) > _LONGEST_NAME for part in parts):
        return "it is too long"
    return "it is too deep" if len(parts) > _DEEPEST else None


def _as_any_system(name: str) -> str:
    """The same for names that some file systems do not tell apart."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
