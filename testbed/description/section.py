# SPDX-License-Identifier: GPL-2.0-or-later
"""What all parts of a topology file have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from contracts.errors import AtPlaces
from testbed.description.yaml_source import Location


class Section(BaseModel):
    """A mapping of the file; a key that it does not have is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def _wrong(self) -> Iterable[tuple[Location, str]]:
        """What is wrong between its keys: messages, by the place in it; one at () is about all of it, and told alone."""
        return ()

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        wrong: dict[Location, str] = {}
        for place, message in self._wrong():
            if not place:
                raise ValueError(message)
            wrong[place] = message
        if wrong:
            raise AtPlaces(wrong)
        return self
