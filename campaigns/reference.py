# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of docs/campaigns.md, made from the models of the file.

python -m campaigns.reference     writes them anew
"""

from __future__ import annotations

from typing import Final

from campaigns.description import CampaignFile, Design, Repetitions, Until
from campaigns.parameter import Parameter
from contracts.installation import CHECKOUT
from testbed.description.reference import table, with_tables

DOCUMENT: Final = CHECKOUT / "docs/campaigns.md"


def written() -> str:
    """The document's text with each table made anew."""
    models = (CampaignFile, Parameter, Design, Repetitions, Until)
    return with_tables(DOCUMENT.read_text(), {model.__name__: table(model) for model in models})


if __name__ == "__main__":
    DOCUMENT.write_text(written())
