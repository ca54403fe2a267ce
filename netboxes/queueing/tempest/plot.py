# SPDX-License-Identifier: GPL-2.0-or-later
"""python -m netboxes.queueing.tempest.plot RESULTS --by qmac --of throughput: what the bench told, as a plot.

RESULTS has one JSON object of the bench in each line. Trials at one place of a line, as those of several seeds, become a mean and
its 95 % interval. Exit status 0 when it was drawn, 2 for bad input.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer

from results.chart_style import PALETTE
from results.intervals import mean_interval
from results.plot import Line, Panel, Plot, files


class NotDrawn(ValueError):
    """The results cannot be drawn so: where, why, and what to do."""


class Measure(StrEnum):
    """What the bench tells; those of flows are of the greatest weight."""

    THROUGHPUT = "throughput"
    NS = "ns_per_packet"
    INSTRUCTIONS = "instructions_per_packet"
    RFI = "rfi"
    B_WFI = "b_wfi_packets"
    T_WFI = "t_wfi_ms"
    DELAY_MEAN = "delay_ms_mean"
    DELAY_MAX = "delay_ms_max"


#: On the axis.
_WORDS: Final = {
    Measure.THROUGHPUT: "throughput, share of what was sent",
    Measure.NS: "ns for a packet",
    Measure.INSTRUCTIONS: "instructions for a packet",
    Measure.RFI: "RFI, packets by weight",
    Measure.B_WFI: "B-WFI, packets",
    Measure.T_WFI: "T-WFI, ms",
    Measure.DELAY_MEAN: "mean delay, ms",
    Measure.DELAY_MAX: "longest delay, ms",
}
_OF_FLOWS: Final = {Measure.B_WFI, Measure.T_WFI, Measure.DELAY_MEAN, Measure.DELAY_MAX}
#: The number of flows, whether -flows said it or -flowsets.
_FLOWS: Final = "flows"
#: "30", "30n" and "30k", which is 30,000.
_NUMBER: Final = re.compile(r"(\d+(?:\.\d*)?(?:e\d+)?)([nk]?)")


@dataclass(frozen=True)
class Trial:
    """One JSON object of the bench."""

    #: By name, without the hyphen.
    options: Mapping[str, str]
    told: Mapping[str, Any]

    @property
    def schedulers(self) -> str:
        """Its label."""
        return self.options["alg"] if "alg" in self.options else f"{self.options['qos']} over {self.options['mac']}"

    def place(self, by: str) -> float | None:
        """On the x axis: the value of an option, or the number of flows; None where the trial has no such option."""
        if by == _FLOWS:
            return float(sum(one["flows"] for one in self.told["weights"]))
        if by not in self.options:
            return None
        number = _NUMBER.fullmatch(self.options[by])
        if not number:
            raise NotDrawn(f'-{by} "{self.options[by]}" is no number to draw by; take another option')
        return float(number[1]) * (1000.0 if number[2] == "k" else 1.0)

    def value(self, of: Measure) -> float | None:
        """None where it was not measured."""
        part = max(self.told["weights"], key=lambda one: int(one["weight"])) if of in _OF_FLOWS else self.told
        value = part[of.value]
        return None if value is None else float(value)


def read(text: str, name: str) -> list[Trial]:
    """The trials of a file; raises NotDrawn."""
    trials = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            told = json.loads(line)
        except json.JSONDecodeError as error:
            raise NotDrawn(f"{name}, line {number}: no JSON ({error.msg}); write one result of tempest in each line") from error
        if not isinstance(told, dict) or (told.get("format"), told.get("version")) != ("netboxit tempest", 1):
            raise NotDrawn(f"{name}, line {number}: no result of tempest of version 1")
        words = [str(word).removeprefix("-") for word in told["command"]]
        trials.append(Trial(dict(zip(words[::2], words[1::2], strict=True)), told))
    return trials


def plot(trials: Sequence[Trial], by: str, of: Measure) -> Plot:
    """A line for each scheduler or pair of them. One that does not have the option is a line across. Raises NotDrawn."""
    values: dict[str, dict[float | None, list[float]]] = defaultdict(lambda: defaultdict(list))
    for trial in trials:
        if (value := trial.value(of)) is not None:
            values[trial.schedulers][trial.place(by)].append(value)
    places = sorted({place for own in values.values() for place in own if place is not None})
    if not places:
        raise NotDrawn(f"no trial has both -{by} and {of.value}; take another option or measure")
    lines = [
        _line(label, PALETTE[at % len(PALETTE)], {**dict.fromkeys(places, own[None]), **own} if None in own else own)
        for at, (label, own) in enumerate(values.items())
    ]
    return Plot(
        name=f"{of.value}-by-{by}",
        title=f"{_WORDS[of]} by -{by}",
        x_label="flows" if by == _FLOWS else f"-{by}",
        y_label=_WORDS[of],
        panels=[Panel("", lines)],
        legend="schedulers",
        kind="lines",
        x_log=places[0] > 0 and places[-1] >= 30 * places[0],
    )


def _line(label: str, colour: str, values: Mapping[float | None, Sequence[float]]) -> Line:
    rows = []
    for place in sorted(place for place in values if place is not None):
        interval = mean_interval(values[place])
        assert interval is not None, "there is a value at each place"
        bounds = (interval.low, interval.high) if math.isfinite(interval.half_width) else (math.nan, math.nan)
        rows.append((place, interval.mean, *bounds))
    x, y, low, high = np.array(rows, dtype=float).T
    return Line(label, colour, x, y, low, high)


app = typer.Typer(add_completion=False)


@app.command()
def main(
    results: Annotated[Path, typer.Argument(help="What the bench printed, one object a line.", exists=True, dir_okay=False)],
    by: Annotated[str, typer.Option("--by", metavar="OPTION", help="On the x axis: qmac, qmax, rate, …, or flows.")],
    of: Annotated[Measure, typer.Option("--of", help="On the y axis.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE.svg")] = Path("tempest.svg"),
) -> None:
    """Draw what the bench told."""
    try:
        drawn = files(plot(read(results.read_text(), str(results)), by, of))
    except NotDrawn as error:
        typer.echo(f"plot: {error}", err=True)
        raise typer.Exit(2) from error
    out.write_bytes(drawn["svg"])


if __name__ == "__main__":
    sys.exit(app())
