# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that our documents name by their path are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT

#: Not docs/coming-from.md, which names other programs' files.
DOCUMENTS = [CHECKOUT / "README.md", *sorted({*(CHECKOUT / "docs").glob("*.md")} - {CHECKOUT / "docs/coming-from.md"})]
_PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.\w+)`")
#: A path that begins otherwise is one of a run folder, or of a machine.
_FOLDERS = {folder.name for folder in CHECKOUT.iterdir() if folder.is_dir()}
#: What builds and runs make.
_MADE = ("build/", "results/runs/", "results/latest/", "results/bench/", "results/experiments/")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_files_that_it_names_are_there(document: Path) -> None:
    named = {name for name in _PATH.findall(document.read_text()) if name.partition("/")[0] in _FOLDERS}
    missing = [name for name in sorted(named) if not name.startswith(_MADE) and not (CHECKOUT / name).exists()]
    assert missing == []
