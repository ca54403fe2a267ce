# SPDX-License-Identifier: GPL-2.0-or-later
"""PINK in front of a DSL line and of a satellite link with many uploads, in labs and in virtual time.

python -m experiments.pink real FOLDER
python -m experiments.pink virtual FOLDER
python -m experiments.pink compare FOLDER

The first two make the runs that FOLDER does not have, and keep of each what `Run` holds, as a line of `real.jsonl` or
`virtual.jsonl`. The third prints both side by side, and whether they do what is required; its exit status is 1 where they do not.

Links, queues and segments are those of M. Casoni et al., "How to avoid TCP congestion without dropping packets: an effective AQM
called PINK", Computer Communications 103 (2017), tables 2 and 3, and segments as the kernel has them by itself.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from experiments.carrying import RunFailed, Time
from experiments.document import markdown
from experiments.outcome import Expectation, Table, number
from experiments.repeated_runs import Metrics, carry, kept, run
from results.fairness import jain
from testbed.views import console

UPLOADS: Final = 32
#: Chance decides nothing here but what a machine does meanwhile.
REPETITIONS: Final[dict[Time, int]] = {"real": 3, "virtual": 1}
#: IPv4's and TCP's headers with timestamps (RFC 791, RFC 9293, RFC 7323), which is all that these links count besides payload.
HEADERS: Final = 52
#: What a run in real time may be late, a twentieth of the shorter round trip.
BELIEVED_LATE_MS: Final = 5
#: Of what headers leave; of the round trip in the idle network.
GOODPUT, ROUND_TRIP = 0.98, 1.05


@dataclass(frozen=True)
class Line:
    """A link with PINK in front of it."""

    name: str
    rate_mbps: float
    delay_ms: float
    #: What is on the way in one round trip.
    queue_kb: int
    #: Payload of a segment, bytes.
    payload: int
    #: Connections that begin together have filled the queue, and it has emptied again.
    warm_up_s: int
    duration_s: int
    #: Jain's index of each second, at least.
    fairness: float

    @property
    def greatest_goodput_mbps(self) -> float:
        """What headers leave."""
        return self.rate_mbps * self.payload / (self.payload + HEADERS)

    @property
    def idle_round_trip_ms(self) -> float:
        """Of a segment and its acknowledgement without any queue."""
        return 2 * self.delay_ms + (self.payload + 2 * HEADERS) * 8 / (self.rate_mbps * 1e3)


LINES: Final = (
    Line("DSL", 10, 50, 125, 1448, warm_up_s=15, duration_s=60, fairness=0.9),
    Line("DSL, segments as published", 10, 50, 125, 988, warm_up_s=15, duration_s=60, fairness=0.9),
    Line("satellite", 4, 350, 350, 1448, warm_up_s=60, duration_s=120, fairness=0.75),
)


@dataclass(frozen=True)
class Series:
    """One run."""

    line: Line
    repetition: int


@dataclass(frozen=True)
class Run:
    """What one run did between its warm-up and the end of its uploads."""

    line: str
    repetition: int
    #: Payload that arrived.
    goodput_mbps: float
    #: Mean of the connections' medians, and of their 95th percentiles.
    round_trip_ms: float
    round_trip_p95_ms: float
    #: The worst of Jain's indices of a second.
    fairness: float
    #: Packets that the queue of the link dropped.
    dropped: int
    verdict: str
    #: Runs of it that were too late to be believed.
    discarded: int


def topology(series: Series) -> dict[str, Any]:
    line = series.line
    upload = {"application": "bulk", "from": "team", "to": "eoc", "parallel": UPLOADS, "variant": "cubic"}
    return {
        "name": f"pink-{LINES.index(line)}-{series.repetition}",
        "seed": 1 + series.repetition,
        "centre": "eoc",
        "hosts": {"team": {"address": "10.20.0.11/24"}, "eoc": {"address": "10.20.0.1/24"}},
        "netboxes": {
            "line": {
                "technology": "link",
                "stations": {"gateway": {}, "exchange": {}},
                "rate": f"{line.rate_mbps:g} Mbit/s",
                "delay": f"{line.delay_ms:g} ms",
                "overhead": "0 B",
                "queue": {"bytes": f"{line.queue_kb} kB"},
                "stages": {"gateway": [{"stage": "pink", "rate": f"{line.rate_mbps:g} Mbit/s", "accounting": "exact"}]},
            }
        },
        "wires": [["team", "line.gateway"], ["line.exchange", "eoc"]],
        "realtime": {"limit": f"{BELIEVED_LATE_MS} ms"},
        "traffic": {"uploads": {**upload, "mss": line.payload + 12, "duration": f"{line.duration_s} s"}},
    }


def lacking(time: Time, have: Iterable[Run]) -> list[Series]:
    """The runs that are not there."""
    done = {(one.line, one.repetition) for one in have}
    wanted = product(LINES, range(REPETITIONS[time]))
    return [Series(line, repetition) for line, repetition in wanted if (line.name, repetition) not in done]


def measured(series: Series, metrics: Metrics, discarded: int) -> Run:
    """Raises RunFailed where it has not all of the uploads."""
    line = series.line
    flows = [flow["seconds"] for flow in metrics["flows"] if flow["kind"] == "bulk" and flow["direction"] == "return"]
    names = {flow["name"] for flow in metrics["flows"]}
    streams = [stream["rtt_ms"] for stream in metrics["tcp"] if stream["direction"] == "return" and stream["flow"] in names]
    if not len(flows) == len(streams) == UPLOADS:
        raise RunFailed(f"{metrics['lab']}: {len(flows)} uploads and {len(streams)} streams in place of {UPLOADS}")
    (queue,) = (queue for queue in metrics["queues"] if queue["station"] == "gateway")
    seconds = [[arrived(flow, second) for flow in flows] for second in range(line.warm_up_s, line.duration_s)]
    return Run(
        line.name,
        series.repetition,
        sum(map(sum, seconds)) / len(seconds) / 1e3,
        statistics.mean(stream["p50"] for stream in streams),
        statistics.mean(stream["p95"] for stream in streams),
        min(jain(second) or 0.0 for second in seconds),
        queue["dropped"]["full"],
        metrics["verdict"]["status"],
        discarded,
    )


def arrived(seconds: dict[str, list[Any]], second: int) -> float:
    """Payload of a flow in this second of the run, kbit/s."""
    goodputs = dict(zip(seconds["second"], seconds["goodput_kbps"], strict=True))
    return goodputs.get(second) or 0.0


@dataclass(frozen=True)
class Figure:
    """What is told of a run, and what is required of each run of a line."""

    name: str
    of: Callable[[Run], float]
    bound: Callable[[Line], float]
    is_least: bool
    digits: int

    def words(self, runs: Sequence[Run]) -> str:
        values = [number(self.of(one), self.digits) for one in runs]
        return min(values, key=float) if len(set(values)) == 1 else f"{min(values, key=float)} to {max(values, key=float)}"

    def required(self, line: Line) -> str:
        return f"{'at least' if self.is_least else 'at most'} {number(self.bound(line), self.digits)}"

    def is_met(self, line: Line, one: Run) -> bool:
        return self.of(one) >= self.bound(line) if self.is_least else self.of(one) <= self.bound(line)


FIGURES: Final = (
    Figure("packets dropped", lambda one: one.dropped, lambda _: 0, False, 0),
    Figure("goodput, Mbit/s", lambda one: one.goodput_mbps, lambda line: GOODPUT * line.greatest_goodput_mbps, True, 3),
    Figure("round trip, median, ms", lambda one: one.round_trip_ms, lambda line: ROUND_TRIP * line.idle_round_trip_ms, False, 1),
    Figure("worst Jain's index of a second", lambda one: one.fairness, lambda line: line.fairness, True, 3),
)


def expectations(time: Time, runs: Sequence[Run]) -> Iterator[Expectation]:
    """Each run has to meet them."""
    for line, figure in product(LINES, FIGURES):
        if these := [one for one in runs if one.line == line.name]:
            is_met = all(figure.is_met(line, one) for one in these)
            yield Expectation(f"{line.name}, {time} time: {figure.name}", figure.required(line), figure.words(these), is_met)


def table(real: Sequence[Run], virtual: Sequence[Run]) -> Table:
    rows = []
    for line in LINES:
        there, here = ([one for one in runs if one.line == line.name] for runs in (real, virtual))
        limits = {
            "goodput, Mbit/s": f"{line.greatest_goodput_mbps:.3f}",
            "round trip, median, ms": f"{line.idle_round_trip_ms:.1f}",
        }
        for figure in FIGURES:
            words = (figure.words(runs) if runs else "–" for runs in (here, there))
            rows.append((line.name, figure.name, limits.get(figure.name, ""), figure.required(line), *words))
    return Table("PINK in both times", ("line", "", "bound", "required", "virtual", "real"), rows)


app = typer.Typer(add_completion=False)


@app.command()
def main(
    what: Annotated[Literal["real", "virtual", "compare"], typer.Argument(help="Which runs, or what came of them.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where what they measured is kept.")],
    most: Annotated[int, typer.Option("--most", min=0, help="At most so many runs.")] = 1000,
) -> None:
    """Make the runs that FOLDER does not have, or print what they measured as Markdown."""
    if what == "compare":
        real, virtual = (kept(folder / f"{time}.jsonl", Run) for time in ("real", "virtual"))
        print(markdown(table(real, virtual)))
        unmet = [one for one in (*expectations("real", real), *expectations("virtual", virtual)) if not one.met]
        for one in unmet:
            print(f"not met: {one.what}: {one.required}, {one.measured}", file=sys.stderr)
        raise typer.Exit(1 if unmet else 0)
    file = folder / f"{what}.jsonl"

    def carried(series: Series) -> list[Run]:
        return [measured(series, *run(topology(series), what, warm_up_s=series.line.warm_up_s))]

    print(f"{carry(file, lacking(what, kept(file, Run)), carried, most)} runs are left")


if __name__ == "__main__":
    sys.exit(console.guarded(app))
