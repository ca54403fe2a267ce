# SPDX-License-Identifier: GPL-2.0-or-later
"""What happens is read from the ends of files, as it is written, whoever writes it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from contracts.run_folder import JOURNAL_FILE
from testbed.labs.event_log import EventLog
from testbed.labs.lab import Lab
from testbed.observation.event_reader import EventReader


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A lab of one node, `n`, as far as its files go."""
    (tmp_path / "n").mkdir()
    EventLog(tmp_path / "events.jsonl", tmp_path).begin()
    found = SimpleNamespace(
        name="x", folder=tmp_path, plan=SimpleNamespace(nodes=[SimpleNamespace(name="n")]), node_folder=tmp_path.joinpath
    )
    return cast(Lab, found)


def began(lab: Lab, later_s: float = 0.0) -> dict[str, int]:
    """The first line of a journal that begins so much later than the lab."""
    return {"began_ns": EventLog.of(lab.folder).began_ns + round(later_s * 1e9)}


def write(lab: Lab, *lines: Any) -> None:
    with (lab.folder / "n" / JOURNAL_FILE).open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def down(at_s: float) -> dict[str, Any]:
    return {"at_s": at_s, "event": "link_down", "station": "s", "reason": "faded"}


def words(event_reader: EventReader) -> list[str]:
    return [f"{event['at_s']:g} {event['words']}" for event in event_reader.new()]


def test_each_look_tells_what_is_new_in_the_order_of_time(lab: Lab) -> None:
    write(lab, began(lab), down(1), {"at_s": 2, "statistics": {}})
    event_reader = EventReader(lab)
    assert words(event_reader) == ["1 n.s: link down (reason faded)"]
    assert words(event_reader) == []
    log = EventLog.of(lab.folder)
    log.write(2.0, log.due(2.0), {"kind": "power", "node": "n", "power": "off", "words": "n: off"})
    write(lab, down(3))
    assert words(event_reader) == ["2 n: off", "3 n.s: link down (reason faded)"]


def test_a_journal_that_begins_anew_is_read_anew(lab: Lab) -> None:
    write(lab, began(lab), *map(down, range(10)))
    event_reader = EventReader(lab)
    assert len(event_reader.new()) == 10
    (lab.folder / "n" / JOURNAL_FILE).unlink()
    write(lab, began(lab), down(0.5))
    assert words(event_reader) == ["0.5 n.s: link down (reason faded)"]


def test_times_of_all_nodes_count_from_when_the_labs_began(lab: Lab) -> None:
    """A router's journal begins with its program, while the lab comes up."""
    write(lab, began(lab, -8.0), down(3), down(9.5))
    assert words(EventReader(lab)) == ["1.5 n.s: link down (reason faded)"]


def test_a_node_that_was_rebooted_goes_on_in_the_labs_time_though_its_journal_is_longer_by_now(lab: Lab) -> None:
    write(lab, began(lab), down(1))
    event_reader = EventReader(lab)
    assert words(event_reader) == ["1 n.s: link down (reason faded)"]
    (lab.folder / "n" / JOURNAL_FILE).unlink()
    write(lab, began(lab, 30.0), *map(down, range(3)))
    assert words(event_reader) == [f"{at} n.s: link down (reason faded)" for at in (30, 31, 32)]


def test_when_a_run_begins_in_the_lab_times_count_from_there(lab: Lab) -> None:
    write(lab, began(lab), down(60.0))
    event_reader = EventReader(lab)
    assert words(event_reader) == ["60 n.s: link down (reason faded)"]
    before_ns = event_reader.began_ns
    EventLog(lab.folder / "run.jsonl", lab.folder).begin()
    write(lab, down(61.0))
    (event,) = event_reader.new()
    assert before_ns is not None and event_reader.began_ns is not None
    assert event["at_s"] == pytest.approx(61.0 - (event_reader.began_ns - before_ns) / 1e9)


def test_before_the_network_s_time_has_begun_nothing_is_told(tmp_path: Path, lab: Lab) -> None:
    write(lab, began(lab), down(1))
    (lab.folder / "begun.json").unlink()
    event_reader = EventReader(lab)
    assert words(event_reader) == []
    assert event_reader.began_ns is None


def test_a_line_that_is_half_written_is_told_once_it_is_whole(lab: Lab) -> None:
    event_reader = EventReader(lab)
    line = json.dumps(down(1)) + "\n"
    write(lab, began(lab))
    journal = lab.folder / "n" / JOURNAL_FILE
    begun = journal.read_text()
    journal.write_text(begun + line[:20])
    assert words(event_reader) == []
    journal.write_text(begun + line)
    assert words(event_reader) == ["1 n.s: link down (reason faded)"]


def test_what_a_parameter_was_set_to_is_told_once_and_a_failure_too(lab: Lab) -> None:
    event_reader = EventReader(lab)
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
    assert words(event_reader) == ["2 n: distance 5 m: it does not answer"]


def test_a_node_that_writes_nonsense_or_a_link_to_elsewhere_is_passed_over(lab: Lab) -> None:
    journal = lab.folder / "n" / JOURNAL_FILE
    first = json.dumps(began(lab)).encode() + b"\n" + b'{"at_s": 1e999, "event": "x"}\n'
    journal.write_bytes(
        first
        + b'\xff\xfe\n[]\n{"event": 1}\n'
        + json.dumps({"at_s": "x", "event": "route"}).encode()
        + b"\n"
        + b"x" * 200_000
        + b"\n"
    )
    event_reader = EventReader(lab)
    for event, station in (({"a": 1}, None), (None, None), ("x", 0), ("x", ["s"])):
        write(lab, {"at_s": 1, "event": event, "station": station})
    write(lab, {"at_s": 1, "event": "e\u001b[2J", "station": None})
    assert words(event_reader) == ["1 n: e?[2J"]
    journal.unlink()
    (lab.folder / "secret").write_text(json.dumps(down(1)) + "\n")
    journal.symlink_to(lab.folder / "secret")
    assert words(EventReader(lab)) == []
