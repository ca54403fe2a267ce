# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/results.ipynb does what it says, on runs in virtual time."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.campaign import CampaignRun
from contracts.installation import CHECKOUT

NOTEBOOK: Final = CHECKOUT / "docs/results.ipynb"
DELAYS: Final = {"20 ms": 20.0, "100 ms": 100.0}
LINK: Final = """\
name: delays
seed: 1
centre: office
hosts:
  home: {address: 10.40.0.11/24}
  office: {address: 10.40.0.1/24}
netboxes:
  access: {technology: link, stations: {home: {rate: 4 Mbit/s}, office: {rate: 8 Mbit/s}}}
wires: [[home, access.home], [access.office, office]]
traffic:
  call: {application: call, from: home, to: office, dscp: ef, duration: 2 s}
  upload: {application: bulk, from: home, to: office, size: 200 kB, duration: 2 s}
"""


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """A run for each delay."""
    (tmp_path / "delays.yaml").write_text(LINK)
    folder = tmp_path / "campaigns/delays"
    (folder / "runs").mkdir(parents=True)
    lines = []
    for point, delay in enumerate(DELAYS):
        command = [CHECKOUT / "netboxit.py", "run", "delays.yaml", "--virtual", "--set", f"netboxes.access.delay={delay}"]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)
        name = f"{point:04}-00"
        (tmp_path / "results/latest").resolve().rename(folder / "runs" / name)
        run: CampaignRun = {
            **{"name": name, "point": point, "repetition": 0, "seed": 1, "topology": "delays", "parameters": {"delay": delay}},
            **{"clock": "virtual", "status": "valid", "attempt": 1, "digest": "0", "took_s": 1.0, "failure": None},
        }
        lines.append(json.dumps(run) + "\n")
    (folder / "runs.jsonl").write_text("".join(lines))
    return folder


def test_its_cells_run_in_their_order_and_show_what_the_link_does(campaign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(campaign.parent.parent)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names: dict[str, Any] = {}
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    assert cells and not any(cell["outputs"] for cell in cells)
    for number, cell in enumerate(cells):
        exec(compile("".join(cell["source"]), f"{NOTEBOOK.name}, cell {number}", "exec"), names)
    runs = names["runs"]
    assert not runs.problems and runs.parameters == {"delay": [*DELAYS]}
    # No frame is faster than the link. The fastest waits for nothing, and sending 500 bytes at 4 Mbit/s takes 1 ms.
    least = runs.select(flow="call.voice").table().select("delay", "delay_ms_min").rows()
    assert len(least) == 4
    assert all(DELAYS[delay] < delay_ms < DELAYS[delay] + 1.0 for delay, delay_ms in least)
    # ITU-T G.107: delay costs quality. On its way back speech does not wait for the upload.
    mos = dict(names["voice"].filter(direction="forward").select("delay", "mos").iter_rows())
    assert mos["100 ms"] < mos["20 ms"]
    # A round trip is two delays, and what waits.
    assert all(names["upload"]["tcp_rtt_ms_p50"][delay] > 2 * delay_ms for delay, delay_ms in DELAYS.items())
    assert names["queue"].height == 2
    shown = names["axes"].lines
    assert [line.get_label() for line in shown] == [f"link of {delay}" for delay in DELAYS]
