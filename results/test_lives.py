# SPDX-License-Identifier: GPL-2.0-or-later
"""A netbox that was rebooted in a run has counted in each of its lives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from results import lives
from results.journal import read


def life(began_ns: int, delivered: int, p99: float, **more: Any) -> dict[str, Any]:
    late = {"count": delivered, "p99": p99, "max": p99, "missed": 1, "up_to": [[10.0, delivered - 1], [100.0, 1]]}
    counted = {"received": delivered + 2, "overload_drops": 1}
    return {
        "epoch_ns": began_ns,
        "frames": {"delivered": delivered, "lost": {"on_air": 1}, "inside": 1},
        "lateness_us": {"frame": late, "event": late},
        "missed": 1,
        "misses": [{"at_s": 2.0, "what": "frame", "lateness_us": p99}],
        "ports": [{"name": "left", "kind": "packet", **counted}, {"name": "right", "kind": "memory", **counted}],
        "scheduler": {"cpu_s": 0.5, "oversleep_us": 7.0},
        "segment": {"stations": delivered},
        **more,
    }


def test_of_all_lives_counts_are_the_sum_and_percentiles_the_worst() -> None:
    found = lives.together([life(1_000_000_000, 10, 90.0), life(6_000_000_000, 20, 50.0)])
    assert found is not None
    assert found["frames"] == {"delivered": 30, "lost": {"on_air": 2, lives.POWER: 1}, "inside": 1}
    assert [port["received"] for port in found["ports"]] == [34, 34]
    assert [port["kind"] for port in found["ports"]] == ["packet", "memory"]
    frame = {"count": 30, "p99": 90.0, "max": 90.0, "missed": 2, "up_to": [[10.0, 28], [100.0, 2]]}
    assert found["lateness_us"]["frame"] == frame
    assert (found["missed"], [miss["at_s"] for miss in found["misses"]]) == (2, [2.0, 7.0])
    assert found["scheduler"] == {"cpu_s": 1.0, "oversleep_us": 7.0}
    assert found["segment"] == {"stations": 20}


def test_one_life_is_what_it_is_and_one_that_left_nothing_is_missed() -> None:
    only = life(0, 1, 1.0)
    assert lives.together([only]) is only
    assert lives.together([None]) is None
    assert lives.together([only, None]) is None
    assert lives.together([only, life(0, 1, 1.0, ports=None)]) is None


def test_the_journals_of_all_lives_are_one(tmp_path: Path) -> None:
    first, second = tmp_path / "journal.1.jsonl", tmp_path / "journal.jsonl"
    first.write_text('{"began_ns": 1000000000}\n{"at_s": 1.0, "event": "link_up"}\n')
    second.write_text('{"began_ns": 5000000000}\n{"at_s": 0.5, "event": "link_up"}\n')
    journal = read(first, second)
    assert journal is not None
    assert (journal.began_ns, [event["at_s"] for event in journal.events]) == (1_000_000_000, [1.0, 4.5])
