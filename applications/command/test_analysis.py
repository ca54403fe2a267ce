# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from pathlib import Path
from typing import Any

from applications.registry import analyses
from contracts.flow import ApplicationRecord
from results.analyse import analyse
from results.conftest import SyntheticRun


def test_what_a_program_did_is_told_with_its_hosts_and_what_it_left_out(tmp_path: Path) -> None:
    folder = SyntheticRun(tmp_path / "run").write()
    facts = {"run": "fetch <it>", "server": None, "took_s": 3.25, "absent": ["a", "b"]}
    ApplicationRecord(name="call", application="command", flows=(), facts=facts).write(folder / "traffic/call")
    document: Any = analyse(folder, analyses())
    assert document["programs"] == [{"traffic": "call", "from": "fr1", "to": "eoc", **facts}]
    section = (folder / "report.html").read_text().partition("<h2>Flows</h2>")[2].partition("</section>")[0]
    for words in ("<code>fetch &lt;it&gt;</code>", "it left no a, b", "<td>3.25</td>"):
        assert words in section


def test_a_run_without_programs_has_an_empty_list_and_no_part_of_the_report(tmp_path: Path) -> None:
    folder = SyntheticRun(tmp_path / "run").write()
    document: Any = analyse(folder, analyses())
    assert document["programs"] == []
    assert "Programs of the topology" not in (folder / "report.html").read_text()
