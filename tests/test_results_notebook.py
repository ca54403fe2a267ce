# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/results.ipynb does what it says, on runs in virtual time."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.installation import CHECKOUT

NOTEBOOK: Final = CHECKOUT / "docs/results.ipynb"
#: The link's, in the campaign, each twice.
DELAYS: Final = {"20 ms": 20.0, "100 ms": 100.0}


def cells(kind: str) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == kind]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the campaign was run that the notebook describes."""
    for name, text in re.findall(r"`(\w+\.yaml)`[^`]*```yaml\n(.*?)```", cells("markdown")[0], flags=re.DOTALL):
        (tmp_path / name).write_text(text)
    command = [str(CHECKOUT / "netboxit.py"), "campaign", "delays.yaml"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=200)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.long
def test_its_cells_run_in_their_order_and_show_what_the_link_does(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names: dict[str, Any] = {}
    for number, code in enumerate(cells("code")):
        exec(compile(code, f"{NOTEBOOK.name}, cell {number}", "exec"), names)
    runs = names["runs"]
    assert not runs.problems and runs.parameters == {"delay": [*DELAYS]}
    assert [*runs] == [Path(f"results/campaigns/delays/runs/{point:04}-{number:02}") for point in range(2) for number in range(2)]
    # No frame is faster than the link. The fastest waits for nothing, and sending 500 bytes at 4 Mbit/s takes 1 ms.
    least = runs.select(flow="call.voice").table().select("delay", "delay_ms_min").rows()
    assert len(least) == 8
    assert all(DELAYS[delay] < delay_ms < DELAYS[delay] + 1.0 for delay, delay_ms in least)
    # ITU-T G.107: delay costs quality. On its way back speech does not wait for the upload.
    mos = dict(names["voice"].filter(direction="forward").select("delay", "mos").iter_rows())
    assert mos["100 ms"] < mos["20 ms"]
    # A round trip is two delays, and what waits.
    assert all(names["upload"]["tcp_rtt_ms_p50"][delay] > 2 * delay_ms for delay, delay_ms in DELAYS.items())
    assert names["queue"].height == 4
    shown = names["axes"].lines
    assert [line.get_label() for line in shown] == [f"link of {delay}" for delay in DELAYS]
