# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs for a moment: whether containers start here, and frames cross wires of both kinds."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from contracts.errors import NetBoxITError
from contracts.installation import BUILD
from system.realtime_support import realtime_support
from testbed.documents.host import Ability
from testbed.labs.lab import Lab
from testbed.plans.planning import plan_file

#: Containers of both kinds of nodes, which have other rights, a wire of memory between two emulators, and veth wires.
_NETWORK: Final[dict[str, Any]] = {
    "name": "doctor",
    "hosts": {"a": {"address": "10.0.0.1/24"}, "b": {"address": "10.0.0.2/24"}},
    "netboxes": {name: {"technology": "ethernet", "stations": {"left": {}, "right": {}}} for name in ("one", "two")},
    "wires": [["a", "one.left"], ["one.right", "two.left"], ["two.right", "b"]],
}
#: One answer within so many seconds. The first ping is answered within a millisecond, unless a core is in great demand.
_PING: Final = ("ping", "-c", "1", "-i", "0.2", "-w", "10", "10.0.0.2")


def probe() -> Ability:
    try:
        with up("doctor", _NETWORK) as lab:
            plan, pinged = lab.plan, lab.run("a", _PING)
    except NetBoxITError as error:
        return Ability(
            "a lab",
            "no",
            f"it does not come up: {error}",
            "labs",
            f"what the message names; where something is not built: {BUILD}",
            needed=True,
        )
    kinds = " and ".join(sorted({wire.kind for wire in plan.wires}))
    if pinged.returncode:
        return Ability(
            "a lab", "no", f"no ping crosses {kinds} wires: {pinged.stdout}", "labs", "look for packet filters", needed=True
        )
    return Ability("a lab", "yes", f"{len(plan.nodes)} nodes came up, a ping crossed {kinds} wires", needed=True)


@contextmanager
def up(name: str, network: Mapping[str, Any]) -> Iterator[Lab]:
    """A lab of this network, by a name that no other has."""
    with tempfile.TemporaryDirectory(prefix="netboxit-") as folder:
        Path(folder).chmod(0o711)  # a topology is read with the rights of who calls, who may be an operator
        file = Path(folder, f"{network['name']}.yaml")
        file.write_text(json.dumps(network))  # JSON is YAML
        plan = plan_file(file, lab=f"{name}-{os.getpid()}", realtime=realtime_support())
        with Lab.up_and_ready(plan) as lab:
            yield lab
