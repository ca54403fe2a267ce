# SPDX-License-Identifier: GPL-2.0-or-later
"""A netbox that was rebooted in a run has counted in each of its lives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from contracts.statistics import LatenessCounters, NetboxStatistics
from results import restarts
from results.conftest import netbox_statistics, port_counts
from results.journal import read


def life(began_ns: int, delivered: int, p99: float) -> NetboxStatistics:
    late: LatenessCounters = {"count": delivered, "missed": 1, "sum": 9.0, "up_to": [], "p99": p99, "max": p99}
    counted = {"received": delivered + 2, "overload_drops": 1}
    own: dict[str, Any] = {
        "epoch_ns": began_ns,
        "frames": {"delivered": delivered, "lost": {"on_air": 1}, "inside": 1, "absorbed": 2},
        "lateness_us": {"frame": late, "event": late},
        "missed": 1,
        "misses": [{"at_s": 2.0, "what": "frame", "lateness_us": p99}],
        "records": {"written": delivered, "dropped": 1},
        "scheduler": {"cpu_s": 0.5, "spin_s": 0.1, "stepped_back": 1},
        "segment": {"stations": delivered},
    }
    return netbox_statistics(port_counts("left", **counted), port_counts("right", **counted), **own)


def test_of_all_lives_counts_are_the_sum_and_percentiles_the_worst() -> None:
    found = restarts.combined([life(1_000_000_000, 10, 90.0), life(6_000_000_000, 20, 50.0)])
    assert found is not None
    lost = {"on_air": 2, restarts.POWER: 1}
    assert found["frames"] == {"delivered": 30, "lost": lost, "inside": 1, "emitted": 0, "absorbed": 4}
    assert [(port["name"], port["received"]) for port in found["ports"]] == [("left", 34), ("right", 34)]
    assert found["lateness_us"]["frame"] == {"count": 30, "missed": 2, "sum": 18.0, "up_to": [], "p99": 90.0, "max": 90.0}
    assert (found["missed"], [miss["at_s"] for miss in found["misses"]]) == (2, [2.0, 7.0])
    assert (found["records"], found["scheduler"]) == (
        {"written": 30, "dropped": 2},
        {"cpu_s": 1.0, "spin_s": 0.2, "stepped_back": 2},
    )
    assert (found["epoch_ns"], found["segment"]) == (1_000_000_000, {"stations": 20})


def test_one_life_is_what_it_is_and_one_that_left_nothing_is_missed() -> None:
    only = life(0, 1, 1.0)
    assert restarts.combined([only]) is only
    assert restarts.combined([None]) is None
    assert restarts.combined([only, None]) is None


def test_the_journals_of_all_lives_are_one(tmp_path: Path) -> None:
    first, second = tmp_path / "journal.1.jsonl", tmp_path / "journal.jsonl"
    first.write_text('{"began_ns": 1000000000}\n{"at_s": 1.0, "event": "link_up"}\n')
    second.write_text('{"began_ns": 5000000000}\n{"at_s": 0.5, "event": "link_up"}\n')
    journal = read(first, second)
    assert journal is not None
    assert (journal.began_ns, [event["at_s"] for event in journal.events]) == (1_000_000_000, [1.0, 4.5])
