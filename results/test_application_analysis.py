# SPDX-License-Identifier: GPL-2.0-or-later
"""Applications say what only they have by their own analyses; nothing else in `results` knows one by its name."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment, nodes
from typing_extensions import TypedDict

from applications.registry import analyses, applications
from contracts.run_files import DamagedRun
from results.analyse import analyse
from results.application_analysis import ApplicationAnalysis, Evidence, Findings, KeyFigure
from results.conftest import SyntheticRun

FOLDER = Path(__file__).parent
#: What applications are called, and what their keys in metrics.json are.
NAMES = {*applications(), *(name.replace("-", "_") for name in applications()), *(one.key for one in analyses().values())}
#: Those of them that are no words of ours besides.
_TELLING = re.compile(r"(?i)(?<![a-z])(voice|video|camera|udp[-_]flow)s?(?![a-z])")
SOURCES = [file for file in sorted(FOLDER.rglob("*.py")) if not file.name.startswith(("test_", "conftest"))]


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.name))
def test_no_module_names_an_application(file: Path) -> None:
    text = file.read_text()
    written = {node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert not written & NAMES
    assert not _TELLING.findall(text)


@pytest.mark.parametrize("file", sorted(FOLDER.rglob("*.j2")), ids=lambda file: str(file.name))
def test_no_template_names_an_application(file: Path) -> None:
    used = set(_words(Environment().parse(file.read_text())))
    assert not used & NAMES and not _TELLING.findall(" ".join(used))


def _words(template: nodes.Template) -> Iterator[str]:
    """What its expressions use; what is text and style is the page's own."""
    for node in template.find_all((nodes.Name, nodes.Getattr, nodes.Const)):
        match node:
            case nodes.Name():
                yield node.name
            case nodes.Getattr():
                yield node.attr
            case nodes.Const(value=str(value)):
                yield value


class Party(TypedDict):
    host: str


class Facts(TypedDict):
    parties: list[Party]


class Talk(TypedDict):
    flow: str
    hosts: list[str]


def talks(evidence: Evidence) -> Findings:
    (record,) = evidence.records
    hosts = [party["host"] for party in evidence.facts(record, Facts)["parties"]]
    found: list[Talk] = [{"flow": flow.figures["name"], "hosts": hosts} for flow in evidence.flows]
    last = evidence.flows[-1].measured.flow
    figure = KeyFigure(last.name, last.direction, "who <talks>", str(len(hosts)), evidence.planned[record.name].source)
    return Findings(found, [figure], lambda: {"talks": found})


@pytest.fixture
def folder(synthetic: SyntheticRun) -> Path:
    synthetic.calls(30)
    return synthetic.write()


def test_what_an_analysis_finds_is_in_the_metrics_and_in_the_report(folder: Path, tmp_path: Path) -> None:
    template = tmp_path / "part.html.j2"
    template.write_text("<h2>Talks</h2>{% for talk in talks %}{{ talk.flow }}: {{ talk.hosts | join('&') }} {% endfor %}")
    analysis = ApplicationAnalysis("talks", Talk, talks, template, files=[("traffic/*/flows.json", "its <flows>")])
    document: Any = analyse(folder, {"call": analysis})
    assert document["talks"] == [{"flow": "call.voice", "hosts": ["fr1", "eoc"]}] * 2
    assert document == {key: value for key, value in json.loads((folder / "metrics.json").read_text()).items() if key in document}
    page = (folder / "report.html").read_text()
    assert page.count("call.voice: fr1&amp;eoc") == 2
    # Its key figure stands beside the delay of the flow that it is of, and of no other.
    top = page.partition('<div class="key">')[2].partition("<section>")[0]
    assert "who &lt;talks&gt;" in top and top.count("mean delay") == 1
    assert "its &lt;flows&gt;" in page
    assert page.index("<h2>Talks</h2>") > page.index("<h2>Flows</h2>")


def test_a_part_beside_the_flows_stands_in_their_section(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "part.html.j2").write_text("<h3>Talks</h3>")
    analyse(folder, {"call": ApplicationAnalysis("talks", Talk, talks, tmp_path / "part.html.j2", beside_flows=True)})
    section = (folder / "report.html").read_text().partition("<h2>Flows</h2>")[2].partition("</section>")[0]
    assert "<h3>Talks</h3>" in section


def test_an_application_that_nobody_knows_has_its_flows_all_the_same(folder: Path) -> None:
    document = analyse(folder, {})
    assert [flow["received"] for flow in document["flows"]] == [30, 30]
    assert not {one.key for one in analyses().values()} & set(document)


@pytest.mark.parametrize("name", [name for name in analyses() if name != "camera"])
def test_facts_that_are_damaged_are_told_with_their_place(folder: Path, name: str) -> None:
    file = folder / "traffic/call/flows.json"
    content = json.loads(file.read_text())
    file.write_text(json.dumps(content | {"application": name, "facts": {"parties": 7, "run": 7}}))
    with pytest.raises(DamagedRun, match=r"flows\.json is damaged: facts: \w+: "):
        analyse(folder, analyses())
