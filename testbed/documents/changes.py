# SPDX-License-Identifier: GPL-2.0-or-later
"""What is changed in a lab that is up: `apply`, `set`, `drill`, `handler`, `attach`, `detach`."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from contracts.run_records import ChangeRecord
from testbed.documents.plan import Changed


class Apply(TypedDict):
    lab: str
    #: It was not up before.
    brought_up: bool
    #: What was done; null when the lab was brought up.
    difference: Changed | None


class Change(ChangeRecord):
    """A change that was made. Which of the keys it has is said by `kind`."""

    kind: Literal["parameter", "wire", "power", "freeze", "configuration", "handler", "stages", "managed_link"]
    #: The same for people.
    words: str


class Changes(TypedDict):
    """What was changed, in its order."""

    changes: list[Change]


class PutBack(TypedDict):
    #: The drill that was cut short; null when there was none.
    drill: str | None
    changes: list[Change]


class Option(TypedDict):
    """An option of a drill, in words."""

    option: str
    value: str
    #: "–" where there is none.
    default: str
    meaning: str


class Drill(TypedDict):
    drill: str
    about: str
    options: list[Option]


class Drills(TypedDict):
    drills: list[Drill]


class HandlerValue(TypedDict):
    router: str
    handler: str
    value: str


class HandlerWritten(TypedDict):
    router: str
    handler: str
    warnings: list[str]


class Element(TypedDict):
    """An element of a Click router."""

    name: str
    #: Its class.
    kind: str
    #: What may be done to each: "r", "w" or "rw".
    handlers: dict[str, str]


class Handlers(TypedDict):
    elements: list[Element]


class Attach(TypedDict):
    """An interface of this machine that is a node's. What is null its kind does not have."""

    # Before this: all that `contracts.plan.EquipmentPlan` has.
    #: What is to be known of it, for people.
    remarks: list[str]


class Detach(TypedDict):
    """An interface of this machine that was a node's. What is null its kind does not have."""

    # Before this: all that `contracts.plan.EquipmentPlan` has.
    #: What could not be put back, for people.
    notes: list[str]
