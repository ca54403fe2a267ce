# SPDX-License-Identifier: GPL-2.0-or-later
"""A topology file with something changed: what the runs of an experiment differ in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from contracts.installation import CHECKOUT

TOPOLOGIES = CHECKOUT / "topologies"


def variant(topology: str, folder: Path, name: str, change: Callable[[dict[str, Any]], None]) -> Path:
    """Writes `topologies/<topology>.yaml` into `folder` under another name, with what `change` makes of its content.

    The file keeps paths that lead from the checkout; comments do not come along.
    """
    yaml = YAML(typ="safe")
    yaml.default_flow_style = False
    content: dict[str, Any] = yaml.load(TOPOLOGIES / f"{topology}.yaml")
    content["name"] = name
    change(content)
    file = folder / f"{name}.yaml"
    with file.open("w") as opened:
        yaml.dump(content, opened)
    return file


def keep_traffic(content: dict[str, Any], *names: str) -> None:
    """Leaves only these entries of the traffic."""
    content["traffic"] = {name: content["traffic"][name] for name in names}
