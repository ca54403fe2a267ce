# SPDX-License-Identifier: GPL-2.0-or-later
"""An experiment that is a campaign."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from campaigns import checking, running
from campaigns.campaign import Campaign
from campaigns.description import Repetitions
from contracts.campaign import campaign_folder
from contracts.quantities import TIME
from reproductions.cells import Cells
from reproductions.comparison import Comparison
from reproductions.experiment import Compared, Experiment
from results.runs import Runs
from testbed.documents.campaign import CampaignStanding


@dataclass(frozen=True)
class CampaignExperiment(Experiment):
    """Its runs are those of the file: who runs it again has it go on."""

    campaign: Path
    compare: Callable[[Cells], Iterator[Comparison]]
    #: Of each point, where the whole study is wanted.
    full_repetitions: int = 20

    def carry(
        self, results: Path, tell: Callable[[CampaignStanding], None], *, full: bool = False, few: int | None = None
    ) -> Compared:
        campaign = repeated(Campaign.load(self.campaign), few or (self.full_repetitions if full else None))
        cells = measured(campaign, results, tell)
        comparisons = list(self.compare(cells))
        return Compared(_how(campaign), comparisons, cells.record())


@dataclass(frozen=True)
class CampaignsExperiment(Experiment):
    """Several campaigns, by the word that comparisons have for each, whose cells are compared with each other, too."""

    campaigns: Mapping[str, Path] = field(hash=False)
    compare: Callable[[Mapping[str, Cells]], Iterator[Comparison]]
    full_repetitions: int = 20

    def carry(
        self, results: Path, tell: Callable[[CampaignStanding], None], *, full: bool = False, few: int | None = None
    ) -> Compared:
        count = few or (self.full_repetitions if full else None)
        campaigns = {word: repeated(Campaign.load(path), count) for word, path in self.campaigns.items()}
        cells = {word: measured(campaign, results, tell) for word, campaign in campaigns.items()}
        comparisons = list(self.compare(cells))
        record = {f"{word}: {measure}": rows for word, own in cells.items() for measure, rows in own.record().items()}
        return Compared(" ".join(_how(campaign) for campaign in campaigns.values()), comparisons, record)


def repeated(campaign: Campaign, count: int | None) -> Campaign:
    """With so many runs of each point; None: as many as its file says."""
    if count is None:
        return campaign
    repetitions = Repetitions(at_least=count, at_most=count)
    return replace(campaign, file=campaign.file.model_copy(update={"repetitions": repetitions}))


def measured(campaign: Campaign, results: Path, tell: Callable[[CampaignStanding], None]) -> Cells:
    """What its runs have measured, after those that are missing were made."""
    running.run(checking.check(campaign, lambda _: None), results, tell)
    return Cells(Runs.open(campaign_folder(results, campaign.name)))


def _how(campaign: Campaign) -> str:
    file = campaign.file
    length = "" if file.duration is None else f" of {TIME.write(file.duration)}"
    warm_up = f", of which the first {TIME.write(file.warm_up)} do not count" if file.warm_up else ""
    count = file.repetitions.at_most
    runs = "1 run" if count == 1 else f"{count} runs"
    return f"`{campaign.path.name}`: {runs}{length} for each point{warm_up}."
