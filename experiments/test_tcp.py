# SPDX-License-Identifier: GPL-2.0-or-later
"""Which runs are made, which not again, and what is made of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments import tcp
from experiments.repeated_runs import ATTEMPTS, Metrics, believed, carry, kept
from experiments.tcp import Cell, NothingMeasured, Series


def cell(**different: Any) -> Cell:
    return replace(Cell("cubic", 10, 50, 0.005, 0, 9000.0, 20.0, 0.006, "valid", 0), **different)


def metrics(delay: dict[str, float] | None, status: str = "valid") -> Metrics:
    """Of metrics.json what is read of it."""
    return {
        "lab": "try",
        "verdict": {"status": status, "reasons": []},
        "transfers": [{"traffic": f"file{delay_ms}", "goodput_kbps": 1900.0} for delay_ms in tcp.DELAYS_MS],
        "flows": [{"name": f"file{delay_ms}", "one_way_delay_ms": delay, "loss_ratio": 0.0} for delay_ms in tcp.DELAYS_MS],
    }


def test_every_variant_has_every_rate_loss_and_repetition() -> None:
    assert Counter((series.variant, series.loss) for series in tcp.all_series("real")) == {
        (variant, loss): 3 * repetitions
        for variant in ("newreno", "cubic", "bbr")
        for loss, repetitions in ((0.0, 1), (0.005, 5))
    }
    assert {series.variant for series in tcp.all_series("virtual")} == {"linux-reno", "cubic", "bbr"}


@pytest.mark.long
def test_a_series_is_a_run_of_a_transfer_for_each_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    """No transfer carries more than 1448 bytes in frames of 1514, and a queue of a round trip holds no frame for longer."""
    monkeypatch.setattr(tcp, "DURATION_S", 10)
    cells = tcp.ran(Series("cubic", 2, 0.0, 0), "virtual")
    assert [cell.delay_ms for cell in cells] == list(tcp.DELAYS_MS)
    for cell in cells:
        assert 1000 < cell.goodput_kbps < 2000 * 1448 / 1514
        assert 0 < cell.queue_ms < max(2 * cell.delay_ms, 10 * tcp.FRAME * 8 / 2000)
        assert (cell.verdict, cell.discarded) == ("valid", 0)


def test_runs_that_are_there_are_not_made_again(tmp_path: Path) -> None:
    file = tmp_path / "new" / "virtual.jsonl"
    made: list[Series] = []

    def measure(series: Series) -> list[Cell]:
        made.append(series)
        return [
            cell(
                variant=series.variant,
                rate_mbps=series.rate_mbps,
                delay_ms=delay_ms,
                loss=series.loss,
                repetition=series.repetition,
            )
            for delay_ms in tcp.DELAYS_MS
        ]

    everything = list(tcp.all_series("virtual"))
    assert carry(file, tcp.lacking("virtual", kept(file, Cell)), measure, most=2) == len(everything) - 2
    assert len(kept(file, Cell)) == 2 * len(tcp.DELAYS_MS)
    assert tcp.lacking("virtual", kept(file, Cell)) == everything[2:]
    assert carry(file, tcp.lacking("virtual", kept(file, Cell)), measure, most=1000) == 0
    assert made == everything
    assert tcp.lacking("virtual", kept(file, Cell)) == []


@pytest.mark.parametrize(
    ("verdicts", "discarded"),
    [(["valid"], 0), (["degraded", "valid"], 1), (["degraded", "invalid", "valid"], 2), (["degraded"] * ATTEMPTS, ATTEMPTS - 1)],
)
def test_a_run_that_is_not_believed_is_made_again(verdicts: list[str], discarded: int) -> None:
    attempts = iter(verdicts)
    last, count = believed(lambda: metrics({"mean": 60.0}, next(attempts)))
    assert (last["verdict"]["status"], count) == (verdicts[-1], discarded)
    assert list(attempts) == []


def test_the_queue_is_what_delay_is_left_beside_the_links_and_the_frames_own() -> None:
    """1514 bytes at 2 Mbit/s take 6.056 ms."""
    cells = list(tcp.cells(Series("cubic", 2, 0.0, 0), metrics({"mean": 200.0}), 1))
    assert [(cell.delay_ms, cell.discarded) for cell in cells] == [(10, 1), (50, 1), (150, 1)]
    assert [cell.queue_ms for cell in cells] == pytest.approx([183.944, 143.944, 43.944])


def test_a_transfer_of_which_nothing_arrived_is_an_error_with_its_name() -> None:
    with pytest.raises(NothingMeasured, match="cubic-2-5-3: nothing arrived of file10"):
        list(tcp.cells(Series("cubic", 2, 0.005, 3), metrics(None), 0))


def test_cells_are_compared_with_the_variant_beside_the_kernels() -> None:
    kernels = [
        cell(variant="newreno", repetition=at, goodput_kbps=goodput) for at, goodput in enumerate((8900.0, 9000.0, 9100.0))
    ]
    ours = [
        cell(variant="linux-reno", repetition=at, goodput_kbps=goodput) for at, goodput in enumerate((9300.0, 9400.0, 9500.0))
    ]
    others = [cell(variant="linux-reno", delay_ms=10), cell(variant="bbr"), cell(variant="linux-reno", repetition=3)]
    (compared,) = tcp.compared(kernels, [*ours, *others])
    assert (compared.goodput.finding, compared.queue.finding) == ("agrees", "agrees")
    row = dict(zip(tcp.table([compared]).headers, tcp.table([compared]).rows[0], strict=True))
    assert (row["variant"], row["goodput, Mbit/s: kernel"]) == ("linux-reno", "9.00 ± 0.25")
    (counts,) = (row for row in tcp.summary([compared]).rows if row[1])
    assert list(counts) == ["linux-reno with losses", "1 agrees", "1 agrees"]


def test_without_losses_one_run_in_each_time_is_compared() -> None:
    (compared,) = tcp.compared([cell(loss=0.0, queue_ms=20.0)], [cell(loss=0.0, queue_ms=25.0)])
    assert (compared.goodput.finding, compared.queue.finding) == ("agrees", "too far")


def test_with_losses_one_run_shows_nothing() -> None:
    (compared,) = tcp.compared([cell()], [cell()])
    assert (compared.goodput.finding, compared.queue.finding) == ("not shown", "not shown")
