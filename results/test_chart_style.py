# SPDX-License-Identifier: GPL-2.0-or-later
import io
import re
import xml.etree.ElementTree as ET

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from results.chart_style import STYLE, as_svg


def figure(name: str) -> Figure:
    drawn = Figure(figsize=(3.5, 2.3))
    axes = drawn.add_subplot()
    axes.plot(np.linspace(0, 1, 50), np.linspace(0, 1, 50) ** 3, marker="o")
    axes.plot(np.linspace(0, 1, 500), np.linspace(1, 0, 500), "o", rasterized=True)
    axes.set_title(name)
    return drawn


def places(svg: str) -> list[list[float]]:
    """The numbers of each path."""
    return [[float(number) for number in re.findall(r"-?\d+\.?\d*", path)] for path in re.findall(r' d="([^"]*)"', svg)]


def test_a_picture_is_shorter_and_every_point_of_it_stays_within_a_hundredth() -> None:
    whole = io.StringIO()
    figure("a").savefig(whole, format="svg", dpi=110, metadata={"Date": None})
    svg = as_svg(figure("a"))
    assert len(svg) < 0.9 * len(whole.getvalue())
    before, now = places(whole.getvalue()), places(svg)
    assert list(map(len, before)) == list(map(len, now))
    assert max(abs(np.subtract(*both)).max() for both in zip(before, now, strict=True)) <= 0.005 + 1e-9


@rc_context(STYLE)
def test_words_in_a_picture_stay_as_they_are() -> None:
    name = 'd="1.23456" < 0.123456 & "x"'
    words = [text.text for text in ET.fromstring(as_svg(figure(name))).iter("{http://www.w3.org/2000/svg}text")]
    assert name in words


def test_a_dotted_part_of_a_picture_stays_one() -> None:
    def images(svg: str) -> list[str]:
        return ["".join(data.split()) for data in re.findall(r"base64,([^\"]*)", svg)]

    whole = io.StringIO()
    figure("a").savefig(whole, format="svg", dpi=110)
    assert images(as_svg(figure("a"))) == images(whole.getvalue()) != []
