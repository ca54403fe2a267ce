# SPDX-License-Identifier: GPL-2.0-or-later
"""What happens is read from the ends of files, as it is written, whoever writes it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from testbed.labs.event_log import EventLog
from testbed.labs.lab import Lab
from testbed.observation.happenings import JOURNAL, Happenings


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A lab of one node, `n`, as far as its files go."""
    (tmp_path / "n").mkdir()
    EventLog(tmp_path / "events.jsonl", tmp_path).begin()
    found = SimpleNamespace(
        name="x", folder=tmp_path, plan=SimpleNamespace(nodes=[SimpleNamespace(name="n")]), node_folder=tmp_path.joinpath
    )
    return cast(Lab, found)


def write(lab: Lab, *lines: Any) -> None:
    with (lab.folder / "n" / JOURNAL).open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def down(at_s: float) -> dict[str, Any]:
    return {"at_s": at_s, "event": "link_down", "station": "s", "reason": "faded"}


def words(happenings: Happenings) -> list[str]:
    return [f"{event['at_s']:g} {event['words']}" for event in happenings.new()]


def test_each_look_tells_what_is_new_in_the_order_of_time(lab: Lab) -> None:
    write(lab, {"began_ns": 1}, down(1), {"at_s": 2, "statistics": {}})
    happenings = Happenings(lab)
    assert words(happenings) == ["1 n.s: link down (reason faded)"]
    assert words(happenings) == []
    log = EventLog.of(lab.folder)
    log.write(2.0, log.due(2.0), {"kind": "power", "node": "n", "power": "off", "words": "n: off"})
    write(lab, down(3))
    assert words(happenings) == ["2 n: off", "3 n.s: link down (reason faded)"]


def test_a_journal_that_begins_anew_is_read_anew(lab: Lab) -> None:
    write(lab, {"began_ns": 1}, *map(down, range(10)))
    happenings = Happenings(lab)
    assert len(happenings.new()) == 10
    (lab.folder / "n" / JOURNAL).write_text(json.dumps(down(0.5)) + "\n")
    assert words(happenings) == ["0.5 n.s: link down (reason faded)"]


def test_a_line_that_is_half_written_is_told_once_it_is_whole(lab: Lab) -> None:
    happenings = Happenings(lab)
    line = json.dumps(down(1)) + "\n"
    journal = lab.folder / "n" / JOURNAL
    journal.write_text(line[:20])
    assert words(happenings) == []
    journal.write_text(line)
    assert words(happenings) == ["1 n.s: link down (reason faded)"]


def test_what_a_parameter_was_set_to_is_told_once_and_a_failure_too(lab: Lab) -> None:
    happenings = Happenings(lab)
    log = EventLog.of(lab.folder)
    change = {
        "kind": "parameter",
        "netbox": "n",
        "parameter": "distance",
        "value": 5.0,
        "written": "5 m",
        "words": "n: distance 5 m",
    }
    log.write(1.0, log.due(1.0), change)
    log.write(2.0, log.due(2.0), change, "it does not answer")
    assert words(happenings) == ["2 n: distance 5 m: it does not answer"]


def test_a_node_that_writes_nonsense_or_a_link_to_elsewhere_is_passed_over(lab: Lab) -> None:
    journal = lab.folder / "n" / JOURNAL
    journal.write_bytes(
        b'\xff\xfe\n[]\n{"event": 1}\n' + json.dumps({"at_s": "x", "event": "route"}).encode() + b"\n" + b"x" * 200_000 + b"\n"
    )
    happenings = Happenings(lab)
    write(lab, {"at_s": 1, "event": "e\u001b[2J", "station": None})
    assert words(happenings) == ["1 n: e?[2J"]
    journal.unlink()
    (lab.folder / "secret").write_text(json.dumps(down(1)) + "\n")
    journal.symlink_to(lab.folder / "secret")
    assert words(Happenings(lab)) == []
