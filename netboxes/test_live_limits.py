# SPDX-License-Identifier: GPL-2.0-or-later
"""A running netbox takes of a live number what its `parameters.py` takes in a file: both have limits, the same ones."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from netboxes.engine.real import RunningNetbox
from netboxes.live_limits import live_limits
from netboxes.technology import technologies
from netboxes.test_hostile_control import on_memory_wires
from system import rings

_RANGE = re.compile(r"it is a number from (\S+) to (\S+)")


@pytest.mark.parametrize("technology", sorted(technologies()))
def test_a_netbox_has_the_limits_of_its_parameters(technology: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rings, "FOLDER", tmp_path / "rings")
    limits = live_limits(technologies()[technology])
    written = {
        (whose, name): (limit["minimum"], limit["maximum"])
        for whose, named in (("", limits["segment"]), ("station.", limits["stations"]))
        for name, limit in named.items()
        if "minimum" in limit
    }
    with on_memory_wires(technology, tmp_path) as netbox:
        wrong = {
            f"{whose}{name}": (expected, found)
            for (whose, name), expected in written.items()
            if (found := {*_told(netbox, whose, name)}) != {expected}
        }
    assert not wrong


def _told(netbox: RunningNetbox, whose: str, name: str) -> Iterator[tuple[float, float]]:
    stations = [one["name"] for one in json.loads((netbox.folder / "netbox.json").read_text())["stations"]]
    for target in [f"{station}.{name}" for station in stations] if whose else [name]:
        request = {"jsonrpc": "2.0", "id": 1, "method": "set", "params": {"parameter": target, "value": 1e300}}
        answer: Mapping[str, Any] = netbox.ask(json.dumps(request))
        if found := _RANGE.search(answer["error"]["message"]):
            yield float(found[1]), float(found[2].rstrip(".,;"))
