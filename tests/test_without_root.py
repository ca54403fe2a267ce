# SPDX-License-Identifier: GPL-2.0-or-later
"""What looks at files only needs no rights: it works for the user nobody, on a machine that root has set up."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from results.conftest import SyntheticRun

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

NOBODY = 65534


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Of a user who has nothing yet; beside it is root's state folder with a lab."""
    lab = tmp_path / "state/labs/emergency"
    lab.mkdir(parents=True)
    (lab / "plan.json").write_text("{}")
    (lab / "plan.json").chmod(0o600)
    (own := tmp_path / "home").mkdir()
    os.chown(own, NOBODY, NOBODY)
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o711)
    return own


def netboxit(home: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [CHECKOUT / "netboxit.py", *words],
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        cwd=home,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), "NETBOXIT_STATE": str(home.parent / "state")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "a defect of its own" not in done.stderr, done.stderr
    return done


def test_a_topology_is_checked_and_drawn(home: Path) -> None:
    done = netboxit(home, "check", CHECKOUT / "topologies/emergency.yaml", "--svg", "emergency.svg")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in home.rglob("*")] == ["emergency.svg"]


@pytest.mark.parametrize("closed", ["labs", "plan.json"])
def test_a_topology_is_planned_also_where_labs_are_roots_secret(closed: str, home: Path) -> None:
    if closed == "labs":
        (home.parent / "state").chmod(0o700)
    done = netboxit(home, "plan", CHECKOUT / "topologies/emergency.yaml")
    assert done.returncode == 0, done.stderr
    assert "ask as root" in done.stdout
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("verb", ["status", "down"])
def test_what_needs_root_says_so(verb: str, home: Path) -> None:
    done = netboxit(home, verb)
    assert (done.returncode, "as root" in done.stderr) == (1, True), done.stderr


def test_a_run_is_reported_again(home: Path) -> None:
    run = SyntheticRun(home / "run")
    run.calls(20)
    run.write()
    for path in (home / "run", *(home / "run").rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    done = netboxit(home, "report", "run", "--json")
    assert done.returncode in (0, 3, 4), done.stderr
    assert (home / "run/report.html").stat().st_uid == NOBODY
    assert {path.name for path in home.iterdir()} <= {"run", ".cache", ".config"}, "fonts are cached by who draws with them"


@pytest.mark.parametrize(
    ("closed", "mode", "told"),
    [
        (".", 0o755, "frames.parquet cannot be written: Permission denied; run is root's"),
        ("plan.json", 0o600, "run/plan.json: Permission denied; run/plan.json is root's"),
        ("captures", 0o700, "run/captures: Permission denied; run/captures is root's"),
    ],
)
def test_a_run_of_roots_is_not_reported_as_another_and_the_user_is_told_why(
    closed: str, mode: int, told: str, home: Path
) -> None:
    run = SyntheticRun(home / "run")
    run.calls(20)
    run.write()
    (home / "run" / closed).chmod(mode)
    done = netboxit(home, "report", "run")
    assert (done.returncode, told in done.stderr) == (1, True), done.stderr
    assert not (home / "run/metrics.json").exists()
    if closed == ".":
        assert subprocess.run(["cp", "-r", home / "run", home / "copy"], user=NOBODY, group=NOBODY, check=False).returncode == 0
        assert netboxit(home, "report", "copy").returncode in (0, 3, 4)


def test_benchmarks_are_roots(home: Path) -> None:
    done = netboxit(home, "bench", "crossing")
    assert (done.returncode, "needs root" in done.stderr) == (1, True), done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("record", "fr1", "eoc", "--out", "/path", "--run", "run"),
        ("record", "fr1", "eoc", "--out", "path", "--run", "closed"),
        ("check", "closed/network.yaml"),
        ("check", "network.yaml"),
        ("check", "network.yaml", "--inventory", "closed/hosts.yml"),
        ("check", CHECKOUT / "topologies/link.yaml", "--svg", "/network.svg"),
        ("plan", "closed/network.yaml"),
        ("doctor", "--inventory", "closed/hosts.yml"),
    ],
    ids=lambda words: " ".join(map(str, words[:2])),
)
def test_what_is_closed_to_the_user_is_named_and_no_defect(words: tuple[str | Path, ...], home: Path) -> None:
    run = SyntheticRun(home / "run")
    run.calls(20)
    run.write()
    (home / "closed").mkdir(mode=0o700)
    (home / "network.yaml").write_text(
        "name: x\nnetboxes: {l: {technology: link, trace: secret.trace, stations: {a: {}, b: {}}}}\nwires: []\n"
    )
    (home / "secret.trace").touch(mode=0o600)
    done = netboxit(home, *words)
    assert done.returncode in (1, 2) and re.search("ermission denied|not readable", done.stderr), done.stderr


def test_the_machine_is_examined_and_nothing_is_left(home: Path) -> None:
    done = netboxit(home, "doctor", "--json")
    assert done.returncode == 1, "nobody can bring labs up"
    remedies = {one["name"]: one["remedy"] for one in json.loads(done.stdout)["findings"]}
    assert "as an operator" in remedies["privileges"]
    assert list(home.iterdir()) == []
