# SPDX-License-Identifier: GPL-2.0-or-later
"""Files by the TCP of 1999 over one wireless link and over two, with each scheme (Xylomenos 1999, 4.3.1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from netboxes.multiservice.profiles import ProfileName
from reproductions.campaign_experiment import CampaignExperiment, CampaignsExperiment
from reproductions.cells import Cells
from reproductions.comparison import PERCENT, Comparison, Unit, Within, between, falls, near
from reproductions.services.conferences import LEVELS
from reproductions.services.independent import beside_files
from reproductions.services.plots import ARRIVED_AGAIN, FILE, LINK_GOODPUT, Plot, Quantity
from results.intervals import Interval

#: Of what arrives, a share that counts as none.
_HARDLY = 0.01
_WORDS = {"none": "Default", "go-back-n": "GBN", "sr-m2": "SR/M2", "rlp": "RLP", "snoop": "Snoop"}
_LEAST_ERRORS = (
    "an independent simulation of the source's links and TCP, with its whole files, has more than the source at the least "
    "errors as well: 28 % over one link, 198 % over two. Why we do not know"
)
_LEAST_GAIN = "an independent simulation with whole files has 6 %. Why we do not know"
_SNOOP = (
    "in an independent simulation Snoop is the best up to level 2 as well: 7.9 kbit/s at level 3 against 8.5 by SR/M2. Why we "
    "do not know"
)
_SHORTER_HEADERS = (
    "RLP has 0.3 % more, as in an independent simulation: its headers are a byte shorter, of 250. From level 3 on SR/M2 has more"
)
_SNOOP_DIFFERS = (
    "Snoop has 21 % more over one cellular link at level 4, and over two 12 and 40 % less at levels 3 and 4. Why is not "
    "understood"
)
_FEW_SEGMENTS = "over two links so few segments arrive at the most errors that six runs know the means to {share} %"
_SNOOPS_GOODPUT = "in an independent simulation Snoop's is above at all levels as well: 98.0 to 93.3 % against 97.8 to 91.2 %"
_OVER_TWO_CELLULAR = f"{_SNOOP_DIFFERS}. Of Default {_FEW_SEGMENTS.format(share=30)}"
_OVER_TWO_WLAN = _FEW_SEGMENTS.format(share=20)
_MANY_FADES = "Default has 10.3 kbit/s, which six runs know to 22 %; an independent simulation has 7.1. Why is not understood"
#: By topology and link, why some throughputs are not the independent simulation's.
_ELSEWHERE = {
    "WAN1": {"cellular": "Snoop has 23 % more at level 4, as over LAN1. Why is not understood"},
    "LAN2": {
        "cellular": "Snoop has 34 % less at level 4, as over WAN2. Why is not understood. Default has 0.15 kbit/s, which six "
        "runs know to 41 %; an independent simulation has 0.18",
        "pcs": "Default has 13.3 kbit/s at level 4, which six runs know to 15 %; an independent simulation has 9.7. Why is not "
        "understood. Snoop has 10 % more at level 3, where runs of that simulation deviate by 14 %",
        "wlan": f"Default has 39 kbit/s. {_FEW_SEGMENTS.format(share=22).capitalize()}",
    },
}


def _plot(cells: Cells, figure: str, link: ProfileName, topology: str, quantity: Quantity = FILE) -> Plot:
    return Plot(cells, figure, link, topology, quantity, _WORDS)


def _one_link(cells: Cells) -> Iterator[Comparison]:
    pcs, wlan = _plot(cells, "F4.5", "pcs", "LAN1"), _plot(cells, "F4.8", "wlan", "LAN1")
    yield pcs.gain("sr-m2", 1, 0.22)
    yield pcs.gain("sr-m2", 4, 0.44)
    for level in LEVELS:
        yield pcs.order(level, "sr-m2", "snoop")
        yield pcs.order(level, "rlp", "snoop")
    yield pcs.same("rlp", "sr-m2", 1, 0.05)
    for level in LEVELS:
        yield pcs.order(level, "sr-m2", "rlp", reason=_SHORTER_HEADERS if level <= 2 else "")
    for scheme in ("sr-m2", "rlp"):
        yield wlan.gain(scheme, 1, 0.15, _LEAST_ERRORS)
        yield wlan.gain(scheme, 4, 9.7)
    for level in LEVELS:
        yield wlan.same("sr-m2", "rlp", level, 0.05)
        yield wlan.order(level, "snoop", "go-back-n")
        yield wlan.order(level, "rlp", "sr-m2")
    for level in LEVELS[:-1]:
        yield wlan.same("snoop", "rlp", level, 0.1)
    yield wlan.order(4, "rlp", "snoop")
    for plot in (pcs, wlan):
        yield from _hardly_repeated_twice(plot)
    yield beside_files(pcs)
    yield beside_files(wlan)


def _goodput(cells: Cells) -> Iterator[Comparison]:
    pcs, wlan = _plot(cells, "F4.7", "pcs", "LAN1", LINK_GOODPUT), _plot(cells, "F4.10", "wlan", "LAN1", LINK_GOODPUT)
    for level in LEVELS:
        for scheme in ("sr-m2", "rlp", "snoop"):
            yield pcs.same(scheme, "none", level, 0.1, "all close")
            yield wlan.same(scheme, "none", level, 0.05, "all equal")
        yield wlan.order(level, "sr-m2", "go-back-n")
    yield _counted(
        pcs, "RLP above Snoop", "at some levels", (1, 4), lambda level: _above(pcs, "rlp", "snoop", level), _SNOOPS_GOODPUT
    )


def _two_links(cells: Cells) -> Iterator[Comparison]:
    pcs, wlan = _plot(cells, "F4.6", "pcs", "WAN2"), _plot(cells, "F4.9", "wlan", "WAN2")
    yield pcs.gain("sr-m2", 1, 1.0)
    yield pcs.gain("sr-m2", 4, 4.35, _MANY_FADES)
    default = cells.derived(FILE.measures, lambda kbps: kbps / 64, **pcs.at("none", 1))
    yield near("F4.6, PCS/WAN2: share of the bandwidth at level 1, Default", 0.5, default, Within(share=0.2), PERCENT)
    for level in LEVELS:
        yield pcs.order(level, "sr-m2", "snoop", "none")
    yield pcs.order(4, "sr-m2", "rlp")
    for scheme in ("sr-m2", "rlp"):
        yield wlan.gain(scheme, 1, 1.7, _LEAST_ERRORS if scheme == "rlp" else "")
        yield wlan.gain(scheme, 4, 29.0)
    for level in LEVELS:
        yield wlan.same("sr-m2", "rlp", level, 0.05)
        yield wlan.order(level, "sr-m2", "snoop", "none")
    yield beside_files(pcs, _MANY_FADES)
    yield beside_files(wlan, _OVER_TWO_WLAN)


def _cellular(cells: Mapping[str, Cells]) -> Iterator[Comparison]:
    one, two = (_plot(cells[topology], figure, "cellular", topology) for topology, figure in (("LAN1", "F4.2"), ("WAN2", "F4.3")))
    yield one.gain("rlp", 1, 0.12, _LEAST_GAIN)
    yield one.gain("rlp", 4, 3.05)
    for level in LEVELS[:-1]:
        yield one.best(level, "snoop", _SNOOP if level == 3 else "")
    yield one.order(4, "sr-m2", "snoop")
    yield one.order(1, "rlp", "sr-m2")
    yield one.order(4, "sr-m2", "rlp")
    yield _counted(one, "GBN below Default", "at two levels", (2, 2), lambda level: _above(one, "none", "go-back-n", level))
    repeating = replace(one, words={"sr": "SR", "sr-m1": "SR/M1", "sr-m2": "SR/M2"})
    for level in LEVELS:
        yield repeating.order(level, "sr-m2", "sr-m1", "sr")
    for scheme, most in (("sr-m2", 30.0), ("rlp", 23.0)):
        yield two.gain(scheme, 1, 1.4)
        yield two.gain(scheme, 4, most)
    for level in LEVELS:
        half = cells["LAN1"].derived(FILE.measures, lambda kbps: kbps / 2, **one.at("none", level))
        ours = [("half of LAN1", half), ("WAN2", two.value("none", level))]
        yield falls(f"F4.3, Cellular/WAN2: level {level}, Default below half of LAN1", "in this order", ours, FILE.unit)
        yield two.order(level, "go-back-n", "snoop", "none")
        yield from (two.order(level, scheme, "snoop") for scheme in ("sr-m2", "rlp"))
    goodput = _plot(cells["LAN1"], "F4.4", "cellular", "LAN1", LINK_GOODPUT)
    for level in LEVELS:
        yield goodput.same("snoop", "rlp", level, 0.02, "about equal")
        yield goodput.order(level, "sr-m2", "go-back-n")
    yield goodput.same("sr-m2", "rlp", 1, 0.05, "close")
    yield goodput.order(4, "rlp", "sr-m2")
    yield from _hardly_repeated_twice(one)
    yield beside_files(one, _SNOOP_DIFFERS)
    yield beside_files(two, _OVER_TWO_CELLULAR)


def _elsewhere(cells: Mapping[str, Cells]) -> Iterator[Comparison]:
    """Of the topologies that the source does not plot: WAN1 as LAN1, for Cellular with larger gains, and LAN2 as WAN2."""
    of_link: dict[str, dict[ProfileName, Plot]] = {
        topology: {link: _plot(cells[topology], "4.3.1", link, topology) for link in ("cellular", "pcs", "wlan")}
        for topology in ("WAN1", "LAN2")
    }
    wan1, lan2 = of_link["WAN1"], of_link["LAN2"]
    lan1 = _plot(cells["LAN1"], "4.3.1", "cellular", "LAN1")
    for scheme in ("sr-m2", "rlp"):
        for level in LEVELS:
            (measure,) = FILE.measures
            gains = [
                (topology, plot.cells.change_of_means(measure, plot.at(scheme, level), plot.at("none", level)))
                for topology, plot in (("WAN1", wan1["cellular"]), ("LAN1", lan1))
            ]
            what = f"4.3.1, Cellular: gain by {_WORDS[scheme]} at level {level}, WAN1 above LAN1"
            yield falls(what, "larger gains", gains, PERCENT)
    for plot in wan1.values():
        for level in LEVELS:
            yield plot.order(level, "sr-m2", "none")
            yield plot.order(level, "rlp", "none")
    for plot in lan2.values():
        for level in LEVELS:
            yield plot.order(level, "sr-m2", "snoop", "none")
            yield plot.order(level, "rlp", "snoop")
    for topology, plots in of_link.items():
        for link, plot in plots.items():
            yield beside_files(plot, _ELSEWHERE[topology].get(link, ""))


def _hardly_repeated_twice(plot: Plot) -> Iterator[Comparison]:
    """TCP sends again what the link layer still repeats at the most errors alone (4.4.1)."""
    again = replace(plot, quantity=ARRIVED_AGAIN)
    for scheme in ("sr-m2", "rlp"):
        most = max(LEVELS[:-1], key=lambda level: again.value(scheme, level).mean)
        what = plot.what(f"bytes that TCP receives again, {plot.words[scheme]}, most of levels 1 to 3")
        yield between(what, "at level 4 alone", again.value(scheme, most), (0.0, _HARDLY), PERCENT)


def _above(plot: Plot, scheme: str, other: str, level: int) -> bool:
    return plot.value(scheme, level).mean > plot.value(other, level).mean


def _counted(
    plot: Plot, words: str, published: str, bounds: tuple[float, float], is_so: Callable[[int], bool], reason: str = ""
) -> Comparison:
    """At how many levels something is so."""
    count = Interval(1, sum(is_so(level) for level in LEVELS), math.inf)
    return between(plot.what(f"levels with {words}"), published, count, bounds, Unit(digits=0), reason)


_JUDGED = (
    "TCP is `reno-1999`, a segment is a frame. The source's plots have no numbers that can be read: its orderings are judged by "
    "the means, and each end of a range of gains at the least and the most errors, within 25 %."
)
_SHORT = (
    "The source sends files of 10 MB (PCS) and 100 MB (WLAN), we for 2000 and 300 s: 2 to 15 MB, and 1 to 73 MB. *Nearly equal* "
    "is within 5 %, and of Snoop within 10 %. Of GBN on the PCS link the source's text says nothing. Bytes that TCP receives "
    "again are hardly any up to 1 %."
)

FILES_OVER_ONE = CampaignExperiment(
    id="msll F4.5, F4.8",
    title="files over one wireless link",
    text=f"LAN1: a LAN and a wireless link. {_JUDGED} {_SHORT}",
    campaign=Path(__file__).with_name("files-lan1.yaml"),
    compare=_one_link,
    full_repetitions=30,
)
GOODPUT = CampaignExperiment(
    id="msll F4.7, F4.10",
    title="goodput of a link layer that carries files",
    text="The file's bytes by all that the link layer sent in their direction, in the runs of F4.5 and F4.8; *close* is within "
    "10 %, *equal* within 5 %, by the means.",
    campaign=Path(__file__).with_name("files-lan1.yaml"),
    compare=_goodput,
    full_repetitions=30,
)
FILES_OVER_TWO = CampaignExperiment(
    id="msll F4.6, F4.9",
    title="files over two wireless links",
    text=f"WAN2: a WAN between two wireless links. {_JUDGED} {_SHORT}",
    campaign=Path(__file__).with_name("files-wan2.yaml"),
    compare=_two_links,
    full_repetitions=30,
)
FILES_CELLULAR = CampaignsExperiment(
    id="msll F4.2-4.4",
    title="files over one cellular link and over two",
    text=f"LAN1 and WAN2 with links of 14.4 kbit/s and frames of 50 bytes. {_JUDGED} The source sends files of 2 MB, which takes "
    "from 19 minutes to 30 hours, we for 3000 s. Goodput is the file's bytes by all that the link layer sent in their direction; "
    "it is *about equal* within 2 %, *close* within 5 %.",
    campaigns={topology: Path(__file__).with_name(f"files-cellular-{topology.lower()}.yaml") for topology in ("LAN1", "WAN2")},
    compare=_cellular,
    full_repetitions=30,
)
FILES_ELSEWHERE = CampaignsExperiment(
    id="msll 4.3.1",
    title="files over topologies that the source does not plot",
    text="WAN1: a WAN and a wireless link; LAN2: two wireless links and a LAN between them. The source says that they are like "
    "LAN1, with larger gains on the cellular link, and like WAN2. Files go for 1500, 1000 and 300 s (LAN1's for 3000 s) on the "
    "cellular and PCS links and the WLAN.",
    campaigns={
        "LAN1": Path(__file__).with_name("files-cellular-lan1.yaml"),
        "WAN1": Path(__file__).with_name("files-wan1.yaml"),
        "LAN2": Path(__file__).with_name("files-lan2.yaml"),
    },
    compare=_elsewhere,
    full_repetitions=30,
    is_only_full=True,
)
