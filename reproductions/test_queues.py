# SPDX-License-Identifier: GPL-2.0-or-later
"""The study of queues: its files are sound, and its cheapest experiments come out as its document says."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns import checking
from campaigns.campaign import Campaign
from reproductions import document
from reproductions.campaign_experiment import CampaignExperiment
from reproductions.experiment import Experiment
from reproductions.queues import QUEUES
from reproductions.queues.poisson_queue import POISSON_QUEUE
from reproductions.queues.schedulers import DELAYS, FAIRNESS
from reproductions.queues.stations import LATENESS, THROUGHPUT

CAMPAIGNS = [one for one in QUEUES.experiments if isinstance(one, CampaignExperiment)]


@pytest.mark.parametrize("experiment", CAMPAIGNS, ids=lambda one: one.campaign.stem)
def test_its_campaigns_are_sound(experiment: CampaignExperiment) -> None:
    checked = checking.check(Campaign.load(experiment.campaign), lambda _: None)
    assert checked.campaign.name == f"reproduce-{experiment.campaign.stem}"


def test_ids_are_different_and_of_a_source() -> None:
    ids = [one.id for one in QUEUES.experiments]
    assert len({*ids}) == len(ids)
    assert {one.partition(" ")[0] for one in ids} == {*QUEUES.sources}


def test_delays_of_schedulers_come_out_as_published_or_as_is_known(tmp_path: Path) -> None:
    compared = DELAYS.carry(tmp_path, lambda _: None, few=1)
    assert [one for one in compared.comparisons if not one.is_as_known] == []
    text = document.section(QUEUES, {DELAYS: compared})
    assert all(one.what in text for one in compared.comparisons)
    document.keep(QUEUES, {DELAYS: compared}, tmp_path)
    assert document.kept(QUEUES, tmp_path) == {DELAYS: compared}


def test_the_page_is_what_the_record_has() -> None:
    assert document.section(QUEUES, document.kept(QUEUES)) in document.DOCUMENT.read_text()


@pytest.mark.long
@pytest.mark.parametrize("experiment", [POISSON_QUEUE, FAIRNESS, THROUGHPUT, LATENESS], ids=lambda one: one.id)
def test_experiments_come_out_as_published_or_as_is_known(experiment: Experiment, tmp_path: Path) -> None:
    """A run for each point; what chance decides in single runs has its tolerance in the figure's own."""
    compared = experiment.carry(tmp_path, lambda _: None, few=1)
    assert [one for one in compared.comparisons if not one.is_as_known] == []
