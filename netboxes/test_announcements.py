# SPDX-License-Identifier: GPL-2.0-or-later
"""What a technology says that it announces is what its segment announces."""

from __future__ import annotations

import re

import pytest

from contracts.installation import CHECKOUT
from netboxes.technology import FOLDER, technologies

#: What it calls things, daemons and netboxes announce alike.
MIDDLEWARE = CHECKOUT / "middleware/announced.cc"
HEADER = "middleware/announced.h"


@pytest.mark.parametrize("name", technologies())
def test_announces_lists_what_the_segment_announces(name: str) -> None:
    sources = [file.read_text() for file in (FOLDER / name).rglob("*.cc")]
    calls = [event for text in sources for event in re.findall(r"\bm_announcements\.Announce\(([^,]*),", text)]
    takes = any(HEADER in text for text in sources)
    of_middleware = re.findall(r'return \{"(\w+)"', MIDDLEWARE.read_text()) if takes else []
    literal = [call for call in calls if not (of_middleware and call == "name")]
    assert all('"' in call for call in literal), "not to be read from the source"
    found = {word for call in literal for word in re.findall(r'"(\w+)"', call)} | {*of_middleware}
    assert found == technologies()[name].ANNOUNCES
