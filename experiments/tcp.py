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

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer
from ruamel.yaml import YAML

from contracts.errors import NetBoxITError
from contracts.installation import CHECKOUT
from experiments.carrying import RunFailed
from experiments.document import markdown
from experiments.outcome import Table, number
from testbed.views import console


class NothingMeasured(NetBoxITError):
    """A transfer of which nothing arrived has neither goodput nor delay."""


#: The kernel's, as `bulk` calls them, and what of endpoints is set beside each: the kernel's reno is ns-3's LinuxReno.
BESIDE: Final = {"newreno": ("linux-reno",), "bbr": ("bbr",)}
RATES_MBPS: Final = (2, 10, 50)
DELAYS_MS: Final = (10, 50, 150)
LOSSES: Final = (0.0, 0.005)
DURATION_S: Final = 30
#: Chance decides where frames are lost: those cells are repeated. The kernel's runs take their time.
REAL_REPETITIONS: Final = {0.0: 1, 0.005: 2}
VIRTUAL_REPETITIONS: Final = {0.0: 1, 0.005: 1}
#: Runs that are late are made again, at most so often.
ATTEMPTS: Final = 3
#: A frame of 1448 bytes of data, as the link counts it, and as it stands in the queue.
FRAME: Final = 1514
#: What the means may differ by.
GOODPUT, QUEUE = 0.10, 0.20

Time = Literal["real", "virtual"]


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


def all_series(variants: Iterable[str], repetitions: dict[float, int]) -> Iterator[Series]:
    for loss, rate, variant in product(LOSSES, RATES_MBPS, variants):
        yield from (Series(variant, rate, loss, number) for number in range(repetitions[loss]))


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
        "realtime": {"limit": "10 ms"},
        "traffic": traffic,
    }


def cells(series: Series, metrics: dict[str, Any], discarded: int) -> Iterator[Cell]:
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
    """Raises RunFailed and NothingMeasured. A process of its own: a run gives its rights up for good."""
    discarded = 0
    with tempfile.TemporaryDirectory(prefix="netboxit-") as place:
        folder = Path(place)
        file = folder / f"{series.name}.yaml"
        with file.open("w") as opened:
            YAML(typ="safe").dump(lines(series), opened)
        command: list[str | Path] = [sys.executable, CHECKOUT / "netboxit.py", "run", file, "--results", folder / "results"]
        while True:
            virtual = ["--virtual"] if time == "virtual" else []
            done = subprocess.run([*command, *virtual], capture_output=True, text=True, check=False)
            if done.returncode not in (0, 3):
                raise RunFailed(f"the run of {series.name} failed: {done.stderr.strip()}")
            metrics: dict[str, Any] = json.loads((folder / "results/latest/metrics.json").read_text())
            if metrics["verdict"]["status"] == "valid" or discarded + 1 == ATTEMPTS:
                return list(cells(series, metrics, discarded))
            print(f"{series.name}: {metrics['verdict']['reasons']}", file=sys.stderr)
            discarded += 1


def kept(file: Path) -> list[Cell]:
    return [Cell(**json.loads(line)) for line in file.read_text().splitlines()] if file.exists() else []


def carry(time: Time, folder: Path, most: int) -> int:
    """Makes runs that `folder` has not; returns how many are left."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{time}.jsonl"
    have = {(*cell.key, cell.repetition) for cell in kept(file)}
    variants = BESIDE if time == "real" else [variant for beside in BESIDE.values() for variant in beside]
    repetitions = REAL_REPETITIONS if time == "real" else VIRTUAL_REPETITIONS
    wanted = [
        series
        for series in all_series(variants, repetitions)
        if (series.variant, series.rate_mbps, DELAYS_MS[0], series.loss, series.repetition) not in have
    ]
    for series in wanted[:most]:
        measured = ran(series, time)
        with file.open("a") as opened:
            opened.writelines(json.dumps(asdict(cell)) + "\n" for cell in measured)
    return max(0, len(wanted) - most)


def beside(folder: Path) -> Table:
    """Means of each cell, in both times. Chance is the same in neither, and repetitions are few: no confidence is claimed."""
    real, virtual = (kept(folder / f"{time}.jsonl") for time in ("real", "virtual"))
    rows = []
    for kernel, ours in ((kernel, ours) for kernel, several in BESIDE.items() for ours in several):
        for loss, rate, delay_ms in product(LOSSES, RATES_MBPS, DELAYS_MS):
            there = [cell for cell in real if cell.key == (kernel, rate, delay_ms, loss)]
            here = [cell for cell in virtual if cell.key == (ours, rate, delay_ms, loss)]
            if there and here:
                rows.append((ours, f"{rate}", f"{delay_ms}", f"{100 * loss:.1f} %", *_figures(there, here)))
    headers = (
        *("variant", "Mbit/s", "ms", "loss", "goodput, Mbit/s: kernel", "endpoints", "apart", "queue, ms: kernel", "endpoints"),
        *("apart", "kernel's runs, believed"),
    )
    return Table("Endpoints beside the kernel", headers, rows)


def _figures(there: Sequence[Cell], here: Sequence[Cell]) -> tuple[str, ...]:
    goodputs = [statistics.mean(cell.goodput_kbps for cell in cells) / 1e3 for cells in (there, here)]
    queues = [statistics.mean(cell.queue_ms for cell in cells) for cells in (there, here)]
    apart = [(pair[1] - pair[0]) / pair[0] for pair in (goodputs, queues)]
    believed = sum(cell.verdict == "valid" for cell in there)
    return (
        *(number(goodput) for goodput in goodputs),
        f"{100 * apart[0]:+.0f} %" + ("" if abs(apart[0]) <= GOODPUT else ", too far"),
        *(number(queue, 1) for queue in queues),
        f"{100 * apart[1]:+.0f} %" + ("" if abs(apart[1]) <= QUEUE else ", too far"),
        f"{believed} of {len(there)}",
    )


app = typer.Typer(add_completion=False)


@app.command()
def main(
    what: Annotated[Literal["real", "virtual", "compare"], typer.Argument(help="Which runs, or what came of them.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where what they measured is kept.")],
    most: Annotated[int, typer.Option("--most", min=0, help="At most so many runs.")] = 1000,
) -> None:
    """Make the runs that FOLDER does not have, or print what they measured as Markdown."""
    if what == "compare":
        print(markdown(beside(folder)))
    else:
        print(f"{carry(what, folder, most)} runs are left")


if __name__ == "__main__":
    sys.exit(console.guarded(app))
