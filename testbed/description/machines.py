# SPDX-License-Identifier: GPL-2.0-or-later
"""The machines that nodes are on, as a topology names them: by names of an inventory that the topology knows nothing else of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final

from pydantic import AfterValidator

from testbed.description.input_errors import nearest

#: What stands in place of a name where the planner is to choose.
AUTO: Final = "auto"


def check_machine(name: str) -> str:
    """A name as inventories have them. Raises ValueError."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", name):
        raise ValueError(f'"{name}" is not the name of a machine; write it as the inventory has it, or auto')
    return name


MachineName = Annotated[str, AfterValidator(check_machine)]


@dataclass(frozen=True)
class KnownMachines:
    """Those that labs can be on: this one, `here`, and others; and those that cannot have a part, with the reason."""

    here: str
    names: tuple[str, ...]
    refused: Mapping[str, str] = field(default_factory=dict)
    #: Where that is written, for people; "" when there is no such place.
    where: str = "the inventory"

    def why_not(self, name: str) -> tuple[str, str]:
        """What is wrong with a name that is none of them: cause and remedy."""
        if name in self.refused:
            return f'machine "{name}" can have no part of a lab', self.refused[name]
        if not self.where:
            return f'there is no inventory, and so no machine "{name}"', "give one by --inventory, or $NETBOXIT_INVENTORY"
        return f'{self.where} has no machine "{name}"', nearest(name, self.names)


class Places:
    """On which machine each node is to be. Where no machines are known, this one may be any of those that are named."""

    def __init__(self, machines: Mapping[str, str | None], default: str | None, known: KnownMachines | None) -> None:
        """`machines` has the machine that the file names for each node, None where it names none."""
        self._machines, self._default, self.known = machines, default, known

    def of(self, node: str) -> str | None:
        """A machine's name, AUTO, or None for this machine where its name is not known."""
        return self._machines.get(node) or self._default or (self.known.here if self.known else None)

    def is_free(self, node: str) -> bool:
        """Whether the planner chooses."""
        return self.of(node) == AUTO

    def are_apart(self, node: str, other: str) -> bool:
        """Whether two nodes are certainly on two machines."""
        places = {self.of(node), self.of(other)}
        return len(places) == 2 and AUTO not in places and None not in places

    def words(self, node: str) -> str:
        return self.of(node) or "this machine"
