# SPDX-License-Identifier: GPL-2.0-or-later
"""What all parts of a topology file have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A mapping of the file; a key that it does not have is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)
