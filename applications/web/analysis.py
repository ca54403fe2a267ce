# SPDX-License-Identifier: GPL-2.0-or-later
"""How long pages took to load, by what the client wrote of each object; the same lines in both times."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from typing_extensions import TypedDict

from applications.virtual_traffic import WebPage
from applications.web.application import WebFacts
from contracts.flow import ApplicationRecord, Flow
from results.application_analysis import ApplicationAnalysis, Evidence, Findings, KeyFigure, MeasuredValues
from results.measure import Measure

#: What lies beyond is of no run: a day, and a few seconds.
_LONGEST_S: Final = 90_000.0
#: The longest file that is read: what a client in virtual time writes at most, and some more.
_LONGEST_FILE: Final = 128 << 20


class Times(TypedDict):
    """Of a set of times, in seconds; null of none."""

    mean: float | None
    p50: float | None
    p95: float | None
    max: float | None


#: Reading pages of a web server (`web`).
Visit = TypedDict(
    "Visit",
    {
        "traffic": str,
        "from": str,
        "to": str,
        "variant": str,
        "persistent": bool,
        #: Pages of which every object came.
        "loaded": int,
        #: Pages of which an object did not come, or not whole.
        "failed": int,
        #: A page that was on its way when the traffic ended.
        "aborted": int,
        #: From when a page's document is asked for until all of it is there, of the loaded pages.
        "page_load_s": Times,
        #: From when an object is asked for: until the first byte of the reply, until the last one. A new connection is in them.
        "first_byte_s": Times,
        "object_s": Times,
        #: Objects that came, and bytes of them.
        "objects": int,
        "bytes": int,
        #: Of the loaded pages: their bytes by the time of their loading.
        "goodput_kbps": float | None,
        #: TCP connections that were opened.
        "connections": int,
        #: Load time of each loaded page by its number, from 0.
        "pages": list[tuple[int, float]],
    },
)


class VisitsPart(TypedDict):
    """What the template of the report is given."""

    visits: Sequence[Visit]


@dataclass(frozen=True)
class Object:
    """A line of the client's: one object that it asked for. Times count from the traffic's start."""

    page: int
    number: int
    asked_s: float
    first_byte_s: float | None
    ended_s: float | None
    size: int
    connection: int
    failure: str | None


def judge(evidence: Evidence) -> Findings:
    """Raises DamagedRun."""
    visits = [_visit(evidence, record) for record in evidence.records]
    return Findings(
        visits,
        key_figures=[figure for visit in visits for figure in _key_figures(visit)],
        drawn=partial(VisitsPart, visits=visits),
        measured=[
            _measured(pages, visit)
            for record, visit in zip(evidence.records, visits, strict=True)
            for pages in record.flows[:1]  # the other one is that of requests
        ],
    )


def objects(file: Path) -> Iterator[Object]:
    """What a client wrote; lines that no client writes are left out, as another program of its node may have written them."""
    if not file.is_file():
        return
    with file.open(errors="replace") as lines:
        for line in lines.read(_LONGEST_FILE).splitlines():
            try:
                found = _object(json.loads(line))
            except (ValueError, RecursionError):
                continue
            if found is not None:
                yield found


def _object(line: Any) -> Object | None:
    if not isinstance(line, Mapping):
        return None
    whole = [line.get(key) for key in ("page", "object", "bytes", "connection")]
    times = [line.get(key) for key in ("asked_s", "first_byte_s", "ended_s")]
    if not all(isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 for value in whole):
        return None
    if not all(_is_time(value) for value in times[:1]) or not all(value is None or _is_time(value) for value in times[1:]):
        return None
    asked_s, first_s, ended_s = times
    if (first_s is not None and first_s < asked_s) or (ended_s is not None and ended_s < (first_s or asked_s)):
        return None
    failure = line.get("failure")
    return Object(whole[0], whole[1], asked_s, first_s, ended_s, whole[2], whole[3], None if failure is None else str(failure))  # type: ignore[arg-type]


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _LONGEST_S


def _visit(evidence: Evidence, record: ApplicationRecord) -> Visit:
    entry, facts = evidence.planned[record.name], evidence.facts(record, WebFacts)
    asked = list(objects(evidence.run / facts["objects"]))
    by_page: dict[int, list[Object]] = defaultdict(list)
    for one in asked:
        by_page[one.page].append(one)
    loaded, failed, aborted, loaded_bytes = list[tuple[int, float]](), 0, 0, 0
    for number, own in sorted(by_page.items()):
        wanted = facts["pages"][number % len(facts["pages"])]
        load_s = _load_s(own, wanted)
        if load_s is not None:
            loaded.append((number, load_s))
            loaded_bytes += sum(wanted["objects"])
        elif any(one.failure is not None and one.ended_s is not None for one in own):
            failed += 1
        else:
            aborted += 1
    came = [one for one in asked if one.failure is None and one.ended_s is not None]
    took_s = sum(load_s for _, load_s in loaded)
    return {
        "traffic": record.name,
        "from": entry.source,
        "to": entry.destination,
        "variant": facts["variant"],
        "persistent": facts["persistent"],
        "loaded": len(loaded),
        "failed": failed,
        "aborted": aborted,
        "page_load_s": _times([load_s for _, load_s in loaded]),
        "first_byte_s": _times([one.first_byte_s - one.asked_s for one in came if one.first_byte_s is not None]),
        "object_s": _times([one.ended_s - one.asked_s for one in came if one.ended_s is not None]),
        "objects": len(came),
        "bytes": sum(one.size for one in came),
        "goodput_kbps": loaded_bytes * 8e-3 / took_s if took_s else None,
        "connections": len({one.connection for one in asked}),
        "pages": loaded,
    }


def _load_s(own: Sequence[Object], wanted: WebPage) -> float | None:
    """None where not all of the page came whole."""
    sizes = {one.number: one.size for one in own if one.failure is None and one.ended_s is not None}
    if sizes != dict(enumerate(wanted["objects"])):
        return None
    return max(one.ended_s or 0.0 for one in own) - min(one.asked_s for one in own)


def _times(values: Sequence[float]) -> Times:
    """Percentiles by the nearest rank: each is a time that was measured."""
    if not values:
        return {"mean": None, "p50": None, "p95": None, "max": None}
    ordered = sorted(values)

    def rank(share: float) -> float:
        return ordered[max(0, math.ceil(share * len(ordered)) - 1)]

    return {"mean": math.fsum(ordered) / len(ordered), "p50": rank(0.5), "p95": rank(0.95), "max": ordered[-1]}


def _measured(pages: Flow, visit: Visit) -> MeasuredValues:
    values = {
        **{f"page_load_s_{statistic}": value for statistic, value in _told(visit["page_load_s"])},
        **{f"first_byte_s_{statistic}": value for statistic, value in _told(visit["first_byte_s"])},
        "pages_loaded": visit["loaded"],
        "pages_failed": visit["failed"],
        "pages_aborted": visit["aborted"],
        "page_goodput_kbps": visit["goodput_kbps"],
    }
    return MeasuredValues(values, visit["traffic"], pages.name, pages.direction)


def _told(times: Times) -> Iterator[tuple[str, float | None]]:
    yield from (("mean", times["mean"]), ("p50", times["p50"]), ("p95", times["p95"]), ("max", times["max"]))


def _key_figures(visit: Visit) -> Iterator[KeyFigure]:
    if (mean_s := visit["page_load_s"]["mean"]) is not None:
        yield KeyFigure(
            flow=f"{visit['traffic']}.pages",
            direction=None,
            label="page load",
            value=f"{mean_s:.2f} s",
            note=f"mean of {visit['loaded']} pages",
        )


ANALYSIS: Final = ApplicationAnalysis(
    key="visits",
    entry=Visit,
    judge=judge,
    template=Path(__file__).with_name("report.html.j2"),
    beside_flows=True,
    files=(("traffic/*/objects.jsonl", "times of each object that a web client got"),),
    measures=(
        *(
            Measure(f"{name}_{statistic}", "s", f"{what}, {words}", "lower")
            for name, what in (("page_load_s", "load time of a page"), ("first_byte_s", "until the first byte of an object"))
            for statistic, words in (("mean", "mean"), ("p50", "median"), ("p95", "95th percentile"), ("max", "most"))
        ),
        Measure("pages_loaded", "", "pages of which every object came", "higher"),
        Measure("pages_failed", "", "pages of which an object did not come, or not whole", "lower"),
        Measure("pages_aborted", "", "pages that were on their way when the traffic ended"),
        Measure("page_goodput_kbps", "kbit/s", "bytes of the loaded pages by the time of their loading", "higher"),
    ),
)
