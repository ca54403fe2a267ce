# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a run that is there is the one that the campaign's file and topologies mean now, wherever these are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from campaigns.plan_paths import replaced
from contracts.installation import CHECKOUT, ENVIRONMENT
from contracts.plan import Plan
from system.rootfs import NODE_FOLDER
from system.user_privileges import as_user

#: Words for people, and what only says where on a machine a lab is.
_OF_NO_CONSEQUENCE: Final = ("topology", "notes", "lab", "awake_cores", "cores_needed", "realtime_budget_us")
_OF_A_NODE: Final = ("cores", "container", "namespace", "realtime_priority")
#: In place of the name that a node's copy of a file has: that of the file.
_COPY: Final = "copy"


def of_plan(plan: Plan, least_s: float, named: Mapping[str, Path]) -> str:
    """SHA-256 of all that a run follows from but the program itself.

    `named` are the files that the topology names (`contracts.files.files_found`). They count by their content, wherever they are
    and whatever their names; so do files of hosts.
    """
    data = plan.to_json()
    for key in _OF_NO_CONSEQUENCE:
        del data[key]
    names = {path.name for path in named.values()}
    for node in data["nodes"]:
        for key in _OF_A_NODE:
            del node[key]
        node["files"] = {_COPY if name in names else name: text for name, text in node["files"].items()}
        for copied in node["copied"].values():
            del copied["source"]
    for wire in data["wires"]:
        del wire["reason"]
    if not plan.warm_up_s:  # runs that were made before there was one are still meant
        del data["warm_up_s"]
    with as_user():
        contents = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in set(named.values())}
    text = json.dumps([replaced(data, _places(contents)), least_s, sorted(contents.values())], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _places(contents: Mapping[Path, str]) -> dict[str, str]:
    """What stands in a digest for the places of these files, and for that of NetBoxIT."""
    here = {str(CHECKOUT): "checkout", str(ENVIRONMENT): "environment"}
    copies = {f"{NODE_FOLDER}/{path.name}": f"{NODE_FOLDER}/{_COPY}" for path in contents}
    return here | copies | {str(path): content for path, content in contents.items()}


def of_run(point: str, seed: int) -> str:
    """From the digest of its point."""
    return hashlib.sha256(f"{point} {seed}".encode()).hexdigest()
