# SPDX-License-Identifier: GPL-2.0-or-later
"""The emergency network with a transfer by TCP beside its call and its camera, in a lab and in virtual time.

python -m experiments.emergency_transfer real FOLDER
python -m experiments.emergency_transfer virtual FOLDER
python -m experiments.emergency_transfer compare FOLDER

The first two make the runs that FOLDER does not have, and keep of each what `Transfer` holds, as a line of `real.jsonl` or
`virtual.jsonl`. The third prints both side by side.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer
from ruamel.yaml import YAML

from experiments.confidence import Compared
from experiments.document import markdown
from experiments.outcome import Table
from experiments.repeated_runs import Metrics, carry, kept, run
from experiments.variant import TOPOLOGIES
from testbed.views import console

#: As `bulk` calls them, in both times.
VARIANTS: Final = ("linux-reno", "cubic")
DURATION: Final = "60 s"
REPETITIONS: Final = 5
#: What the means may differ by; delays also by what the topology lets a frame be late.
GOODPUT, DELAY = 0.05, 0.05
LATE_MS: Final = 5.0
#: Twice that: a single frame so late among tens of thousands does not move a mean.
BELIEVED_LATE_MS: Final = 10.0


@dataclass(frozen=True)
class Series:
    """One run."""

    variant: str
    repetition: int


@dataclass(frozen=True)
class Transfer:
    """What one run did."""

    variant: str
    repetition: int
    goodput_kbps: float
    #: Mean one-way delay of each flow, by name and direction.
    delays_ms: dict[str, float]
    #: Of the transfer.
    loss_ratio: float
    verdict: str
    #: Runs of it that were too late to be believed.
    discarded: int


def topology(series: Series) -> dict[str, Any]:
    content: dict[str, Any] = YAML(typ="safe").load(TOPOLOGIES / "emergency.yaml")
    for entry in content["traffic"].values():
        entry["duration"] = DURATION
    transfer = {"application": "bulk", "from": "eoc", "to": "fr1", "variant": series.variant, "duration": DURATION}
    return {
        **content,
        "name": f"emergency-{series.repetition}",
        "seed": 1 + series.repetition,
        "traffic": {**content["traffic"], "transfer": transfer},
        "realtime": {**content["realtime"], "limit": f"{BELIEVED_LATE_MS} ms"},
    }


def lacking(have: Iterable[Transfer]) -> list[Series]:
    """The runs that are not there."""
    done = {(transfer.variant, transfer.repetition) for transfer in have}
    return [Series(*key) for key in product(VARIANTS, range(REPETITIONS)) if key not in done]


def measured(series: Series, metrics: Metrics, discarded: int) -> Transfer:
    (transfer,) = metrics["transfers"]
    (flow,) = (flow for flow in metrics["flows"] if flow["name"] == "transfer")
    return Transfer(
        series.variant,
        series.repetition,
        transfer["goodput_kbps"],
        {f"{flow['name']}, {flow['direction']}": flow["one_way_delay_ms"]["mean"] for flow in metrics["flows"]},
        flow["loss_ratio"],
        metrics["verdict"]["status"],
        discarded,
    )


def table(real: Sequence[Transfer], virtual: Sequence[Transfer]) -> Table:
    """Runs of the same seed are pairs."""
    rows = []
    for variant in VARIANTS:
        there, here = ({run.repetition: run for run in runs if run.variant == variant} for runs in (real, virtual))
        pairs = [(there[repetition], here[repetition]) for repetition in sorted(there.keys() & here.keys())]
        if not pairs:
            continue
        believed = f"{sum(run.verdict == 'valid' for run, _ in pairs)} of {len(pairs)}"
        goodputs = [(run.goodput_kbps / 1e3, beside.goodput_kbps / 1e3) for run, beside in pairs]
        rows.append((variant, "goodput, Mbit/s", *compared(goodputs, GOODPUT).columns(2), believed))
        for flow in pairs[0][0].delays_ms:
            delays = [(run.delays_ms[flow], beside.delays_ms[flow]) for run, beside in pairs]
            rows.append((variant, f"mean delay of {flow}, ms", *compared(delays, DELAY, LATE_MS).columns(1), believed))
    headers = ("variant", "", "real", "virtual", "apart", "pairs, real run believed")
    return Table("The emergency network with a transfer", headers, rows)


def compared(pairs: Sequence[tuple[float, float]], share: float, besides: float = 0.0) -> Compared:
    real, virtual = zip(*pairs, strict=True)
    return Compared(real, virtual, share * statistics.mean(real) + besides)


app = typer.Typer(add_completion=False)


@app.command()
def main(
    what: Annotated[Literal["real", "virtual", "compare"], typer.Argument(help="Which runs, or what came of them.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where what they measured is kept.")],
    most: Annotated[int, typer.Option("--most", min=0, help="At most so many runs.")] = 1000,
) -> None:
    """Make the runs that FOLDER does not have, or print what they measured as Markdown."""
    if what == "compare":
        print(markdown(table(*(kept(folder / f"{time}.jsonl", Transfer) for time in ("real", "virtual")))))
    else:
        file = folder / f"{what}.jsonl"
        wanted = lacking(kept(file, Transfer))
        left = carry(file, wanted, lambda series: [measured(series, *run(topology(series), what))], most)
        print(f"{left} runs are left")


if __name__ == "__main__":
    sys.exit(console.guarded(app))
