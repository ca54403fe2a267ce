# SPDX-License-Identifier: GPL-2.0-or-later
"""Page sets: which pages a user gets from a web server one after another, of what sizes, and how long he reads them.

Two models that were published draw them: sizes as Mah measured them, or as the evaluation methodology of IEEE 802.16m has them.
"""

from __future__ import annotations

import bisect
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from applications.virtual_traffic import WebPage

Model = Literal["mah", "802.16m"]


@dataclass(frozen=True)
class Quantiles:
    """A distribution by some of its quantiles, between which the logarithm of a value grows evenly with the probability."""

    probabilities: tuple[float, ...]
    values: tuple[float, ...]

    def draw(self, generator: random.Random) -> float:
        at = generator.random()
        right = bisect.bisect_left(self.probabilities, at, 1, len(self.probabilities) - 1)
        (below, above), (least, most) = self.probabilities[right - 1 : right + 1], self.values[right - 1 : right + 1]
        return math.exp(math.log(least) + (at - below) / (above - below) * (math.log(most) - math.log(least)))


#: B. A. Mah, "An Empirical Model of HTTP Network Traffic", INFOCOM 1997, by the tables that ns-2 2.35 has of its traces
#: (tcl/http/data/HttpRequestLength.cdf and HttpReplyLength.cdf, 4100 samples each). Primary requests are short, secondary ones
#: too; those of the upper tenth carry what a user has filled in.
REQUEST_BYTES: Final = Quantiles(
    (0.0, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99, 1.0),
    (100, 118, 148, 198, 209, 220, 231, 246, 269, 291, 315, 1057, 1079, 1134, 1373),
)
#: Heavy tailed: one reply in a thousand has more than 0.6 MB.
REPLY_BYTES: Final = Quantiles(
    (0.0, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1.0),
    (60, 83, 110, 412, 830, 1434, 2112, 2811, 3886, 6036, 8188, 12581, 23332, 47758, 67379, 103200, 649354, 1636039),
)
#: The same, HttpConnections.cdf (1444 samples): how many objects a page has besides its document, and the share of pages that
#: have no more.
_OBJECTS: Final = (
    (1, 0.512), (2, 0.721), (3, 0.796), (4, 0.832), (5, 0.882), (6, 0.907), (9, 0.950), (10, 0.962), (16, 0.988), (20, 0.996),
    (65, 1.0),
)  # fmt: skip

#: IEEE 802.16m-08/004r5, "IEEE 802.16m Evaluation Methodology Document", 10.1 (also 3GPP2 C.R1002): lognormal sizes, the mean and
#: deviation of the logarithm and bounds in bytes, out of which a size is drawn again; a number of objects of
#: a Pareto distribution that is cut at its greatest value, less its least one.
_MAIN: Final = (8.37, 1.37, 100, 2_000_000)
_EMBEDDED: Final = (6.17, 2.36, 50, 2_000_000)
_NUMBER_SHAPE, _NUMBER_LEAST, _NUMBER_MOST = 1.1, 2, 55
_PARSE_S: Final = 0.13
_REQUEST: Final = 350
#: The mean time for which a page is read, also with Mah's sizes: ns-2's tables have none.
READING_S: Final = 30.0


def drawn(model: Model, seed: str, *, reading_s: float, most: int, lasting_s: float = math.inf) -> list[WebPage]:
    """So many pages, or fewer where reading them takes longer than `lasting_s`.

    `reading_s` is the mean of exponential times; 0: none.
    """
    generator = random.Random(seed)
    pages: list[WebPage] = []
    read_s = 0.0
    while len(pages) < most and read_s <= lasting_s:
        pages.append(page := _PAGES[model](generator, reading_s))
        read_s += page["think_s"]
    return pages


def _of_mah(generator: random.Random, reading_s: float) -> WebPage:
    at = generator.random()
    below, least = 0.0, 0
    embedded = _OBJECTS[-1][0]
    for most, share in _OBJECTS:
        if at <= share:
            # Within a step of the table that is several numbers wide, each is as frequent.
            embedded = least + math.ceil((at - below) / (share - below) * (most - least)) or least + 1
            break
        below, least = share, most
    number = 1 + embedded
    return {
        "objects": [max(1, round(REPLY_BYTES.draw(generator))) for _ in range(number)],
        "requests": [round(REQUEST_BYTES.draw(generator)) for _ in range(number)],
        "parse_s": 0.0,
        "think_s": _exponential(generator, reading_s),
    }


def _of_80216m(generator: random.Random, reading_s: float) -> WebPage:
    number = round(min(_NUMBER_LEAST * generator.paretovariate(_NUMBER_SHAPE), _NUMBER_MOST))
    sizes = [_lognormal(generator, *_MAIN)] + [_lognormal(generator, *_EMBEDDED) for _ in range(number - _NUMBER_LEAST)]
    return {
        "objects": sizes,
        "requests": [_REQUEST] * len(sizes),
        "parse_s": _exponential(generator, _PARSE_S),
        "think_s": _exponential(generator, reading_s),
    }


_PAGES: Final[dict[Model, Callable[[random.Random, float], WebPage]]] = {"mah": _of_mah, "802.16m": _of_80216m}


def _lognormal(generator: random.Random, mean: float, deviation: float, least: int, most: int) -> int:
    """Drawn again where it is out of bounds."""
    while not least <= (value := round(generator.lognormvariate(mean, deviation))) <= most:
        pass
    return value


def _exponential(generator: random.Random, mean_s: float) -> float:
    """To the microsecond."""
    return round(generator.expovariate(1 / mean_s), 6) if mean_s else 0.0
