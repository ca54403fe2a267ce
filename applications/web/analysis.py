# SPDX-License-Identifier: GPL-2.0-or-later
"""How long pages took to load, by what the client recorded of each object."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from typing_extensions import TypedDict

from applications import records
from applications.virtual_traffic import WebPage
from applications.web.application import WebFacts
from applications.web.record import RECORD_FILE, ObjectRecord
from contracts.flow import ApplicationRecord, Flow
from contracts.run_files import DamagedRun
from results.application_analysis import ApplicationAnalysis, Evidence, Findings, KeyFigure, MeasuredValues
from results.measure import Measure


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


def _objects(evidence: Evidence, record: ApplicationRecord) -> list[ObjectRecord]:
    facts, client = evidence.facts(record, WebFacts), evidence.planned[record.name].destination
    own = records.read(evidence, record, facts["record"], client, ObjectRecord)
    for one in own:
        times = [at for at in (one["asked_s"], one["first_byte_s"], one["ended_s"]) if at is not None]
        if times != sorted(times):
            file = records.place(evidence, record, facts["record"], client)
            raise DamagedRun(file, f"an object of page {one['page']} came before it was asked for")
    return own


def _visit(evidence: Evidence, record: ApplicationRecord) -> Visit:
    entry, facts = evidence.planned[record.name], evidence.facts(record, WebFacts)
    by_page: dict[int, list[ObjectRecord]] = defaultdict(list)
    for one in _objects(evidence, record):
        by_page[one["page"]].append(one)
    # A page that was asked for in the warm-up is left out, with all of its objects.
    from_s = evidence.warm_up_of(record)
    by_page = {number: own for number, own in by_page.items() if min(one["asked_s"] for one in own) >= from_s}
    asked = [one for own in by_page.values() for one in own]
    loaded, failed, aborted, loaded_bytes = list[tuple[int, float]](), 0, 0, 0
    for number, own in sorted(by_page.items()):
        wanted = facts["pages"][number % len(facts["pages"])]
        load_s = _load_s(own, wanted)
        if load_s is not None:
            loaded.append((number, load_s))
            loaded_bytes += sum(wanted["objects"])
        elif any(one["failure"] is not None and one["ended_s"] is not None for one in own):
            failed += 1
        else:
            aborted += 1
    came = [one for one in asked if one["failure"] is None and one["ended_s"] is not None]
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
        "first_byte_s": _times([one["first_byte_s"] - one["asked_s"] for one in came if one["first_byte_s"] is not None]),
        "object_s": _times([one["ended_s"] - one["asked_s"] for one in came if one["ended_s"] is not None]),
        "objects": len(came),
        "bytes": sum(one["bytes"] for one in came),
        "goodput_kbps": loaded_bytes * 8e-3 / took_s if took_s else None,
        "connections": len({one["connection"] for one in asked}),
        "pages": loaded,
    }


def _load_s(own: Sequence[ObjectRecord], wanted: WebPage) -> float | None:
    """None where not all of the page came whole."""
    sizes = {one["object"]: one["bytes"] for one in own if one["failure"] is None and one["ended_s"] is not None}
    if sizes != dict(enumerate(wanted["objects"])):
        return None
    return max(one["ended_s"] or 0.0 for one in own) - min(one["asked_s"] for one in own)


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
    files=((f"traffic/*/{RECORD_FILE}", "times of each object that a web client got"),),
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
