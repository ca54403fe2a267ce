# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from applications.media.speech import Speech
from applications.registry import analyses
from results import reference
from results.analyse import analyse
from results.conftest import START_NS, SyntheticRun
from results.pages import number, percent, signed
from tests.documents import document
from tests.two_machines import TwoMachines

#: Attributes by which a page loads something.
_LOADING = ("src", "href", "srcset", "data", "poster", "xlink:href")


class Loads(HTMLParser):
    """Collects what a page would load, and whether its tags match."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.loaded += [value or "" for name, value in attrs if name in _LOADING]


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """The folder of a run that was analysed, and its metrics."""
    synthetic = SyntheticRun(tmp_path_factory.mktemp("reported") / "run")
    synthetic.calls(200)
    folder = synthetic.write()
    for host, speaker in (("fr1", "field"), ("eoc", "centre")):
        Speech(speaker, 5.0, 8_000, seed=1).write(folder / f"traffic/call/{host}-spoken.wav")  # type: ignore[arg-type]
    for host, other in (("fr1", "eoc"), ("eoc", "fr1")):
        (folder / f"traffic/call/{host}-heard.wav").write_bytes((folder / f"traffic/call/{other}-spoken.wav").read_bytes())
    (folder / "topology.yaml").write_text("netboxes:\n  cell: {technology: wifi, distance: 80 m, tx_power: 16 dBm}\n")
    journal = [{"began_ns": START_NS}, {"at_s": 1.25, "event": "link_down", "station": "a", "reason": "out of range"}]
    (folder / f"nodes/{synthetic.netboxes[0]}/journal.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in journal))
    figures = {"kind": "voice", "direction": "return", "one_way_delay_ms": {"mean": 205.035}, "remark": "they were nearer"}
    (folder / "reference.yaml").write_text(
        json.dumps({"title": "Elsewhere", "source": "a book", "flows": [figures], "remarks": ["<b>"]})
    )
    return folder, analyse(folder, analyses())


def test_what_a_netbox_announced_is_listed(reported: tuple[Path, dict[str, Any]]) -> None:
    assert re.search(
        r"<td>1\.250</td><td[^>]*>\w+\.a: link down \(reason out of range\)</td>", (reported[0] / "report.html").read_text()
    )


def test_the_page_loads_nothing_and_runs_nothing(reported: tuple[Path, dict[str, Any]]) -> None:
    page = (reported[0] / "report.html").read_text()
    found = Loads()
    found.feed(page)
    assert found.scripts == 0
    assert [url for url in found.loaded if not url.startswith(("data:", "#"))] == []
    assert not re.search(r"@import|url\((?!#|&quot;#|\"#|'#)", page)
    assert len(page) < 3_000_000


def test_the_page_tells_verdict_network_figures_and_reference(reported: tuple[Path, dict[str, Any]]) -> None:
    page = (reported[0] / "report.html").read_text()
    for words in ("valid", "distance 80 m", "tx power 16 dBm", "255.0", "Elsewhere", "they were nearer", "&lt;b&gt;", "+50.00"):
        assert words in page
    assert page.count("<audio") == 4
    assert page.count("data:audio/ogg;base64,") == 4


def test_the_page_tells_machines_clocks_and_what_lay_between_them(tmp_path: Path) -> None:
    run = TwoMachines(tmp_path / "run")
    run.calls(100)
    found: Any = analyse(run.write(), analyses())
    page = (run.folder / "report.html").read_text()
    tunnel = found["tunnels"][0]
    delays = [number(way["delay_us"]["p90"]) for way in tunnel["directions"]]
    for words in (
        *("The machines, and what lay between them", "chrony, 12 us", "+7.330", "+39.17", "fr1, cell, meoc", "sky, eoc"),
        *("between machines: meoc-sky", "there and back", *delays, number(tunnel["both_ways_us"]["p50"])),
        *("of it between machines", "may be wrong by 0.045 ms"),
    ):
        assert words in page


def test_metrics_have_what_programs_look_for(reported: tuple[Path, dict[str, Any]]) -> None:
    folder, returned = reported

    found = document((folder / "metrics.json").read_text())
    assert found == {"format": "netboxit metrics", "version": 2, **returned}
    assert found["verdict"].keys() >= {"status", "reasons"}
    for flow in found["flows"]:
        assert flow.keys() >= {"name", "direction", "one_way_delay_ms", "jitter_ms", "loss_ratio", "goodput_kbps", "packets"}
        for measure in ("one_way_delay_ms", "jitter_ms"):
            assert flow[measure].keys() >= {"mean", "min", "max", "p50", "p99"}
    for segment in found["segments"]:
        assert segment.keys() >= {"netbox", "direction", "one_way_delay_ms"}
    assert found["overhead_us"].keys() >= {"mean", "min", "max", "p50", "p99"}
    for late in found["lateness_us"].values():
        assert late.keys() >= {"p50", "p99", "p99_9", "max"}
    assert {voice["direction"]: voice["mos_e_model"] > 3 for voice in found["voice"]} == {"return": True, "forward": True}


def test_a_run_without_anything_still_has_a_page(synthetic: SyntheticRun) -> None:
    folder = synthetic.write()
    for file in (*folder.glob("traffic/*/*"), *folder.glob("captures/*"), *folder.glob("nodes/*/*")):
        file.unlink()
    assert analyse(folder, analyses())["verdict"]["status"] == "invalid"
    assert "invalid" in (folder / "report.html").read_text()


def test_the_same_run_gives_the_same_figures_again(reported: tuple[Path, dict[str, Any]]) -> None:
    folder, first = reported
    assert analyse(folder, analyses()) == first


def test_the_reference_of_the_emergency_network_is_the_thesis_table() -> None:
    topology = Path(__file__).parent.parent / "topologies/emergency.yaml"
    found = reference.load(reference.beside(topology))
    assert found is not None
    by_direction = {flow.direction: flow for flow in found.flows}
    assert by_direction["return"].one_way_delay_ms == {"mean": 269.2, "max": 279.5, "min": 255.8}
    assert by_direction["forward"].jitter_ms == {"mean": 42.9, "max": 55.6, "min": 25.5}


def test_a_topology_without_reference_has_none(tmp_path: Path) -> None:
    assert reference.load(reference.beside(tmp_path / "other.yaml")) is None


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (12345.6, "12,346"), (269.24, "269.2"), (7.9, "7.90"), (0.12345, "0.123"), (0.0, "0")]
)
def test_numbers_are_told_with_the_figures_that_matter(value: float | None, text: str) -> None:
    assert number(value) == text


def test_differences_and_ratios_say_their_sign_and_unit() -> None:
    assert (signed(5.035), signed(-40.0), percent(0.0), percent(1e-6), percent(None)) == (
        "+5.04",
        "−40.00",
        "0 %",
        "0.0001 %",
        "–",
    )
