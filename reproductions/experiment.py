# SPDX-License-Identifier: GPL-2.0-or-later
"""Something that a source published figures of, and that is done again here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reproductions.comparison import Comparison
from testbed.documents.campaign import CampaignStanding


@dataclass(frozen=True)
class Compared:
    """An experiment that was carried out."""

    #: Markdown: what was run, and how often.
    how: str
    comparisons: Sequence[Comparison]
    #: What the figures were made of: values by the name of what was measured.
    record: Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class Experiment(ABC):
    """One or several tables and figures of a source."""

    #: Of the source and its tables and figures.
    id: str
    title: str
    #: Markdown: what the source leaves open, and what we chose.
    text: str
    #: Left out of the ordinary run of its study, for what it takes; who asks for it by its id gets it.
    is_only_full: bool = field(default=False, kw_only=True)

    @abstractmethod
    def carry(
        self, results: Path, tell: Callable[[CampaignStanding], None], *, full: bool = False, few: int | None = None
    ) -> Compared:
        """Makes what these results do not have, and compares; `full`: all of it, `few`: so many repetitions, to try.

        Raises what a campaign raises, and NotMeasured.
        """
