# SPDX-License-Identifier: GPL-2.0-or-later
"""All studies: their files are sound, and the page has what their records have."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns import checking
from campaigns.campaign import Campaign
from reproductions import document
from reproductions.__main__ import STUDIES
from reproductions.campaign_experiment import CampaignExperiment, CampaignsExperiment
from reproductions.study import Study

EXPERIMENTS = [one for study in STUDIES.values() for one in study.experiments]
CAMPAIGNS = [
    *(one.campaign for one in EXPERIMENTS if isinstance(one, CampaignExperiment)),
    *(path for one in EXPERIMENTS if isinstance(one, CampaignsExperiment) for path in one.campaigns.values()),
]
each_study = pytest.mark.parametrize("study", STUDIES.values(), ids=lambda study: study.name)


@pytest.mark.parametrize("campaign", CAMPAIGNS, ids=lambda path: path.stem)
def test_its_campaigns_are_sound(campaign: Path) -> None:
    checked = checking.check(Campaign.load(campaign), lambda _: None)
    assert checked.campaign.name == f"reproduce-{campaign.stem}"


@each_study
def test_ids_are_different_and_of_a_source(study: Study) -> None:
    ids = [one.id for one in study.experiments]
    assert len({*ids}) == len(ids)
    assert {one.partition(" ")[0] for one in ids} == {*study.sources}


@each_study
def test_the_page_is_what_the_record_has(study: Study) -> None:
    assert document.section(study, document.kept(study)) in document.DOCUMENT.read_text()
