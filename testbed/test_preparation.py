# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT, PYTHON
from testbed import preparation


def test_where_nothing_is_missing_it_needs_no_home_and_leaves_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": "/nonexistent", "TMPDIR": str(tmp_path)}
    command = [str(PYTHON), str(CHECKOUT / "netboxit.py"), "setup"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0 and "changed=0" in done.stdout, done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_environment_without_ansible_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "PYTHON", tmp_path / "python")
    with pytest.raises(preparation.NoAnsible, match="ansible-playbook does not start: No such file or directory; remedy: "):
        preparation.prepare()
