# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import json
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
    assert document["programs"] == [{"traffic": "call", "from": "fr1", "to": "eoc", **facts, "reason": None}]
    section = (folder / "report.html").read_text().partition("<h2>Flows</h2>")[2].partition("</section>")[0]
    for words in ("<code>fetch &lt;it&gt;</code>", "it left no a, b", "<td>3.25</td>"):
        assert words in section


def test_a_run_without_programs_has_an_empty_list_and_no_part_of_the_report(tmp_path: Path) -> None:
    folder = SyntheticRun(tmp_path / "run").write()
    document: Any = analyse(folder, analyses())
    assert document["programs"] == []
    assert "Programs of the topology" not in (folder / "report.html").read_text()


def test_how_long_a_program_took_that_began_in_the_warm_up_is_not_told(tmp_path: Path) -> None:
    folder = SyntheticRun(tmp_path / "run").write()
    facts: dict[str, Any] = {"run": "fetch", "server": None, "took_s": 3.25, "absent": []}
    ApplicationRecord(name="call", application="command", flows=(), facts=facts).write(folder / "traffic/call")
    plan = json.loads((folder / "plan.json").read_text())
    plan["traffic"][0]["options"] = {"start": 2.0}
    for warm_up_s, took_s in ((2.0, 3.25), (2.5, None)):
        (folder / "plan.json").write_text(json.dumps(plan | {"warm_up_s": warm_up_s}))
        document: Any = analyse(folder, analyses())
        (told,) = document["programs"]
        assert (told["took_s"], told["reason"] is None) == (took_s, took_s is not None)
