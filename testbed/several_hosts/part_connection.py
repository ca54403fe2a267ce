# SPDX-License-Identifier: GPL-2.0-or-later
"""A connection to a part of a lab that is up."""

from __future__ import annotations

from testbed.several_hosts.connection import Connection
from testbed.several_hosts.parts_file import Parts


def opened(parts: Parts, host: str, lab: str) -> Connection:
    """A connection to the part of a lab that another machine has. Raises NotConnected, NotThatLabs."""
    connection = Connection(next(machine for machine in parts.machines if machine.name == host))
    try:
        connection.request("open", lab=lab, owner=parts.owner)
    except BaseException:
        connection.close()
        raise
    return connection
