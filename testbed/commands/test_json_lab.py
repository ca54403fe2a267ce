# SPDX-License-Identifier: GPL-2.0-or-later
"""What programs get from commands on a lab that is up, and from a run: each line agrees with its schema."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from contracts.installation import CHECKOUT
from tests.documents import document, documents, result

pytestmark = [pytest.mark.lab, pytest.mark.patient]

NETWORK = """\
name: {name}
centre: right
hosts:
  left: {{address: 10.98.0.1/24, gateway: 10.98.0.254}}
  right: {{address: 10.98.1.2/24, gateway: 10.98.1.254}}
netboxes:
  line: {{technology: link, rate: 10 Mbit/s, delay: 5 ms, stations: {{a: {{}}, b: {{}}}}}}
routers:
  middle: {{engine: linux, interfaces: {{line: 10.98.0.254/24, right: 10.98.1.254/24}}}}
wires:
  - [left, line.a]
  - [line.b, middle.line]
  - [middle.right, right]
traffic:
  flow: {{application: udp-flow, from: left, to: right, rate: 100 kbit/s, duration: 1 s}}
"""


@pytest.fixture
def network(tmp_path: Path, nothing_left: None) -> Path:
    (file := tmp_path / "network.yaml").write_text(NETWORK.format(name=f"json{os.getpid()}"))
    return file


def netboxit(*words: str | Path, may_end: tuple[int, ...] = (0,)) -> str:
    argv = [sys.executable, CHECKOUT / "netboxit.py", *words, "--json"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode in may_end, done.stderr
    assert may_end != (0,) or done.stderr == "", "programs are told on standard output"
    return done.stdout


def steps(output: str) -> list[str]:
    return [one["words"] for one in documents(output)[:-1]]


def test_a_lab_from_up_to_down(network: Path, tmp_path: Path) -> None:
    name = f"json{os.getpid()}"
    try:
        output = netboxit("up", network)
        nodes = {node["name"]: node for node in result(output, "up")["nodes"]}
        assert nodes["line"]["netbox"]["technology"] == "link" and nodes["left"]["alive"] is True
        assert len(steps(output)) >= 2
        again = result(netboxit("up", network, may_end=(1,)), "errors")["errors"]
        assert [error["kind"] for error in again] == ["LabExists"]
        (change,) = result(netboxit("set", "line", "delay=20 ms"), "changes")["changes"]
        assert (change["kind"], change["value"], change["written"]) == ("parameter", 0.02, "20 ms")
        drilled = result(netboxit("drill", "link-flap", "wire=left--line", "times=1", "down=50 ms", "up=50 ms"), "changes")
        assert {one["kind"] for one in drilled["changes"]} == {"wire"}
        captured = result(netboxit("capture", "left", "line.b", tmp_path / "x.pcapng", "--duration", "0.5 s"), "capture")
        assert [point["by"] for point in captured["points"]] == ["kernel", "netbox"]
        (status,) = result(netboxit("status"), "status")["labs"]
        assert {"set", "wire"} <= {event["event"] for event in status["events"]}
        assert {line["kind"] for line in _watched()} >= {"lab", "interval"}
        network.write_text(network.read_text().replace("delay: 5 ms", "delay: 7 ms"))
        planned = result(netboxit("plan", network), "plan")["difference"]
        applied = result(netboxit("apply", network), "apply")
        assert applied["brought_up"] is False and applied["difference"]["nodes"] == planned["nodes"]
    finally:
        down = netboxit("down", "--all")
    assert result(down, "down")["removed"] == [name]


def test_a_run(network: Path, tmp_path: Path) -> None:
    output = netboxit("run", network, "--results", tmp_path / "results", may_end=(0, 3, 4))
    found = result(output, "run")
    assert "analysing" in " ".join(steps(output))
    assert found["metrics"]["flows"][0]["received"] > 0
    kept = document((Path(found["folder"]) / "metrics.json").read_text())
    assert kept == {"format": "netboxit metrics", "version": 2, **found["metrics"]}


def _watched() -> list[dict[str, Any]]:
    """Until each netbox was seen in an interval."""
    argv = [sys.executable, str(CHECKOUT / "netboxit.py"), "status", "--watch", "--interval", "0.2 s", "--json"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as watch:
        assert watch.stdout is not None
        lines: list[dict[str, Any]] = []
        while not any(line["kind"] == "interval" for line in lines):
            lines += documents(watch.stdout.readline())
        watch.terminate()
        watch.stdout.close()
    return lines
