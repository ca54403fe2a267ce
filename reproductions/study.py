# SPDX-License-Identifier: GPL-2.0-or-later
"""A study: experiments that its sources published, and that are done again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reproductions.experiment import Experiment


@dataclass(frozen=True)
class Study:
    """All of it, in the order of its document."""

    name: str
    #: By the words that ids begin with: author, title, place, year.
    sources: Mapping[str, str]
    experiments: Sequence[Experiment]
