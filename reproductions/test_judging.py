# SPDX-License-Identifier: GPL-2.0-or-later
"""How figures of an LTE cell are judged: those that the source has are reproduced, and others are not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from reproductions.campaign_experiment import CampaignExperiment
from reproductions.cells import Cells
from reproductions.queues.lte_calls import QOE
from reproductions.queues.lte_cell import CQI
from reproductions.queues.lte_dash import DASH, MIXED
from reproductions.queues.lte_dash_more import MORE_DASH, MORE_MIXED
from reproductions.queues.over_flows import jain, mean

#: A measure of a flow, in a cell of the campaign.
Figure = Callable[[str, str, Mapping[str, Any]], float]


class Told(Cells):
    """Figures that no run measured, the same in two of them."""

    def __init__(self, figure: Figure) -> None:
        self._figure = figure

    def _by_repetition(self, measure: str, at: Mapping[str, Any]) -> dict[int, float]:
        flow, _, word = measure.partition(".")
        return dict.fromkeys((0, 1), self._figure(flow, word, at))


def verdicts(experiment: CampaignExperiment, figure: Figure) -> dict[str, str]:
    return {one.what: one.verdict for one in experiment.compare(Told(figure))}


def of_downloads(flow: str, word: str, at: Mapping[str, Any]) -> float:
    """By F4.5 to 4.8. An idle path takes 55.2 ms."""
    discipline, ues = at["discipline"], int(at["ues"])
    if word == "delay_ms_mean":
        return 55.2 + {"droptail": 500.0, "cqi": 60.0}.get(discipline, 100.0)
    if word == "loss_ratio":
        return {"droptail": 0.001, "cqi": 0.011}.get(discipline, 0.01)
    # With CQI and 2 UEs the first one has more than its share.
    uneven = 0.2 if discipline == "cqi" and ues == 2 else 0.0
    return (9000.0 if discipline == "droptail" else 9500.0) / ues * (1 + uneven * (1 if flow == "download-1" else -1))


def of_calls(_flow: str, word: str, at: Mapping[str, Any]) -> float:
    """A tenth above and below the crossing of 3.60; loss and delay by F5.6 and F5.7."""
    is_qoe = at["discipline"] == "qoe"
    codel_ms = 280.0 if int(at["ues"]) <= 44 else 340.0
    return {"delay_ms_mean": codel_ms * (0.2 if is_qoe else 1.0), "loss_ratio": 0.0085 if is_qoe else 0.005}.get(word, 160.0)


def of_videos(flow: str, word: str, at: Mapping[str, Any]) -> float:
    """By section 4.6 of the source, in its words."""
    player, _, ues = at["players"].rpartition("-")
    cell, is_crowded, is_first = at["cell"], ues == "20", flow == "video-1"
    if word == "delay_ms_mean":
        if cell == "cqi-8":
            return 400.0 if not is_crowded else {"back-off-3": 300.0}.get(player, 600.0)
        slow = {"codel": 150.0, "back-off-3": 160.0, "back-off-5": 140.0}[player]
        slow += {"codel": 50.0, "back-off-3": 50.0, "back-off-5": 100.0}[player] if is_crowded else 0.0
        return slow if cell == "cqi-15" else 400.0 - (50.0 if is_crowded and player == "back-off-3" else 0.0)
    total = 800.0 if not is_crowded else 400.0
    share = 1.0 if player == "codel" else 0.96
    if cell == "cqi-8":
        return total / 2 * share
    # One that has far more makes the index unfair, and leaves the mean.
    count = int(ues)
    most = 0.3 * count if cell == "cqi-15" else 1.0
    return total * share * (most if is_first else (count - most) / (count - 1))


def of_mixed_videos(_flow: str, word: str, at: Mapping[str, Any]) -> float:
    player, _, ues = at["players"].rpartition("-")
    figures = {"delay_ms_mean": (450.0 if player == "back-off-3" else 550.0) + int(ues), "stalled_s": 0.5}
    return figures.get(word, 100.0 if player == "codel" else 97.0)


def of_more_videos(_flow: str, word: str, at: Mapping[str, Any]) -> float:
    """By section 4.6 of the source, in its words."""
    player, _, number = at["players"].rpartition("-")
    cell, ues = at["cell"], int(number)
    if word == "delay_ms_mean":
        if cell == "cqi-8":
            return 300.0 if ues == 30 and player == "back-off-3" else 600.0
        if cell == "cqi-15-fast":
            return 500.0 - ues
        at_fifty = {"back-off-3": 260.0}.get(player, 200.0)
        return {30: 200.0, 40: 240.0}.get(ues, at_fifty)
    return 8000.0 / ues * (0.9 if cell == "cqi-8" and player == "back-off-3" else 1.0)


@pytest.mark.parametrize(
    ("experiment", "figure"),
    [
        (CQI, of_downloads),
        (QOE, of_calls),
        (DASH, of_videos),
        (MORE_DASH, of_more_videos),
        (MIXED, of_mixed_videos),
        (MORE_MIXED, of_mixed_videos),
    ],
    ids=["E7", "E8", "E9", "E9, more", "E11", "E11, more"],
)
def test_the_figures_of_the_source_are_reproduced(experiment: CampaignExperiment, figure: Figure) -> None:
    assert {what for what, verdict in verdicts(experiment, figure).items() if verdict == "not reproduced"} == set()


def test_calls_that_all_disciplines_serve_alike_are_not_those_of_the_source() -> None:
    found = verdicts(QOE, lambda flow, word, at: of_calls(flow, word, {**at, "discipline": "codel-50"}))
    assert found["F5.6: delay, QoE against CoDel"] == "not reproduced"
    assert found["F5.7: lost, QoE against CoDel"] == "not reproduced"
    assert found["F5.8: MOS of 46 UEs, QoE"] == "not reproduced"
    assert found["F5.8: MOS of 44 UEs, QoE"] == "reproduced"


def test_a_back_off_that_changes_nothing_is_not_that_of_the_source() -> None:
    found = verdicts(MIXED, lambda flow, word, at: of_mixed_videos(flow, word, {**at, "players": "codel-46"}))
    assert found["F6.11: delay, 3 s against CoDel"] == "not reproduced"
    assert found["F6.11: delay, 5 s against CoDel"] == "reproduced"


def test_videos_that_stand_still_for_longer_are_told() -> None:
    def stalling(flow: str, word: str, at: Mapping[str, Any]) -> float:
        longer = 2.0 if at["players"] == "back-off-3-46" and word == "stalled_s" else 1.0
        return of_mixed_videos(flow, word, at) * longer

    found = verdicts(MIXED, stalling)
    assert found["6.2: how long a video stands still, 3 s"] == "not reproduced"
    assert found["6.2: how long a video stands still, 5 s"] == "reproduced"


@pytest.mark.parametrize(
    ("shares", "index"),
    # Jain, Chiu and Hawe (1984): 1 when all have the same, k/n when k of n have the same and the others nothing.
    [((3.0, 3.0, 3.0), 1.0), ((5.0, 0.0, 0.0, 0.0), 0.25), ((2.0, 2.0, 0.0, 0.0), 0.5)],
)
def test_jains_index_is_the_share_that_is_served(shares: tuple[float, ...], index: float) -> None:
    assert jain(*shares) == pytest.approx(index)


def test_a_change_is_between_runs_of_the_same_seed() -> None:
    class Seeds(Cells):
        def __init__(self) -> None:
            pass

        def _by_repetition(self, measure: str, at: Mapping[str, Any]) -> dict[int, float]:
            # The second flow has as much again; the run with seed 2 has no partner.
            factor = 2.0 if measure == "b" else 1.0
            return {0: 10.0 * factor, 1: 40.0 * factor} if at["x"] == "old" else {0: 5.0 * factor, 1: 20.0 * factor, 2: 1.0}

    change = Seeds().derived_change(["a", "b"], mean, {"x": "new"}, {"x": "old"})
    assert change.count == 2
    assert change.mean == pytest.approx(-0.5)
    assert change.half_width == pytest.approx(0.0)
