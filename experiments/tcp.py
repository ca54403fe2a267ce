# SPDX-License-Identifier: GPL-2.0-or-later
"""TCP of endpoints beside the kernel's: the same transfers over the same links, in labs and in virtual time.

python -m experiments.tcp real FOLDER
python -m experiments.tcp virtual FOLDER
python -m experiments.tcp compare FOLDER

The first two make the runs that FOLDER does not have, and keep of each transfer what `Cell` holds, as a line of `real.jsonl` or
`virtual.jsonl`. A run in real time that its verdict does not believe is made again, and counted. The third prints
both side by side.
"""

from __future__ import annotations

import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

import typer

from contracts.errors import NetBoxITError
from experiments.carrying import Time
from experiments.confidence import Compared, Finding
from experiments.document import markdown
from experiments.outcome import Table
from experiments.repeated_runs import Metrics, carry, kept, run
from testbed.views import console


class NothingMeasured(NetBoxITError):
    """A transfer of which nothing arrived has neither goodput nor delay."""


#: The kernel's, as `bulk` calls them, and the variant of endpoints beside each: the kernel's reno is ns-3's LinuxReno.
BESIDE: Final = {"newreno": "linux-reno", "cubic": "cubic", "bbr": "bbr"}
RATES_MBPS: Final = (2, 10, 50)
DELAYS_MS: Final = (10, 50, 150)
LOSSES: Final = (0.0, 0.005)
DURATION_S: Final = 30
#: The shortest round trip: few frames are as late as that among thousands, and their order, by which links draw losses, stays.
BELIEVED_LATE_MS: Final = 20
#: Chance decides where frames are lost: those cells are repeated. A repetition has the same seed in both times, by which a link
#: draws which of its frames it loses.
REPETITIONS: Final = {0.0: 1, 0.005: 5}
#: A frame of 1448 bytes of data, as the link counts it, and as it stands in the queue.
FRAME: Final = 1514
#: What the means may differ by.
GOODPUT, QUEUE = 0.10, 0.20


@dataclass(frozen=True)
class Series:
    """One run: the three delays side by side, on links of their own."""

    variant: str
    rate_mbps: int
    loss: float
    repetition: int

    @property
    def name(self) -> str:
        return f"{self.variant[-7:]}-{self.rate_mbps}-{round(self.loss * 1000)}-{self.repetition}"


@dataclass(frozen=True)
class Cell:
    """What one transfer did."""

    variant: str
    rate_mbps: int
    delay_ms: int
    loss: float
    repetition: int
    goodput_kbps: float
    #: Mean time in the link's queue of frames that arrived, ms.
    queue_ms: float
    loss_ratio: float
    verdict: str
    #: Runs of it that were too late to be believed.
    discarded: int

    @property
    def key(self) -> tuple[str, int, int, float]:
        return self.variant, self.rate_mbps, self.delay_ms, self.loss


def all_series(time: Time) -> Iterator[Series]:
    variants = BESIDE if time == "real" else BESIDE.values()
    for loss, rate, variant in product(LOSSES, RATES_MBPS, variants):
        yield from (Series(variant, rate, loss, repetition) for repetition in range(REPETITIONS[loss]))


def lacking(time: Time, have: Iterable[Cell]) -> list[Series]:
    """The series of which no cell is there."""
    done = {(cell.variant, cell.rate_mbps, cell.loss, cell.repetition) for cell in have}
    wanted = all_series(time)
    return [series for series in wanted if (series.variant, series.rate_mbps, series.loss, series.repetition) not in done]


def lines(series: Series) -> dict[str, Any]:
    """A topology: a link for each delay, whose queue holds what is on the way in one round trip."""
    hosts, netboxes, wires, traffic = {}, {}, [], {}
    for at, delay_ms in enumerate(DELAYS_MS):
        source, destination, line = f"s{delay_ms}", f"d{delay_ms}", f"line{delay_ms}"
        hosts[source] = {"address": f"10.0.{at}.1/24"}
        hosts[destination] = {"address": f"10.0.{at}.2/24"}
        in_flight = series.rate_mbps * 1e6 / 8 * 2 * delay_ms / 1e3
        netboxes[line] = {
            "technology": "link",
            "stations": {"a": {"loss": series.loss}, "b": {}},
            "rate": f"{series.rate_mbps} Mbit/s",
            "delay": f"{delay_ms} ms",
            "queue": {"bytes": f"{max(round(in_flight), 10 * FRAME)} B"},
        }
        wires += [[source, f"{line}.a"], [f"{line}.b", destination]]
        traffic[f"file{delay_ms}"] = {
            "application": "bulk",
            "from": source,
            "to": destination,
            "variant": series.variant,
            "duration": f"{DURATION_S} s",
        }
    return {
        "name": series.name,
        "seed": 1 + series.repetition,
        "centre": f"d{DELAYS_MS[0]}",
        "hosts": hosts,
        "netboxes": netboxes,
        "wires": wires,
        "realtime": {"limit": f"{BELIEVED_LATE_MS} ms"},
        "traffic": traffic,
    }


