# SPDX-License-Identifier: GPL-2.0-or-later
"""The study of queues: its cheapest experiments come out as its document says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

from campaigns.campaign import Campaign
from campaigns.description import Repetitions
from campaigns.parameter import Parameter
from reproductions import document
from reproductions.campaign_experiment import CampaignExperiment, measured
from reproductions.cells import Cells
from reproductions.experiment import Experiment
from reproductions.queues import QUEUES
from reproductions.queues.lte_cell import CQI
from reproductions.queues.poisson_queue import POISSON_QUEUE
from reproductions.queues.schedulers import DELAYS, FAIRNESS
from reproductions.queues.stations import LATENESS, THROUGHPUT
from reproductions.queues.wifi_cell import DOWNLOADS


def test_delays_of_schedulers_come_out_as_published_or_as_is_known(tmp_path: Path) -> None:
    compared = DELAYS.carry(tmp_path, lambda _: None, few=1)
    assert [one for one in compared.comparisons if not one.is_as_known] == []
    text = document.section(QUEUES, {DELAYS: compared})
    assert all(one.what in text for one in compared.comparisons)
    document.keep(QUEUES, {DELAYS: compared}, tmp_path)
    assert document.kept(QUEUES, tmp_path) == {DELAYS: compared}


@pytest.mark.long
@pytest.mark.parametrize("experiment", [POISSON_QUEUE, FAIRNESS, THROUGHPUT, LATENESS], ids=lambda one: one.id)
def test_experiments_come_out_as_published_or_as_is_known(experiment: Experiment, tmp_path: Path) -> None:
    """A run for each point; what chance decides in single runs has its tolerance in the figure's own."""
    compared = experiment.carry(tmp_path, lambda _: None, few=1)
    assert [one for one in compared.comparisons if not one.is_as_known] == []


def cells_of(experiment: CampaignExperiment, results: Path, duration_s: float, **values: list[str]) -> Cells:
    """A run at each of these values."""
    campaign = Campaign.load(experiment.campaign)
    parameters = {
        name: parameter.model_copy(update={"values": _some(parameter, values[name])})
        for name, parameter in campaign.file.parameters.items()
    }
    update = {"parameters": parameters, "duration": duration_s, "repetitions": Repetitions(at_least=1, at_most=1)}
    campaign = replace(campaign, file=campaign.file.model_copy(update=update))
    return measured(campaign, results, lambda _: None)


def _some(parameter: Parameter, wanted: list[str]) -> object:
    return {one: parameter.variants[one] for one in wanted} if parameter.variants else tuple(wanted)


@pytest.mark.long
def test_in_a_cell_of_lte_packets_wait_for_longest_without_an_aqm(tmp_path: Path) -> None:
    """Dai 2018, Figure 4.5."""
    cells = cells_of(CQI, tmp_path, 20.0, discipline=["droptail", "codel-50", "cqi"], ues=["2"])

    def delay_ms(discipline: str) -> float:
        at = {"discipline": discipline, "ues": "2"}
        return fmean(cells.mean(f"download-{ue}.delay_ms_mean", **at).mean for ue in (1, 2))

    assert delay_ms("droptail") > delay_ms("codel-50")
    assert delay_ms("droptail") > delay_ms("cqi")


@pytest.mark.long
def test_in_a_cell_of_wifi_an_aqm_keeps_a_call_good_beside_downloads(tmp_path: Path) -> None:
    """Below 3.60 many users are dissatisfied (ITU-T G.107, Table B.1)."""
    cells = cells_of(DOWNLOADS, tmp_path, 10.0, discipline=["droptail", "fq-codel"])
    assert cells.mean("call.forward.mos_e_model", discipline="droptail").mean < 3.6
    assert cells.mean("call.forward.mos_e_model", discipline="fq-codel").mean > 3.6
