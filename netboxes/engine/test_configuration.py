# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import copy
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from netboxes.engine.test_virtual import LIVE
from netboxes.engine.virtual import udp
from netboxes.technology import program
from results import pcapng

GOOD: dict[str, Any] = {
    "name": "x",
    "technology": "loopwire",
    "clock": "virtual",
    "stations": [{"name": "a", "port": {"kind": "pcapng"}}, {"name": "b", "port": {"kind": "pcapng"}}],
    "parameters": {},
    "live": LIVE,
}


def start(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    (folder / "netbox.json").write_text(text)
    return subprocess.run([program("loopwire"), folder / "netbox.json"], capture_output=True, text=True)


def test_a_good_configuration_runs(tmp_path: Path) -> None:
    ran = start(tmp_path, json.dumps(GOOD))
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        (["clock"], "reel", 'clock: is "reel"'),
        (["seed"], -1, "seed: is -1"),
        (["name"], None, "name: missing"),
        (["colour"], "red", "colour: no such key"),
        (["stations"], [], "stations: a segment joins from 1"),
        (["stations", 1, "name"], "a", 'stations[1].name: a second station is called "a"'),
        (["stations", 0, "port", "kind"], "packet", 'stations[0].port.kind: is "packet"'),
        (["stations", 0, "port", "interface"], "x", "stations[0].port.interface: no such key"),
        (["stations", 0, "port", "input"], "/nowhere.pcapng", "cannot read /nowhere.pcapng"),
        (["stations", 0, "port", "input"], "/proc/version", "is not a pcapng capture"),
        (["classes"], [{"name": "v", "match": {"dscp": [64]}}], 'classes: class "v": dscp is 64'),
        (["classes"], [{"name": "v", "match": {"ports": [[2, 1]]}}], 'classes: class "v": ports has [2,1]'),
        (["classes"], [{"name": "v", "match": {"source": "10.0.0.0/33"}}], 'classes: class "v": "10.0.0.0/33" is no IPv4'),
        (["classes"], [{"name": "v", "match": {"colour": 1}}], 'classes: class "v": no condition is called "colour"'),
        (["classes"], [{"name": "default"}], 'classes: class "default": the name is taken'),
        (["realtime"], {"policy": "ignore"}, 'realtime.policy: is "ignore"'),
        (["records"], "/nowhere/frames.bin", "cannot write frame records to /nowhere/frames.bin"),
        (["events"], [{"at_s": 0.5, "parameter": "colour", "value": 1}], "events: no live parameter 'colour'; there are delay"),
        (
            ["events"],
            [{"at_s": 0.5, "parameter": "delay", "value": -1}],
            "events: delay cannot be -1; it is a number from 0 to 10 s",
        ),
        (["parameters"], {"delay": 11}, "parameters: delay cannot be 11; it is a number from 0 to 10 s"),
        (["live"], None, "live: missing"),
        (["live"], [], "live: segment: "),
        (["live"], {"segment": {}}, "live: stations: "),
        (["live", "segment", "delay"], {"minimum": 0}, "live: segment: "),
    ],
)
def test_a_bad_one_is_refused_in_one_line_that_names_key_and_cause(
    tmp_path: Path, where: list[str | int], value: object, message: str
) -> None:
    configuration = copy.deepcopy(GOOD)
    place: Any = configuration
    for key in where[:-1]:
        place = place[key]
    place[where[-1]] = value
    ran = start(tmp_path, json.dumps(configuration))
    assert ran.returncode == 2
    assert message in ran.stderr
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("port", "message"),
    [
        ({"kind": "pcapng"}, 'stations[0].port.kind: is "pcapng"; with this clock a port is of kind "packet", "xdp" or "memory"'),
        ({"kind": "packet"}, "stations[0].port.interface: missing"),
        ({"kind": "xdp", "interface": "x"}, "stations[0].port.fallback: missing"),
        ({"kind": "xdp", "interface": "x", "fallback": 1}, "stations[0].port.fallback: is 1, not true or false"),
        ({"kind": "memory", "end": "left"}, "stations[0].port.wire: missing"),
        ({"kind": "memory", "wire": "/x", "end": "top"}, 'stations[0].port.end: is "top", not "left" or "right"'),
        ({"kind": "memory", "wire": "/x", "end": "left", "interface": "x"}, "stations[0].port.interface: no such key"),
    ],
)
def test_a_port_of_real_time_says_what_its_kind_needs_and_no_more(
    tmp_path: Path,
    port: dict[str, object],
    message: str,
) -> None:
    stations = [{"name": "a", "port": port}, {"name": "b", "port": {"kind": "packet", "interface": "x"}}]
    ran = start(tmp_path, json.dumps(GOOD | {"clock": "real", "stations": stations}))
    assert ran.returncode == 2
    assert message in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_what_is_not_json_is_refused(tmp_path: Path) -> None:
    ran = start(tmp_path, "{name: x}")
    assert ran.returncode == 2
    assert "is not JSON" in ran.stderr


def test_a_capture_that_is_not_in_order_of_time_ends_the_run_with_a_remedy(tmp_path: Path) -> None:
    pcapng.write(tmp_path / "in.pcapng", [(1000, udp(1, 2)), (3000, udp(1, 2)), (2000, udp(1, 2))])
    configuration = copy.deepcopy(GOOD)
    configuration["stations"][0]["port"]["input"] = str(tmp_path / "in.pcapng")
    ran = start(tmp_path, json.dumps(configuration))
    assert ran.returncode == 1
    assert "in.pcapng: its packets are not in order of time; sort them with reordercap" in ran.stderr