def cells(series: Series, metrics: Metrics, discarded: int) -> Iterator[Cell]:
    """Raises NothingMeasured."""
    for delay_ms in DELAYS_MS:
        name = f"file{delay_ms}"
        transfer = next(found for found in metrics["transfers"] if found["traffic"] == name)
        flow = next(found for found in metrics["flows"] if found["name"] == name)
        delay = flow["one_way_delay_ms"]
        if delay is None or transfer["goodput_kbps"] is None:
            raise NothingMeasured(f"{series.name}: nothing arrived of {name}; look at its run")
        yield Cell(
            series.variant,
            series.rate_mbps,
            delay_ms,
            series.loss,
            series.repetition,
            transfer["goodput_kbps"],
            delay["mean"] - delay_ms - FRAME * 8 / (series.rate_mbps * 1e3),
            flow["loss_ratio"] or 0.0,
            metrics["verdict"]["status"],
            discarded,
        )


def ran(series: Series, time: Time) -> list[Cell]:
    """Raises RunFailed and NothingMeasured."""
    return list(cells(series, *run(lines(series), time)))


def compared(real: Sequence[Cell], virtual: Sequence[Cell]) -> Iterator[Comparison]:
    """Of the cells that are in both times, those of the same seed side by side."""
    for variant, loss, rate, delay_ms in product(BESIDE, LOSSES, RATES_MBPS, DELAYS_MS):
        there = {cell.repetition: cell for cell in real if cell.key == (variant, rate, delay_ms, loss)}
        here = {cell.repetition: cell for cell in virtual if cell.key == (BESIDE[variant], rate, delay_ms, loss)}
        if pairs := sorted(there.keys() & here.keys()):
            yield Comparison([there[pair] for pair in pairs], [here[pair] for pair in pairs])


@dataclass(frozen=True)
class Comparison:
    """A cell in both times, in pairs."""

    kernels: Sequence[Cell]
    endpoints: Sequence[Cell]

    @property
    def goodput(self) -> Compared:
        """In Mbit/s."""
        return self._of(lambda cell: cell.goodput_kbps / 1e3, GOODPUT)

    @property
    def queue(self) -> Compared:
        """In ms."""
        return self._of(lambda cell: cell.queue_ms, QUEUE)

    def _of(self, figure: Callable[[Cell], float], share: float) -> Compared:
        kernels, endpoints = ([figure(cell) for cell in cells] for cells in (self.kernels, self.endpoints))
        return Compared(kernels, endpoints, share * statistics.mean(kernels), exact=self.kernels[0].loss == 0)


def table(comparisons: Iterable[Comparison]) -> Table:
    rows = []
    for comparison in comparisons:
        kernels, endpoints = comparison.kernels, comparison.endpoints
        cell = endpoints[0]
        believed = sum(cell.verdict == "valid" for cell in kernels)
        rows.append(
            (
                *(cell.variant, f"{cell.rate_mbps}", f"{cell.delay_ms}", f"{100 * cell.loss:.1f} %"),
                *(*comparison.goodput.columns(2), *comparison.queue.columns(1)),
                f"{believed} of {len(kernels)}",
            )
        )
    headers = (
        *("variant", "Mbit/s", "ms", "loss", "goodput, Mbit/s: kernel", "endpoints", "apart", "queue, ms: kernel", "endpoints"),
        *("apart", "pairs, kernel's run believed"),
    )
    return Table("Endpoints beside the kernel", headers, rows)


def summary(comparisons: Sequence[Comparison]) -> Table:
    """How many cells of each variant agree."""
    rows = []
    for variant, loss in product(BESIDE.values(), LOSSES):
        these = [pair for pair in comparisons if (pair.endpoints[0].variant, pair.endpoints[0].loss) == (variant, loss)]
        columns = (counted(pair.goodput.finding for pair in these), counted(pair.queue.finding for pair in these))
        rows.append((f"{variant} with{'' if loss else 'out'} losses", *columns))
    return Table("How many agree", ("", "goodput", "queue"), rows)


def counted(findings: Iterable[Finding]) -> str:
    count = Counter(findings)
    return ", ".join(f"{count[finding]} {finding}" for finding in get_args(Finding) if count[finding])


app = typer.Typer(add_completion=False)


@app.command()
def main(
    what: Annotated[Literal["real", "virtual", "compare"], typer.Argument(help="Which runs, or what came of them.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where what they measured is kept.")],
    most: Annotated[int, typer.Option("--most", min=0, help="At most so many runs.")] = 1000,
) -> None:
    """Make the runs that FOLDER does not have, or print what they measured as Markdown."""
    if what == "compare":
        comparisons = list(compared(*(kept(folder / f"{time}.jsonl", Cell) for time in ("real", "virtual"))))
        print(markdown(summary(comparisons)), markdown(table(comparisons)), sep="\n\n")
    else:
        file = folder / f"{what}.jsonl"
        left = carry(file, lacking(what, kept(file, Cell)), lambda series: ran(series, what), most)
        print(f"{left} runs are left")


if __name__ == "__main__":
    sys.exit(console.guarded(app))
