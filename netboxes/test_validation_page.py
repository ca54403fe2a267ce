# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from netboxes import validation_page
from netboxes.technology import technologies
from netboxes.validation import Chapter, Curve, Figure, Plot

GOOD = Figure("rate", "Mbit/s", 10.0, 10.2, relative=0.05)
OUTSIDE = Figure("delay", "ms", 5.0, 9.0, absolute=1.0)
PLOT = Plot("link-rate", "Rate", "load", "rate", [Curve("a", [1, 2], [1, 2], False), Curve("a", [1, 2], [1, 2.1], True)])


def test_the_larger_tolerance_holds() -> None:
    assert Figure("x", "", 100.0, 104.0, relative=0.05, absolute=1.0).holds
    assert Figure("x", "", 0.0, 0.5, relative=0.05, absolute=1.0).holds
    assert not Figure("x", "", 100.0, 106.0, relative=0.05, absolute=1.0).holds


def test_the_page_has_each_figure_with_its_tolerance_and_marks_what_is_outside() -> None:
    text = validation_page.part("link", [Chapter("How fast", "By arithmetic.", [GOOD, OUTSIDE], [PLOT])])
    assert "| rate | 10 | 10.2 | Mbit/s | 0.2 | 0.5 |  |" in text
    assert "| delay | 5 | 9 | ms | 4 | 1 | **outside** |" in text
    assert "![Rate](validation/link-rate.svg)" in text


def test_parts_of_other_technologies_stay_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation_page, "technologies", lambda: ["ethernet", "wifi"])
    file = tmp_path / "docs" / "validation.md"
    file.parent.mkdir()
    file.write_text(validation_page.page({"wifi": "## wifi\nold\n", "gone": "## gone\n"}))
    outside = validation_page.write([], file)
    assert outside == []
    assert validation_page.parts_of(file.read_text()) == {"wifi": "## wifi\nold\n"}


def test_every_segment_is_validated_and_stands_on_the_page() -> None:
    segments = {name for name, technology in technologies().items() if technology.TYPICAL is not None}
    assert segments == set(validation_page.technologies())
    assert segments == set(validation_page.parts_of(validation_page.PAGE.read_text())), "write it anew with make validate"
    assert "**outside**" not in validation_page.PAGE.read_text()
