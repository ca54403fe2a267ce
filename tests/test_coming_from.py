# SPDX-License-Identifier: GPL-2.0-or-later
"""The page for who knows another tool: its files are well-formed and describe one lab, and its commands lead through ours."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from ruamel.yaml import YAML

from contracts.installation import CHECKOUT
from contracts.plan import Plan, RealtimeSupport
from testbed.plans.planning import plan_file
from tests import documented_commands
from tests.traces import traces

PAGE = CHECKOUT / "docs/coming-from.md"
#: The other tools' examples, by language; ours are those YAML files that have hosts.
BLOCKS: list[tuple[str, str]] = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
YAMLS = [text for language, text in BLOCKS if language == "yaml"]
OURS = {text.split()[1]: text for text in YAMLS if "\nhosts:" in text}


def planned(name: str, folder: Path) -> Plan:
    (file := folder / f"{name}.yaml").write_text(OURS[name])
    return plan_file(file, realtime=RealtimeSupport(True, 950_000, "SCHED_FIFO works"), cores=(0, 1))


def netbox(name: str, folder: Path) -> dict[str, Any]:
    """What the file says of its only netbox, and the plan finds sound."""
    assert [node.kind for node in planned(name, folder).nodes].count("netbox") == 1
    (only,) = YAML(typ="safe").load(OURS[name])["netboxes"].values()
    return dict(only)


def the(language: str, number: int = 0) -> str:
    return [text for found, text in BLOCKS if found == language][number]


def test_the_page_has_the_lab_in_each_tool_s_own_form() -> None:
    assert sorted(language for language, _ in BLOCKS) == ["json", "python", "xml", "xml", "yaml", "yaml", "yaml"]
    assert OURS.keys() == {"pair", "geo"}


def test_ours_is_the_link_that_the_page_is_about(tmp_path: Path) -> None:
    path = netbox("pair", tmp_path)
    assert {key: path[key] for key in ("technology", "rate", "delay", "loss")} == {
        "technology": "link",
        "rate": "10 Mbit/s",
        "delay": "20 ms",
        "loss": 0.01,
    }


def test_core_s_link_has_the_same_rate_delay_and_loss() -> None:
    options = ElementTree.fromstring(the("xml")).find("links/link/options")
    assert options is not None  # bit/s, us, per cent
    assert {key: float(value) for key, value in options.items()} == {"bandwidth": 10e6, "delay": 20e3, "loss": 1}


def test_mininet_s_link_has_the_same_rate_delay_and_loss() -> None:
    calls = [node for node in ast.walk(ast.parse(the("python"))) if isinstance(node, ast.Call)]
    (link,) = (call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "addLink")
    values = {key.arg: ast.literal_eval(key.value) for key in link.keywords if key.arg != "cls"}
    assert values == {"bw": 10, "delay": "20ms", "loss": 1}


def test_gns3_s_filters_have_the_same_delay_and_loss() -> None:
    assert json.loads(the("json"))["filters"] == {"packet_loss": [1], "delay": [20, 0]}


def test_containerlab_s_two_ends_have_the_same_rate_delay_and_loss() -> None:
    (file,) = (text for text in YAMLS if text not in OURS.values())
    topology = YAML(typ="safe").load(file)["topology"]
    (link,) = topology["links"]
    ends = dict(end.split(":") for end in link["endpoints"])
    assert ends.keys() == topology["nodes"].keys()
    impaired = re.findall(r"netem set -n clab-pair-(\w) -i (\w+) --delay 20ms --loss 1 --rate 10000$", PAGE.read_text(), re.M)
    assert dict(impaired) == ends


def test_opensand_s_bands_and_delays_give_the_rates_and_the_delay_of_ours(tmp_path: Path) -> None:
    sky = netbox("geo", tmp_path)
    parts = ElementTree.fromstring(f"<parts>{the('xml', 1)}</parts>")

    def rate(band: str, roll_off: str, bits_a_symbol: float) -> float:
        """OpenSandModelConf.cpp: bandwidth (kHz) / (1 + roll-off) is the symbol rate."""
        values = [float(parts.findtext(f"item/{path}") or "nan") for path in (f"{band}/item/bandwidth", f"roll_off/{roll_off}")]
        return values[0] * 1e3 / (1 + values[1]) * bits_a_symbol

    # Bits a symbol of wave form 7 of DVB-S2 and 14 of DVB-RCS2: OpenSAND's topology.xml.
    assert rate("forward_band", "forward", 1.487) == pytest.approx(7.4e6, rel=0.01) and sky["forward_rate"] == "7.4 Mbit/s"
    assert rate("return_band", "return", 0.93) == pytest.approx(930e3) and sky["return_rate"] == "930 kbit/s"
    assert parts.findtext("item/return_band/item/wave_form") == str(sky["return_waveform"])
    # Of the terminal; the gateway has as much.
    assert sky["delay"] == f"{2 * int(parts.findtext('delay/delay_value') or 0)} ms"
    assert sky["cra_rate"] == f"{parts.findtext('dama/cra')} kbit/s"


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)]+)\)", PAGE.read_text()))))
def test_a_link_of_the_page_leads_to_a_heading_or_a_file(link: str) -> None:
    path, _, anchor = link.partition("#")
    file = (PAGE.parent / path).resolve() if path else PAGE
    headings = re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE)
    assert not anchor or anchor in {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Of commands whose labs are kept below the test's folder, and leave nothing on the host."""
    (state := tmp_path / "state").mkdir()
    before = traces(state)
    yield {**os.environ, "NETBOXIT_STATE": str(state)}
    assert traces(state) == before


@pytest.mark.lab
@pytest.mark.patient
def test_the_commands_lead_through_the_lab(tmp_path: Path, environment: dict[str, str]) -> None:
    planned("pair", tmp_path)
    # A machine may have no iperf3.
    shown = [command for command in documented_commands.section(PAGE, "The lab here") if "iperf3" not in command.words]
    assert (shown[0].words, shown[-1].words) == ("up pair.yaml", "down")
    program = [sys.executable, str(CHECKOUT / "netboxit.py")]
    said: dict[str, str] = {}
    try:
        for command in shown:
            process = subprocess.run(
                [*program, *command.argv()], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60
            )
            # One in a hundred is lost: of three pings one answer is enough for ping.
            assert process.returncode == 0, f"{command}\n{process.stdout}{process.stderr}"
            said[command.words] = process.stdout
    finally:
        subprocess.run([*program, "down", "--all"], cwd=tmp_path, env=environment, capture_output=True, timeout=60)
    trips = [float(trip) for trip in re.findall(r"time=([\d.]+) ms", said["exec a ping -c 3 b"])]
    assert trips and min(trips) >= 40.0  # twice the delay
    assert (tmp_path / "path.pcapng").stat().st_size
