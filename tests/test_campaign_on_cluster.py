# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign on three workers behind a switch, with TLS: one is killed in mid-run, one is cut off from the network.

Each worker is in a network namespace of its own, as is the controller with the scheduler. None of them is this machine's.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.campaign import INDEX_FILE, campaign_folder
from contracts.installation import CHECKOUT
from contracts.run_folder import FLOWS_TABLE, FRAMES_TABLE
from tests.dask_cluster import IMPATIENT, certificates, computing, scheduler, worker
from tests.namespaces import Namespace
from tests.waiting import until

pytestmark = [pytest.mark.lab, pytest.mark.patient, pytest.mark.long]

FILE: Final = f"""
campaign: far
topology: {CHECKOUT}/topologies/link.yaml
virtual: true
duration: 2 s
parameters:
  delay: {{path: netboxes.access.delay, values: [5 ms, 10 ms, 15 ms, 20 ms]}}
repetitions: 3
keep: frames
"""
CENTRE: Final = "10.77.0.1"
WORKERS: Final = {"first": "10.77.0.2", "second": "10.77.0.3", "third": "10.77.0.4"}
DEADLINE_S: Final = 240.0


@contextmanager
def network() -> Iterator[dict[str, Namespace]]:
    """A switch in the namespace `centre`, with a port for each worker's."""
    with ExitStack() as stack:
        spaces = {name: stack.enter_context(Namespace(name)) for name in ("centre", *WORKERS)}
        commands = ["link set lo up", "link add switch type bridge", "link set switch up", f"address add {CENTRE}/24 dev switch"]
        for name in WORKERS:
            commands.append(f"link add {name} type veth peer name eth netns {spaces[name].name}")
            commands += [f"link set {name} master switch", f"link set {name} up"]
        for command in commands:
            spaces["centre"].run("ip", *command.split()).check_returncode()
        for name, address in WORKERS.items():
            for command in ("link set lo up", "link set eth up", f"address add {address}/24 dev eth"):
                spaces[name].run("ip", *command.split()).check_returncode()
        yield spaces


def begun(file: Path, results: str, *words: str, within: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    command = [*within, sys.executable, CHECKOUT / "netboxit.py", "campaign", file, "--results", file.parent / results, "--json"]
    return subprocess.Popen([*command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def rows(folder: Path) -> list[dict[str, Any]]:
    """Of the index, without what they took."""
    lines = [json.loads(line) for line in (folder / INDEX_FILE).read_text().splitlines()]
    return sorted(({**line, "took_s": None} for line in lines), key=lambda line: str(line["name"]))


def test_each_run_comes_home_once_whatever_becomes_of_workers(tmp_path: Path) -> None:
    (file := tmp_path / "far.yaml").write_text(FILE)
    (keys := tmp_path / "keys").mkdir()
    (others := tmp_path / "others").mkdir()
    tls, foreign = certificates(keys), certificates(others)
    folder, log = campaign_folder(tmp_path / "cluster", "far"), tmp_path / "dask.log"
    with ExitStack() as stack:
        spaces = stack.enter_context(network())
        within = {name: space.command() for name, space in spaces.items()}
        words = ("--protocol", "tls", "--host", CENTRE, *tls)
        address, _ = stack.enter_context(scheduler(tmp_path, *words, within=within["centre"], settings=IMPATIENT))
        assert address.startswith(f"tls://{CENTRE}:")
        workers = {
            name: stack.enter_context(worker(tmp_path, address, name, "--host", own, *tls, within=within[name]))
            for name, own in WORKERS.items()
        }
        until(lambda: log.read_text().count("Registered to:") == len(WORKERS), "three workers", DEADLINE_S)

        stranger = begun(file, "stranger", "--scheduler", address, *foreign, within=within["centre"])
        assert "cannot be reached" in stranger.communicate()[1]
        assert stranger.returncode == 1

        campaign = begun(file, "cluster", "--scheduler", address, *tls, within=within["centre"])

        def runs(name: str) -> bool:
            assert campaign.poll() is None, campaign.communicate()
            return bool(computing(workers[name].pid))

        until(lambda: runs("first"), "a run of the first worker", DEADLINE_S)
        workers["first"].kill()
        until(lambda: runs("second"), "a run of the second worker", DEADLINE_S)
        spaces["centre"].run("ip", "link", "set", "second", "down").check_returncode()
        # It goes on with its run, and is back with the result when another worker has it.
        until(lambda: "second" in removed(log), "that the scheduler misses the second worker", DEADLINE_S)
        spaces["centre"].run("ip", "link", "set", "second", "up").check_returncode()
        done, said = campaign.communicate()
        assert campaign.returncode == 0, said
    assert json.loads(done.splitlines()[-1])["runs"] == {"valid": 12, "degraded": 0, "invalid": 0}

    local = begun(file, "local")
    local.communicate()
    alone = campaign_folder(tmp_path / "local", "far")
    assert len(rows(folder)) == len({row["name"] for row in rows(folder)}) == 12
    assert rows(folder) == rows(alone)
    for row in rows(folder):
        for table in (FLOWS_TABLE, FRAMES_TABLE):
            assert (folder / "runs" / row["name"] / table).read_bytes() == (alone / "runs" / row["name"] / table).read_bytes()


def removed(log: Path) -> set[str]:
    """Names of workers whose address the scheduler says that it removed."""
    lines = [line for line in log.read_text().splitlines() if "Remove worker" in line]
    return {name for name, address in WORKERS.items() if any(f"{address}:" in line for line in lines)}
