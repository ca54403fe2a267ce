# SPDX-License-Identifier: GPL-2.0-or-later
"""What is kept of a bench, and how it is judged."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench import report
from bench.document import DOCUMENT, with_tables
from bench.outcome import Outcome, Table, rate
from bench.pairs import ratio
from bench.settings import Settings
from bench.targets import TARGETS, to_reach
from testbed.documents.bench import Bench, Machine

MACHINE: Machine = {
    "model": "a processor",
    "cores": 2,
    "governor": None,
    "hypervisor": "KVM",
    "kernel": "6.1",
    "system": "Debian 12",
    "clock_source": "tsc",
    "netboxit": "abc",
    "ns3": "3.44",
    "realtime": "SCHED_FIFO works",
    "load_before": 0.1,
    "steal_ratio": 0.012,
}
OUTCOMES = {
    "setup_a": Outcome(
        ratios={"setup_a_veth": ratio([200.0, 300.0, 100.0], [50.0, 50.0, 50.0])},
        figures={"satellites_valid": 4},
        tables=(Table("Set-up A", ("contestant", "frames/s"), (("ours", "200"),), "A remark."),),
    ),
    "lab": Outcome(figures={"lab_up_s": 3.5, "lab_down_s": 0.4}),
}


def data(**changes: Any) -> Bench:
    return report.to_json(
        OUTCOMES, **({"machine": MACHINE, "settings": Settings().to_json(), "command": "bench", "failures": {}} | changes)
    )


def test_the_data_has_each_ratio_with_its_spread_and_each_figure_by_its_name() -> None:
    report = json.loads(json.dumps(data()))
    assert report["ratios"]["setup_a_veth"]["median"] == 4
    assert (report["ratios"]["setup_a_veth"]["min"], report["ratios"]["setup_a_veth"]["max"]) == (2, 6)
    assert report["figures"]["lab_up_s"] == 3.5
    assert report["machine"]["steal_ratio"] == 0.012


def test_what_was_measured_is_held_against_what_is_to_be_reached_and_the_rest_is_left_out() -> None:
    judged = {target["figure"]: target["reached"] for target in data()["to_reach"]}
    assert judged == {"set-up A by veth wires, ratio to stock": True, "emergency lab up": False, "emergency lab down": True}


def test_each_target_finds_its_figure_where_the_benchmarks_put_it() -> None:
    lateness = {"count": 9, "p50": 4.0, "p99_9": 90.0}
    ratios = {name: ratio([10.0], [1.0]) for name in ("setup_a_veth", "setup_a_memory", "chain_of_8", "virtual_chain")}
    ratios |= {name: ratio([0.95], [1.0]) for name in ("overload_delivered", "overload_delivered_memory")}
    figures: Any = {
        "crossing_us": {"veth": {"p50": 3.0}, "memory": {"p50": 0.5}},
        "lateness_us": {"field": {**lateness, "event": {**lateness, "p50": 6.0}}, "idle": {"count": 0, "event": {"count": 0}}},
        "fidelity": {"worst": 0.5},
        "idle": {"field": {"technology": "wifi", "cpu": 0.004}, "longhaul": {"technology": "wimax", "cpu": 0.02}},
        "services": {
            "sr": [{"offered": 199e3, "kept_up": True}, {"offered": 299e3, "kept_up": False}],
            "sr-m2": [{"offered": 299e3, "kept_up": True}, {"offered": 398e3, "kept_up": True}],
        },
        "lab_up_s": 1.0,
        "lab_down_s": 0.5,
        "lab_by_size": {"50": {"up_s": 4.0}},
        "apply_link_s": 1.0,
        "apply_lost": {"the delay of a link: set live": 0},
    }
    judged = {goal["figure"]: goal for goal in to_reach(ratios, figures)}
    assert len(judged) == len(TARGETS)
    missed = [name for name, goal in judged.items() if not goal["reached"]]
    assert missed == ["lateness in the emergency network, worst p50"]
    assert judged["idle netbox without a frame clock, worst"]["measured"] == pytest.approx(0.4)
    assert judged["frames that selective repeat carries in time"]["measured"] == 199


def test_the_page_says_on_what_it_was_measured_what_failed_and_has_every_table() -> None:
    text = report.to_markdown(OUTCOMES, data(failures={"chain": "no core"}), "today")
    assert text.startswith("Measured today by `bench` on a processor, 2 cores, governor not told, hypervisor KVM")
    assert "other guests took 1.20 %" in text
    assert "**chain could not be measured:** no core" in text
    assert "| emergency lab up | at most 3 s | 3.5 s | **no** |" in text
    assert "| `setup_a_veth` | 4.00 | 2.00 | 6.00 | 3 |" in text
    assert "| ours | 200 |\n\nA remark." in text


def test_rates_are_told_as_well_as_a_search_can_tell() -> None:
    assert [rate(number) for number in (123_456, 1_234_567, 999.6, 12)] == ["123 000", "1 230 000", "1 000", "12"]


def test_the_document_has_a_place_for_the_tables() -> None:
    text = with_tables(DOCUMENT.read_text(), "new tables")
    assert "<!-- bench -->\n\nnew tables\n\n<!-- end -->" in text
    assert with_tables(text, "newer ones").count("<!-- bench -->") == 1
    with pytest.raises(ValueError, match="no lines"):
        with_tables("nothing", "tables")
