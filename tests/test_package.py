# SPDX-License-Identifier: GPL-2.0-or-later
"""NetBoxIT as pip installs it: what is in the package, and that it needs no checkout.

The programs are those of the checkout's build, put into the environment by the rules that pip's build follows, and the other
packages are the checkout's. What pip compiles is tried on a fresh machine (`make fresh-package`).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from contracts.installation import CHECKOUT, ENVIRONMENT, PYTHON
from testbed.several_hosts.version import version

PACKAGES = "lib/python3.11/site-packages"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of the package but the programs."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [str(PYTHON), "-m", "pip", "wheel", "--quiet", "--no-index", "--no-build-isolation", "--no-deps"]
    options = ["--config-settings=wheel.cmake=false", f"--wheel-dir={folder}"]
    subprocess.run([*pip, *options, str(CHECKOUT)], check=True, timeout=120)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def environment(wheel: Path) -> Iterator[Path]:
    """A virtual environment with the package, on the disk of the checkout, where links to its files can be."""
    with TemporaryDirectory(dir=CHECKOUT / "build", prefix="package-") as name:
        made = Path(name)
        made.chmod(0o755)  # nodes are nobody on the machine
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", made], check=True)
        shutil.rmtree(made / PACKAGES)
        shutil.copytree(ENVIRONMENT / PACKAGES, made / PACKAGES, copy_function=os.link)
        pip = [f"{made}/bin/python", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", str(wheel)]
        subprocess.run(pip, check=True, timeout=120)
        # They find ns-3 by its place in a checkout.
        (made / PACKAGES / "netboxit/.venv").symlink_to("../../../..")
        programs = ["cmake", "--install", f"{CHECKOUT}/build", "--prefix", f"{made}/{PACKAGES}/netboxit"]
        subprocess.run(programs, check=True, timeout=120, stdout=subprocess.DEVNULL)
        yield made


def call(environment: Path, words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """The command of the environment, called in a folder that has nothing of NetBoxIT. Its labs are on record there."""
    command = [str(environment / "bin/netboxit"), *words]
    kept = {**os.environ, "NETBOXIT_STATE": str(folder / "state")}
    return subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True, check=False, timeout=200)


def test_it_has_every_file_that_git_knows_of_its_folders_and_no_other(wheel: Path) -> None:
    folders = [target.removeprefix("netboxit/") for target in settings()["tool"]["scikit-build"]["wheel"]["packages"]]
    listed = subprocess.run(["git", "ls-files", "-z", *folders], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    known = {f"netboxit/{file}" for file in listed.stdout.rstrip("\0").split("\0")}
    expected = {file for file in known if not Path(file).name.startswith("test_") and "/golden/" not in file}
    with zipfile.ZipFile(wheel) as packed:
        assert {name for name in packed.namelist() if not name.startswith("netboxit-")} == expected


def test_what_builds_it_is_what_a_checkout_uses() -> None:
    """Pins stand in two places, since pip reads those of a build before anything of ours runs."""
    pins = {line for file in ("tools.txt", "ns3.txt") for line in (CHECKOUT / "requirements" / file).read_text().splitlines()}
    assert set(settings()["build-system"]["requires"]) <= pins


def test_it_says_its_version_and_what_only_a_checkout_has(environment: Path, tmp_path: Path) -> None:
    said = call(environment, ["--version"], tmp_path)
    assert (said.returncode, said.stdout) == (0, f"netboxit {settings()['project']['version']}\n")
    said = call(environment, ["bench"], tmp_path)
    assert said.returncode == 1 and "benchmarks need a checkout" in said.stderr


def test_other_machines_know_it_as_the_same(environment: Path) -> None:
    """Its file of commands is what they call; Python finds the packages of its environment, whoever runs it."""
    asked = "from testbed.several_hosts.version import version; print(version())"
    place = environment / PACKAGES / "netboxit"
    told = subprocess.run([environment / "bin/python", "-c", asked], cwd=place, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == version()
    said = subprocess.run([place / "netboxit.py", "--version"], cwd="/", capture_output=True, text=True, check=True)
    assert said.stdout.startswith("netboxit ")


def test_its_results_are_tables_for_whoever_uses_its_python(environment: Path, tmp_path: Path) -> None:
    """As docs/results.md says, also where the user's own folder is called as a package of ours."""
    (tmp_path / "results/runs").mkdir(parents=True)
    found = next(line for line in (CHECKOUT / "docs/results.md").read_text().splitlines() if "netboxit.__path__" in line)
    asked = f"{found.strip()}\nfrom results.runs import Runs\nprint(len(Runs.open('results')))"
    told = subprocess.run([environment / "bin/python", "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stdout) == (0, "0\n"), told.stderr


def test_without_an_environment_it_says_what_to_do(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path)
    command = ["/usr/bin/python3", str(tmp_path / "netboxit/netboxit.py"), "--version"]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 1
    assert f"{tmp_path}/netboxit is in no virtual environment; install it by pipx" in said.stderr


@pytest.mark.lab
@pytest.mark.long
def test_it_runs_a_lab_with_a_call(environment: Path, tmp_path: Path) -> None:
    """Netboxes, a Click router, and what measures speech in a sandbox are found in the environment alone."""
    shutil.copy(CHECKOUT / "topologies/emergency.yaml", tmp_path)
    done = call(environment, ["run", "emergency.yaml", "--name", "packaged", "--duration", "10 s"], tmp_path)
    assert done.returncode in (0, 3, 4), done.stdout + done.stderr
    metrics = json.loads((tmp_path / "results/latest/metrics.json").read_text())
    assert all(one["heard"]["pesq"] is not None for one in metrics["voice"]), metrics["voice"]


@pytest.mark.lab
@pytest.mark.long
@pytest.mark.parametrize("topology", ["switch.yaml", "chain.yaml"])
def test_its_switches_and_routers_come_up(environment: Path, tmp_path: Path, topology: str) -> None:
    up = call(environment, ["up", str(CHECKOUT / "topologies" / topology), "--name", "packaged"], tmp_path)
    down = call(environment, ["down", "packaged"], tmp_path)
    assert up.returncode == 0, up.stdout + up.stderr
    assert down.returncode == 0, down.stdout + down.stderr


def settings() -> dict[str, Any]:
    return tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
