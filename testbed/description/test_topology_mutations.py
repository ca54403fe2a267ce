# SPDX-License-Identifier: GPL-2.0-or-later
"""Topologies in which any part is another thing than it should be, with all sections and any key that the schema knows."""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.errors import BadTopology
from contracts.installation import CHECKOUT
from contracts.plan import RealtimeSupport
from testbed.description.topology_file import load
from testbed.description.topology_schema import schema
from testbed.description.yaml_source import read
from testbed.plans.resolve import resolve

Place = tuple[str | int, ...]

REALTIME = RealtimeSupport(True, 950_000, "")
SETTINGS = settings(max_examples=int(os.environ.get("NETBOXIT_MUTATIONS", "50")), derandomize=True)

#: What the emergency network does not have.
SWITCH = {"ports": {"one": {"vlan": 10}, "two": {"vlan": 10, "limit": "1 Mbit/s"}, "three": {"trunk": [10, 20]}}, "flows": []}
EQUIPMENT = {"radio": {"nic": "eth9", "address": "10.77.0.2/24"}, "machine": {"tap": "nbxvm"}}
REPLACE = {"backhaul": {"meoc": {"nic": "eth7"}, "hub": {"nic": "eth8"}}}
TRAFFIC = {
    "file": {"application": "bulk", "from": "fr1", "to": "eoc", "size": "1 MB", "parallel": 2},
    "sensors": {
        "application": "udp-flow",
        "from": "fr1",
        "to": "eoc",
        "rate": "10 kbit/s",
        "pattern": "on-off",
        "on_time": "2 s",
    },
    "pages": {"application": "web", "from": "eoc", "to": "fr1", "model": "802.16m", "think": "5 s", "count": 9},
    "news": {
        **{"application": "web", "from": "eoc", "to": "fr1", "port": 8081, "connections": 2, "persistent": False},
        "pages": [{"objects": ["20 kB", "4 kB"], "think": "5 s"}],
    },
    "film": {
        **{"application": "dash", "from": "eoc", "to": "fr1", "port": 8082, "ladder": ["500 kbit/s", "1 Mbit/s"]},
        **{"adaptation": "buffer", "back_off": "20 s", "variant": "newreno"},
    },
    "probe": {"application": "command", "from": "fr1", "to": "eoc", "run": "true"},
}
EVENTS = [
    {"at": "1 s", "netbox": "field", "set": {"distance": "90 m"}},
    {"at": "2 s", "wire": ["fr1", "field.responder"], "state": "down"},
    {"when": {"netbox": "backhaul", "station": "hub", "silent": "2 s"}, "wire": ["fr1", "field.responder"], "state": "up"},
    {"name": "rain", "at": "5 s", "drill": "satellite-fade", "with": {"depth": "10 dB"}},
    {"when": {"event": "rain"}, "delay": "1 s", "node": "meoc", "reboot": "2 s"},
    {"at": "9 s", "node": "meoc", "write": {"jan_shaper.rate": "1000kbps"}},
]


HOSTILE: tuple[Any, ...] = (
    *(None, True, 0, -1, 2**63, 10**400, 1e308, float("inf"), float("nan"), "", " ", "x", "a" * 10_000, [], {}, [[]], {"": {}}),
    *(
        "\0",
        "\n",
        "\u202e\ufeff",
        "\U0001f4a9",
        "../../etc/passwd",
        "/dev/zero",
        "$(id)",
        "%s%n",
        "-x",
        "--",
        "a\x1b[31mb",
        "٣ m",
    ),
    *(
        "1e999 m",
        "NaN s",
        "-0 s",
        "1e-320 s",
        "0x10",
        "::1/128",
        "255.255.255.255/32",
        "0.0.0.0/0",
        "10.0.0.1/-1",
        "fe80::1%eth0/64",
    ),
    *(
        ["a", "b"],
        ["a.b.c", "."],
        {"at": "x"},
        {"nic": "lo"},
        [1] * 500,
        {str(n): n for n in range(300)},
        {"a": {"b": {"c": {"d": []}}}},
    ),
)


@cache
def whole() -> dict[str, Any]:
    data: dict[str, Any] = dict(read(CHECKOUT / "topologies" / "emergency.yaml").data)
    data["hosts"]["desk"] = {"address": "10.77.0.1/24", "start": "true", "restart": "always"}
    data["traffic"] |= TRAFFIC
    data["wires"] += [["desk", "core.one"], ["radio", "core.two"], ["machine", "core.three"]]
    return copy.deepcopy(data | {"switches": {"core": SWITCH}, "equipment": EQUIPMENT, "replace": REPLACE, "events": EVENTS})


