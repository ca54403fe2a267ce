# SPDX-License-Identifier: GPL-2.0-or-later
"""What a technology says that it announces is what its segment announces."""

from __future__ import annotations

import re

import pytest

from netboxes.technology import FOLDER, technologies


@pytest.mark.parametrize("name", technologies())
def test_announces_lists_what_the_segment_announces(name: str) -> None:
    sources = [file.read_text() for file in (FOLDER / name).rglob("*.cc")]
    events = [event for text in sources for event in re.findall(r"\bm_announcements\.Announce\(([^,]*),", text)]
    assert all('"' in event for event in events), "not to be read from the source"
    assert {word for event in events for word in re.findall(r'"(\w+)"', event)} == technologies()[name].ANNOUNCES
