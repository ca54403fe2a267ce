# SPDX-License-Identifier: GPL-2.0-or-later
"""A link whose rate is divided among the hosts that send over it: section `management:` of a topology file.

Source: C. A. Grazia, "Communication Networks for Public Protection and Disaster Relief Systems" (dissertation, Univ. of Modena
and Reggio Emilia): C2ML with Unweighted Fair Budget (section 2.2.3), DyBRA (section 2.3.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import Field

from contracts.management_key import ManagementKey
from contracts.name import Name
from contracts.quantities import RATE, Quantity
from testbed.description.input_errors import nearest
from testbed.description.section import Section
from testbed.description.yaml_source import Location

#: Of one link; `middleware/allocator.h` takes as many.
MOST_MEMBERS: Final = 65_536
#: Networks that a member reaches without the link; `middleware/part_configuration.cc` takes as many.
MOST_BESIDE: Final = 256
#: Keys that only DyBRA has a use for.
_OF_DYBRA: Final = ("equations", "threshold", "access")

#: What is divided, and accesses.
ManagedRate: Final = Quantity(RATE, 1e3, 1e12)
_Rate = Annotated[float, ManagedRate]


class ManagedLink(Section):
    """A link, the node whose allocator divides its rate, and the hosts among which it is divided."""

    gateway: Name = Field(description="The host or Linux router that runs the allocator. All members must reach it.")
    members: tuple[Name, ...] = Field(
        min_length=1,
        max_length=MOST_MEMBERS,
        description="The hosts that send over the link, each with one budget.",
    )
    rate: _Rate | Literal["netbox"] = Field(
        description="What is divided, counted as IP packets; `netbox`: as the netbox `of` tells the gateway, with `telemetry`, "
        "also when it changes. A link that is down changes no budget."
    )
    exploitation: float = Field(
        1.0,
        gt=0.0,
        le=1.0,
        description="Of `rate: netbox`: the part of it that is divided, so that the link's queue stays short.",
    )
    of: Name | None = Field(
        None,
        description="The netbox whose rate it is: what members send to places that they reach without it takes nothing of their "
        "budgets. Default: all takes that leaves by the interface towards the gateway.",
    )
    kind: Literal["unweighted", "dybra"] = Field(
        "unweighted",
        description="unweighted: equal budgets. dybra: what members with a slow access cannot use goes to the others.",
    )
    equations: Literal["corrected", "printed"] = Field(
        "corrected", description="Of dybra: `printed` are those of the source, which assign more than the link has."
    )
    threshold: float = Field(0.2, ge=0.0, lt=1.0, description="Of dybra: a change of the access by less is not reported.")
    access: dict[Name, _Rate | Literal["netbox"]] = Field(
        {},
        description="Of dybra: the rate of members' access; `netbox`: as the netbox at its interface tells, with `telemetry`. "
        "Default: it is no limit.",
    )
    unruly: tuple[Name, ...] = Field(
        (), description="Members that do not keep to their budgets, as attackers: they are told them, and nothing enforces them."
    )
    without_lease: Literal["unmanaged", "hold"] = Field(
        "unmanaged", description="Of a member that hears no allocator: no budget applies, or the last one."
    )
    while_sending: bool = Field(
        False,
        description="In virtual time: a member has a budget only while it sends by TCP, as the source's clients. In labs, and by "
        "default, it has one all the time.",
    )
    announcements: Literal["copies", "multicast"] = Field(
        "copies",
        description="How members learn of a change: copies: a datagram for each. multicast: one for all; all must be in one IPv4 "
        "network with the gateway.",
    )
    key: ManagementKey | None = Field(
        None, description="What messages are authenticated with; default: a key that everybody knows."
    )

    def _wrong(self) -> Iterator[tuple[Location, str]]:
        if twice := [name for name, times in Counter(self.members).items() if times > 1]:
            yield ("members",), f"{twice[0]} is a member twice; leave it out once"
        if self.gateway in self.members:
            yield ("gateway",), f"{self.gateway} is a member, too, whose traffic does not cross the link; name another node"
        if self.rate == "netbox" and self.of is None:
            yield ("rate",), "which netbox tells the rate is not said; add of: and the netbox at the gateway"
        if self.rate != "netbox" and "exploitation" in self.model_fields_set:
            yield ("exploitation",), "of rate: netbox alone; leave it out, and give a lower rate"
        if self.kind != "dybra" and (
            unfit := [key for key in _OF_DYBRA if key in self.model_fields_set and getattr(self, key) != {}]
        ):
            yield (unfit[0],), "of dybra alone; leave it out, or write kind: dybra"
        for name in self.access:
            if name not in self.members:
                yield ("access", name), f"{name} is no member; {nearest(name, self.members)}"
        for index, name in enumerate(self.unruly):
            if name not in self.members:
                yield ("unruly", index), f"{name} is no member; {nearest(name, self.members)}"
