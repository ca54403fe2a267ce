# SPDX-License-Identifier: GPL-2.0-or-later
"""A running netbox takes of a live parameter what its `parameters.py` takes in a file: both have limits, the same ones."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

from contracts.netbox_configuration import Limit
from netboxes.engine.real import RunningNetbox
from netboxes.live_limits import live_limits
from netboxes.queueing.queue import Discipline, InnerQueue
from netboxes.technology import technologies
from netboxes.test_hostile_control import on_memory_wires
from system import rings
from testbed.description.live import parsed, read_value

_RANGE = re.compile(r"it is a (?:whole )?number from (\S+) to (\S+)")


@pytest.fixture(autouse=True)
def rings_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rings, "FOLDER", tmp_path / "rings")


@pytest.mark.parametrize("technology", sorted(technologies()))
def test_a_netbox_has_the_limits_of_its_parameters(technology: str, tmp_path: Path) -> None:
    limits = live_limits(technologies()[technology])
    written = {
        (whose, name): (limit["minimum"], limit["maximum"])
        for whose, named in (("", limits["segment"]), ("station.", limits["stations"]))
        for name, limit in named.items()
        if "minimum" in limit
    }
    with on_memory_wires(technology, tmp_path) as netbox:
        wrong = {
            f"{whose}{name}": (expected, answers)
            for (whose, name), expected in written.items()
            if (answers := {*_told(netbox, whose, name)}) != {expected}
        }
    assert not wrong


def _told(netbox: RunningNetbox, whose: str, name: str) -> Iterator[tuple[float, float]]:
    stations = [station["name"] for station in json.loads((netbox.folder / "netbox.json").read_text())["stations"]]
    for target in [f"{station}.{name}" for station in stations] if whose else [name]:
        if limits := _RANGE.search(_refusal(netbox, target, 1e300)):
            yield float(limits[1]), float(limits[2].rstrip(".,;"))


def _refusal(netbox: RunningNetbox, parameter: str, value: object) -> str:
    """Empty: the netbox has taken it."""
    request = {"jsonrpc": "2.0", "id": 1, "method": "set", "params": {"parameter": parameter, "value": value}}
    answer: Mapping[str, Any] = netbox.ask(json.dumps(request))
    return str(answer["error"]["message"]) if "error" in answer else ""


#: As in YAML: each word that a link's mappings have, with numbers at both of their limits. It tells of no channels, so it has
#: no queue `modular`.
LINK = [
    *(f"queue={{discipline: {name}, packets: 1, bytes: 2 GB}}" for name in get_args(Discipline) if name != "modular"),
    "queue={discipline: codel, target: 0.1 ms, interval: 60 s, buffer: 1 ms, time: 25 s}",
    "queue={discipline: fq-codel, flows: 65536, quantum: 64 B}",
    "queue={discipline: pie, target: 10 s, interval: 1 ms, burst: 0 s}",
    "queue={discipline: red, minimum: 1, maximum: 1000000, probability: 1, weight: 0.000001}",
    "jitter={distribution: constant}",
    *(f"jitter={{distribution: {name}, deviation: 5 s}}" for name in ("uniform", "normal", "pareto", "pareto-normal")),
    "jitter={deviation: 1 ms, shape: 2.1, correlation: 0.999, reorder: true}",
    "loss={good_to_bad: 1, bad_to_good: 0, loss_in_good: 0, loss_in_bad: 1}",
    "loss={probability: 0.5, burst: 1000000}",
    "loss=1",
    "loss={model: gilbert-elliott-in-time, good: 1 ms, bad: 24 h, loss_in_good: 0, loss_in_bad: 1}",
    "loss={model: two-state, good: 24 h, bad: 1 ms, bit_error_rate_in_good: 0, bit_error_rate_in_bad: 0.5}",
    *(f"loss={{model: byte-intervals, interval: 1 B, distribution: {name}}}" for name in ("exponential", "uniform")),
    "loss={model: trace, file: netboxes/errors/test-frames.csv}",
    "loss={model: trace, file: netboxes/errors/test-periods.csv, repeat: false}",
    "reordering={probability: 1, gap: 1000000, by: 5 s}",
    "corruption={bit_error_rate: 0.5, frames: damaged}",
    "corruption={bit_error_rate: 0, frames: dropped}",
    "outage={up: 1 ms, down: 24 h, distribution: fixed}",
    "outage={up: 24 h, down: 1 ms, distribution: exponential}",
    "trace=netboxes/link/test-series.csv",
    "trace=netboxes/link/test-opportunities.trace",
    *("while_down=lose", "while_down=wait", "up=false", "up=true"),
]


def test_a_link_takes_all_words_and_numbers_that_a_file_can_have(tmp_path: Path) -> None:
    model = technologies()["link"]
    (tmp_path / "jitter.csv").write_text("jitter_s\n-10\n10\n")
    assignments = [*LINK, "jitter={distribution: table, table: jitter.csv}"]
    with on_memory_wires("link", tmp_path) as netbox:
        for text in assignments:
            for target in ("", "left."):
                folder = tmp_path if "jitter.csv" in text else Path.cwd()
                parameter, value = parsed(f"{target}{text}")
                assert not _refusal(netbox, parameter, read_value(model, parameter, value, {"folder": folder}))


def test_only_what_a_link_need_not_have_can_be_taken_from_it(tmp_path: Path) -> None:
    with on_memory_wires("link", tmp_path) as netbox:
        for parameter in technologies()["link"].LIVE:
            for target in (parameter, f"left.{parameter}"):
                assert (_refusal(netbox, target, None) == "") is (parameter in ("outage", "trace")), target


def test_a_link_takes_no_number_of_a_mapping_beyond_its_limits(tmp_path: Path) -> None:
    """Each number of each mapping in turn, in a value that is sound otherwise."""
    model = technologies()["link"]
    tried: set[str] = set()
    with on_memory_wires("link", tmp_path) as netbox:
        for parameter, value in (parsed(text) for text in LINK):
            sound = read_value(model, parameter, value, {"folder": Path.cwd()})
            limit = live_limits(model)["segment"][parameter]
            for key, own in _numbers(limit, sound):
                wrong: list[Any] = [own["minimum"] - 1e-7, own["maximum"] * 1.001, "1", None, [], True]
                for beyond in wrong:
                    if beyond is None and own.get("optional"):
                        continue
                    refusal = _refusal(netbox, parameter, {**sound, key: beyond})
                    assert f"its {key} is a " in refusal, (parameter, key, beyond)
                    assert f"number from {own['minimum']:g} to {own['maximum']:g} {own['unit']}".rstrip() in refusal
                tried.add(f"{parameter}.{key}")
    no_numbers, of_modular_alone = {"discipline", "ecn", "isolation"}, {"prefetch"}
    settings = set(InnerQueue.model_fields) - no_numbers - of_modular_alone
    assert {key for name, key in (parameter.split(".") for parameter in tried) if name == "queue"} == settings
    assert {parameter for parameter in tried if not parameter.startswith("queue")} == {
        *("jitter.deviation", "jitter.shape", "jitter.correlation"),
        *("loss.good_to_bad", "loss.bad_to_good", "loss.loss_in_good", "loss.loss_in_bad"),
        *("loss.bit_error_rate_in_good", "loss.bit_error_rate_in_bad", "loss.good", "loss.bad"),
        *("loss.probability", "loss.interval"),
        *("reordering.probability", "reordering.gap", "reordering.by", "corruption.bit_error_rate", "outage.up", "outage.down"),
    }


def _numbers(limit: Limit, value: object) -> Iterator[tuple[str, Limit]]:
    """Those that a mapping of this value has."""
    if not isinstance(value, Mapping):
        return
    further = [words.get(value[key], {}) for key, words in limit.get("cases", {}).items()]
    for keys in (limit.get("keys", {}), *further):
        yield from ((key, own) for key, own in keys.items() if "minimum" in own)
