# SPDX-License-Identifier: GPL-2.0-or-later
"""A run and a campaign in virtual time, exported, imported where nothing of theirs is, and made again: the same to the bit."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from contracts.installation import CHECKOUT
from results.runs import Runs
from tests.documents import documents

#: Keys are in an order that is not that of the alphabet, as people write them; stations are numbered by it.
TOPOLOGY = """\
name: archived
centre: b
hosts: {b: {address: 10.0.0.2/24}, a: {address: 10.0.0.1/24}}
netboxes:
  net:
    technology: link
    stations: {b: {rate: 2 Mbit/s, loss: {probability: 0.05}}, a: {rate: 1 Mbit/s, loss: {probability: 0.1}}}
    trace: {file: traces/rate.csv}
wires:
  - [a, net.a]
  - [net.b, b]
traffic:
  flow: {application: udp-flow, from: a, to: b, rate: 300 kbit/s, payload: 500 B, pattern: poisson}
"""
CAMPAIGN = """\
campaign: archived
topology: x.yaml
virtual: true
duration: 2 s
parameters: {size: {path: traffic.flow.payload, values: [100 B, 700 B]}}
repetitions: 1
keep: frames
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the run is made; it is moved away before the run is made again."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "traces").mkdir()
    (folder / "traces/rate.csv").write_text("time_s,rate_bit_s\n0,1000000\n0.5,400000\n1,800000\n")
    (folder / "x.yaml").write_text(TOPOLOGY)
    (folder / "campaign.yaml").write_text(CAMPAIGN)
    return folder


def netboxit(folder: Path, *arguments: str | Path, status: int = 0) -> dict[str, Any]:
    command = [sys.executable, CHECKOUT / "netboxit.py", *arguments, "--json"]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=200)
    assert said.returncode == status, said.stderr
    return documents(said.stdout)[-1]


@pytest.fixture(scope="module")
def imported(home: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders of the run and of the campaign, on a machine that has none of their files."""
    there = tmp_path_factory.mktemp("there")
    netboxit(home, "run", "x.yaml", "--virtual", "--duration", "2 s", "--set", "seed=7")
    netboxit(home, "campaign", "campaign.yaml")
    archives = [
        netboxit(home, "export", folder, "--out", there / f"{number}.zip")["file"]
        for number, folder in enumerate(("results/latest", "results/campaigns/archived"))
    ]
    shutil.rmtree(home)
    run, campaign = (Path(netboxit(there, "import", archive)["folder"]) for archive in archives)
    return {"run": run, "campaign": campaign}


def test_a_run_is_the_same_to_the_bit_where_none_of_its_files_is_and_another_netboxit_is_told(imported: dict[str, Path]) -> None:
    environment = json.loads((imported["run"] / "environment.json").read_text())
    environment["netboxit"]["commit"], environment["python"]["polars"] = "0" * 12, "0.1"
    (imported["run"] / "environment.json").write_text(json.dumps(environment))
    made = netboxit(imported["run"].parents[2], "run", "--again", imported["run"])
    assert made["same"] and not made["differences"] and not made["equal"]
    assert made["identical"] == ["frames.parquet", "series.parquet", "flows.parquet", "measures.parquet"]
    new = Path(made["folder"])
    assert new != imported["run"]
    for file in ("topology.yaml", "request.json", "captures/a.pcapng", "nodes/net/frames.bin"):
        assert (new / file).read_bytes() == (imported["run"] / file).read_bytes()
    assert any("NetBoxIT 000000000000 made the run" in note for note in made["notes"])
    assert any(note.startswith("polars was 0.1") for note in made["notes"])


def test_a_campaign_is_the_same_to_the_bit(imported: dict[str, Path]) -> None:
    there = imported["campaign"].parents[2]
    made = netboxit(there, "campaign", "--again", imported["campaign"])
    assert (made["runs"], made["identical"], made["different"]) == (2, 2, [])
    assert not (there / "results/again").exists()
    assert sorted(Runs.open(imported["campaign"]).parameters["size"]) == ["100 B", "700 B"]


def test_a_run_that_differs_is_told_by_its_first_frame(imported: dict[str, Path], tmp_path: Path) -> None:
    other = shutil.copytree(imported["run"], tmp_path / "other")
    topology = (other / "topology.yaml").read_text()
    (other / "topology.yaml").write_text(topology.replace("seed: 7", "seed: 8"))
    made = netboxit(tmp_path, "run", "--again", other, status=1)
    assert made["same"] is False
    assert made["differences"][0].startswith("frames.parquet: row 1 (flow")


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (["run", "--again", "results/latest", "--duration", "5 s"], "leave --duration out"),
        (["run", "--again", "nothing"], "nothing is no folder"),
        (["run", "--again", "."], "no plan.json"),
        (["run"], "name a topology file"),
        (["campaign", "--again", "nothing"], "nothing is not there"),
        (["export", "nothing"], "nothing is not there"),
        (["import", "nothing"], "nothing cannot be read"),
        (["import", "nothing", "--most", "much"], "--most"),
    ],
)
def test_bad_input_is_told(words: list[str], cause: str, tmp_path: Path) -> None:
    said = netboxit(tmp_path, *words, status=2)
    assert any(cause in error["cause"] for error in said["errors"])


def test_a_run_that_does_not_say_its_length_is_not_repeated(imported: dict[str, Path], tmp_path: Path) -> None:
    old = shutil.copytree(imported["run"], tmp_path / "old")
    (old / "request.json").unlink()
    assert "says how long" in netboxit(tmp_path, "run", "--again", old, status=2)["errors"][0]["cause"]
    assert any("cannot repeat" in note for note in netboxit(tmp_path, "export", old)["notes"])
