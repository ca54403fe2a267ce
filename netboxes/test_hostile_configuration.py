# SPDX-License-Identifier: GPL-2.0-or-later
"""A netbox.json that nobody ought to write is refused with exit status 2 and one line, or it runs; nothing else happens."""

from __future__ import annotations

import copy
import json
import os
import random
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from netboxes.engine.hostile_messages import spoilt, value
from netboxes.live_limits import live_limits
from netboxes.technology import program, technologies
from netboxes.test_hostile_control import ENDS

CONFIGURATIONS = int(os.environ.get("NETBOXIT_HOSTILE_CONFIGURATIONS", "8"))
Place = tuple[str | int, ...]


def sound(technology: str) -> dict[str, Any]:
    model = technologies()[technology]
    parameters = model.model_validate(model.TYPICAL or ENDS[technology]).model_dump(mode="json")
    return {
        "name": "x",
        "technology": technology,
        "clock": "virtual",
        "seed": 1,
        "stations": [{"name": name, "port": {"kind": "pcapng"}} for name in parameters["stations"]],
        "classes": [{"name": "v", "match": {"dscp": [1], "ports": [[1, 2]], "source": "10.0.0.0/8"}}],
        "parameters": parameters,
        "live": live_limits(model),
        "realtime": {"limit_us": 1, "policy": "mark", "priority": 0},
        "events": [],
    }


def places(data: Any, above: Place = ()) -> Iterator[Place]:
    """Where there is something in it, itself left out."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, inside in items:
        yield (*above, key)
        yield from places(inside, (*above, key))


def changed(configuration: dict[str, Any], place: Place, to: Any) -> dict[str, Any]:
    changed = copy.deepcopy(configuration)
    around: Any = changed
    for key in place[:-1]:
        around = around[key]
    around[place[-1]] = to
    return changed


def start(technology: str, folder: Path, text: bytes) -> subprocess.CompletedProcess[bytes]:
    folder.mkdir(exist_ok=True)
    (file := folder / "netbox.json").write_bytes(text)
    return subprocess.run([program(technology), file], capture_output=True, timeout=60)


def hostile(technology: str, chance: random.Random) -> bytes:
    configuration = sound(technology)
    try:
        to = json.loads(value(chance, ("x", "out")))
    except ValueError:
        to = None
    configuration = changed(configuration, chance.choice(list(places(configuration))), to)
    # A run for hours would be a sound one.
    text = json.dumps({**configuration, "duration_s": 0.01}).encode()
    return spoilt(chance, text) if chance.random() < 0.1 else text


@pytest.mark.parametrize("technology", sorted(technologies()))
def test_a_hostile_configuration_is_refused_or_runs(technology: str, tmp_path: Path) -> None:
    chance = random.Random(technology)
    texts = [hostile(technology, chance) for _ in range(CONFIGURATIONS)]
    with ThreadPoolExecutor(os.cpu_count()) as several:
        started = several.map(start, repeat(technology), (tmp_path / str(number) for number in range(CONFIGURATIONS)), texts)
    for text, ended in zip(texts, started, strict=True):
        assert ended.returncode in (0, 2), (ended, text)
        assert ended.returncode == 0 or ended.stderr.count(b"\n") == 1, (ended, text)


@pytest.mark.parametrize(
    ("technology", "parameter", "to", "message"),
    [
        ("lte", "resource_blocks", 7, "invalid bandwidth value 7"),
        ("lte", "transmission_mode", 99, "transmission_mode: 99 is none"),
        ("lte", "enodebs", [], "there is none"),
        ("pan", "channel", 999, "hannel"),
    ],
)
def test_what_ns_3_would_end_the_process_for_is_refused_like_anything_else(
    technology: str, parameter: str, to: object, message: str, tmp_path: Path
) -> None:
    ended = start(technology, tmp_path, json.dumps(changed(sound(technology), ("parameters", parameter), to)).encode())
    assert ended.returncode == 2
    assert message in ended.stderr.decode()
    assert ended.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    ("technology", "place", "to", "message"),
    [
        ("link", ("rate",), 0, "parameters: rate cannot be 0; it is a number from 1000 to 1e+11 bit/s"),
        ("link", ("stations", "left", "delay"), "long", 'parameters: left.delay cannot be "long"; it is a number from 0 to 10 s'),
        ("link", ("queue", "packets"), 1e300, "its packets is a whole number from 1 to 1e+06"),
        ("link", ("queue",), {"discipline": "fq-codel"}, "its ecn is true or false"),
        ("link", ("jitter", "distribution"), "gauss", "its distribution is one of constant uniform"),
        ("ethernet", ("queue",), None, "parameters: queue cannot be null; it is a mapping with"),
        ("pmr", ("slots",), 2.5, "parameters: slots cannot be 2.5; it is a whole number from 1 to 4"),
        ("generator", ("size",), 1e9, "parameters: size cannot be 1000000000.0; it is a whole number from 64 to 1518 B"),
        ("wimax", ("service_flows",), [{"queue": {"discipline": "lifo"}}], "parameters: service_flows cannot be"),
    ],
)
def test_a_netbox_does_not_begin_with_values_beyond_their_limits(
    technology: str, place: Place, to: object, message: str, tmp_path: Path
) -> None:
    ended = start(technology, tmp_path, json.dumps(changed(sound(technology), ("parameters", *place), to)).encode())
    assert ended.returncode == 2
    assert message in ended.stderr.decode()
    assert ended.stderr.count(b"\n") == 1