@cache
def vocabulary() -> tuple[str, ...]:
    """Every key that means something somewhere."""
    found: set[str] = set()

    def look(part: Any) -> None:
        if isinstance(part, dict):
            found.update(part.get("properties", {}))
        for inside in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            look(inside)

    look(schema())
    return tuple(sorted(found))


def places(data: Any, above: Place = ()) -> Iterator[Place]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, inside in items:
        yield (*above, key)
        yield from places(inside, (*above, key))


def at(data: Any, place: Place) -> Any:
    for key in place:
        data = data[key]
    return data


def mutate(data: Any, chance: random.Random) -> None:
    """One place of it becomes something else, in place."""
    place = chance.choice(list(places(data)))
    around, key = at(data, place[:-1]), place[-1]
    kind = chance.randrange(6)
    if kind == 0:
        del around[key]
    elif kind == 1 and isinstance(around, dict):
        around[chance.choice(vocabulary())] = copy.deepcopy(around[key])
    elif kind == 2 and isinstance(around[key], dict):
        around[key][chance.choice(vocabulary())] = copy.deepcopy(chance.choice(HOSTILE))
    elif kind == 3:
        around[key] = copy.deepcopy(at(data, chance.choice(list(places(data)))))
    elif kind == 4 and isinstance(around, dict):
        around[str(chance.choice(HOSTILE))[:300]] = around.pop(key)
    else:
        around[key] = copy.deepcopy(chance.choice(HOSTILE))


def load_or_be_told(file: Path) -> None:
    try:
        topology = load(file)
    except BadTopology as told:
        assert told.errors
        assert all(error.cause.isprintable() and error.remedy.isprintable() and error.line >= 1 for error in told.errors)
    else:
        resolve(topology, cores=(0, 1, 2), realtime=REALTIME)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mutants") / "mutant.yaml"


@pytest.mark.parametrize("replaced", [False, True])
def test_what_is_mutated_is_sound(file: Path, replaced: bool) -> None:
    topology = whole() if replaced else {key: value for key, value in whole().items() if key != "replace"}
    if replaced:
        topology = topology | {"events": [EVENTS[0], EVENTS[1], EVENTS[5]]}
    file.write_text(json.dumps(topology))
    resolve(load(file), cores=(0, 1, 2), realtime=REALTIME)


@SETTINGS
@given(seed=st.integers(0, 2**32))
def test_a_topology_with_anything_anywhere_is_sound_or_its_writer_is_told(file: Path, seed: int) -> None:
    chance = random.Random(seed)
    mutant = copy.deepcopy(whole())
    if chance.random() < 0.7:
        del mutant["replace"]
    else:
        mutant["events"] = copy.deepcopy([EVENTS[0], EVENTS[1], EVENTS[5]])  # the others are of the netbox that is replaced
    for _ in range(chance.choice((1, 1, 2, 5))):
        mutate(mutant, chance)
    file.write_text(json.dumps(mutant))  # JSON is YAML
    load_or_be_told(file)


def doubled(levels: int, width: int) -> str:
    """The "billion laughs": each line has the one above so many times."""
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * width)}]" for level in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        doubled(40, 9),
        "name: x\nhosts: " + "[" * 20_000,
        "name: x\nhosts: " + "{a: " * 20_000 + "}" * 20_000,
        "\n".join(" " * depth + "a:" for depth in range(1, 700)),
        "name: " + "9" * 100_000,
        "name: x\nseed: 0x" + "f" * 100_000,
        "name: x\nname: y\nname: z",
        "name: !!python/object/apply:os.system [id]",
        "name: !!binary x\nhosts: !!set {a, b}",
        "a: &a {b: *a}",
        "? [a, b]\n: c",
        "name: x\0y",
        'name: "\\ud800"',
        "name: x\n<<: [*y, *z]",
        "%YAML 9.9\n---\nname: x",
        "name: 'x\n" * 2000,
        "- " * 20_000,
        "? " * 20_000,
        "&a " * 20_000,
        "!" * 100_000,
        "a: |" + "9" * 10_000 + "\n  x",
    ],
    ids=lambda text: str(text)[:20].replace("\n", " ").replace("\0", "0"),
)
def test_yaml_that_is_made_to_do_harm_is_refused(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(BadTopology) as told:
        load(file)
    assert all(error.cause.isprintable() for error in told.value.errors)
