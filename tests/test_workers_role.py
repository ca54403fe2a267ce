# SPDX-License-Identifier: GPL-2.0-or-later
"""ansible/workers.yml for real: two machines that are both this one, each with a loopback address of its own."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT, ENVIRONMENT
from tests.waiting import until

pytestmark = pytest.mark.long

FILE = f"""
campaign: far
topology: {CHECKOUT}/topologies/link.yaml
virtual: true
duration: 1 s
repetitions: 2
keep: figures
"""


def test_it_starts_a_cluster_once_and_takes_it_away(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    keys = tmp_path / "keys"
    machines: dict[str, dict[str, object]] = {
        name: {"netboxit_address": address, "netboxit_workers_folder": str(tmp_path / name)}
        for name, address in (("alpha", "127.0.0.1"), ("beta", "127.0.0.2"))
    }
    common = {
        "ansible_connection": "local",
        "netboxit_folder": str(CHECKOUT),
        "netboxit_cluster_keys": str(keys),
        "netboxit_scheduler_port": port,
        "netboxit_workers": 1,
    }
    if os.geteuid() == 0:
        machines["beta"]["netboxit_lab_workers"] = ["0"]
    inventory = tmp_path / "inventory.yml"

    def write() -> None:
        inventory.write_text(json.dumps({"all": {"vars": common, "hosts": machines}}))

    write()
    (tmp_path / "far.yaml").write_text(FILE)

    def played(playbook: str) -> set[int]:
        """How many things were changed of the machines."""
        command = [ENVIRONMENT / "bin/ansible-playbook", "-i", inventory, CHECKOUT / "ansible" / playbook]
        home = {**os.environ, "HOME": str(tmp_path), "ANSIBLE_LOCAL_TEMP": str(tmp_path / "ansible")}
        done = subprocess.run([*command, "--skip-tags", "netboxit"], env=home, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return {int(number) for number in re.findall(r"changed=(\d+)", done.stdout)}

    def worker_of_labs(cores: str) -> Path:
        return Path(f"/proc/{(tmp_path / f'beta/lab-worker-{cores}.pid').read_text().strip()}/status")

    try:
        assert 0 not in played("workers.yml")
        assert played("workers.yml") == {0}
        secret = [*keys.iterdir(), *(tmp_path / "alpha").glob("*.pem"), *(tmp_path / "beta").glob("*.pem")]
        assert {file.stat().st_mode & 0o777 for file in secret} == {0o600}
        assert not (tmp_path / "beta/ca-key.pem").exists()
        own = ("--tls-ca-file", keys / "ca.pem", "--tls-cert", keys / "controller.pem", "--tls-key", keys / "controller-key.pem")
        campaign = [
            sys.executable,
            CHECKOUT / "netboxit.py",
            "campaign",
            tmp_path / "far.yaml",
            "--results",
            tmp_path / "results",
        ]
        subprocess.run([*campaign, "--scheduler", f"tls://127.0.0.1:{port}", *own], check=True, capture_output=True)
        if os.geteuid() == 0:
            former = worker_of_labs("0")
            assert "Cpus_allowed_list:\t0\n" in former.read_text()
            machines["beta"]["netboxit_lab_workers"] = ["1"]
            write()
            played("workers.yml")
            until(lambda: not former.exists(), "the former worker is gone, also for its parent")
            assert "Cpus_allowed_list:\t1\n" in worker_of_labs("1").read_text()
    finally:
        played("workers-leave.yml")
    assert played("workers-leave.yml") == {0}
    assert not any((tmp_path / place).exists() for place in ("keys", "alpha", "beta"))
    with socket.socket() as again:
        assert again.connect_ex(("127.0.0.1", port)) != 0
