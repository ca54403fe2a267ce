# SPDX-License-Identifier: GPL-2.0-or-later
"""Applications of other packages: found by their entry point, and whole, with keys, metrics and a part of the report."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from applications import registry
from contracts.errors import NetBoxITError
from contracts.flow import ApplicationRecord, Flow
from results.analyse import analyse
from results.conftest import CENTRE, FIELD, SyntheticRun
from results.metrics_document import METRICS
from testbed.description import topology_schema
from testbed.description.topology_file import load
from testbed.documents import kinds
from testbed.documents.schemas import schema

APPLICATION = """
from applications.application import Application, ApplicationOptions

class ProbeOptions(ApplicationOptions):
    #: How many.
    probes: int = 3

class Probe(Application):
    OPTIONS = ProbeOptions
    def prepare(self): ...
    def arrange(self): ...
    def flows(self): return []
    def facts(self): return {"sent": self.options.probes}
"""
ANALYSIS = '''
from pathlib import Path
from typing_extensions import TypedDict
from results.application_analysis import ApplicationAnalysis, Findings
from results.metrics import delays_ms

class Facts(TypedDict):
    sent: int

class Probes(TypedDict):
    """What became of the probes."""
    flow: str
    #: As it was asked for.
    sent: int
    slowest_ms: float

def judge(evidence):
    found = [
        {
            "flow": one.measured.flow.name,
            "sent": evidence.facts(one.measured.application, Facts)["sent"],
            "slowest_ms": float(delays_ms(one.measured.rows).max()),
        }
        for one in evidence.flows
    ]
    return Findings(found, drawn=lambda: {"all": found})

ANALYSIS = ApplicationAnalysis("probes", Probes, judge, Path(__file__).with_name("probes.html.j2"))
'''
TEMPLATE = "{% for one in all %}<h2>Probes of {{ one.flow }}</h2><b>{{ one.slowest_ms | number }}</b>{% endfor %}"


class Packages:
    """Packages that are installed in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self, distribution: str, brings: str, **modules: str) -> None:
        """A package with these modules. The entry point of the application that it brings names it."""
        package = distribution.replace("-", "_")
        (self.folder / package).mkdir()
        for name, text in {"__init__.py": "", **{f"{name}.py": text for name, text in modules.items()}}.items():
            (self.folder / package / name).write_text(text)
        (self.folder / package / "probes.html.j2").write_text(TEMPLATE)
        about = self.folder / f"{package}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[netboxit.applications]\n{brings} = {package}\n")


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Packages]:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    _forget()
    yield Packages(folder)
    _forget()
    for name in [name for name, module in sys.modules.items() if str(getattr(module, "__file__", "")).startswith(str(folder))]:
        del sys.modules[name]


def _forget() -> None:
    for known in (registry.plugins, registry.applications, registry.analyses):
        known.cache_clear()


def test_one_of_another_package_is_described_like_ours(packages: Packages, tmp_path: Path) -> None:
    packages.install("probe-maker", "probe", application=APPLICATION)
    assert [*registry.applications()] == ["call", "camera", "command", "udp-flow", "probe"]
    assert "probe" not in registry.analyses()
    network = "name: x\ncentre: b\nhosts: {a: {address: 10.0.0.1/24}, b: {address: 10.0.0.2/24}}\nwires: [[a, b]]\n"
    (tmp_path / "x.yaml").write_text(network + "traffic: {p: {application: probe, from: a, to: b, probes: 7}}\n")
    options: Any = load(tmp_path / "x.yaml").traffic["p"].options
    assert options.probes == 7
    (tmp_path / "y.yaml").write_text(network + "traffic: {p: {application: probe, from: a, to: b, probe: 7}}\n")
    with pytest.raises(NetBoxITError, match='there is no key "probe"; did you mean "probes"'):
        load(tmp_path / "y.yaml")
    assert '"const": "probe"' in json.dumps(topology_schema.schema())


def test_its_metrics_are_in_the_document_the_schema_and_the_report(packages: Packages, tmp_path: Path) -> None:
    packages.install("probe-maker", "probe", application=APPLICATION, analysis=ANALYSIS)
    synthetic = SyntheticRun(tmp_path / "run")
    synthetic.calls(40)
    folder = synthetic.write()
    (folder / "traffic/call/flows.json").unlink()
    flow = Flow(
        **{"name": "p", "kind": "probe", "direction": "return", "protocol": "udp"},
        **{"source": "fr1", "destination": "eoc", "source_address": FIELD, "destination_address": CENTRE},
        **{"source_ports": (20_000, 20_000), "destination_ports": (20_000, 20_000)},
    )
    ApplicationRecord(name="call", application="probe", flows=(flow,), facts={"sent": 40}).write(folder / "traffic/call")
    returned = analyse(folder, registry.analyses())
    metrics = json.loads((folder / "metrics.json").read_text())
    assert metrics["probes"] == [{"flow": "p", "sent": 40, "slowest_ms": pytest.approx(255.035)}]
    assert metrics["voice"] == []
    Draft202012Validator(schema(METRICS)).validate(metrics)
    Draft202012Validator(schema(kinds.RUN)).validate(kinds.RUN.of({"folder": "x", "metrics": returned}))
    shape = schema(METRICS)["$defs"]["Probes"]
    assert shape["properties"]["sent"] == {"description": "As it was asked for.", "type": "integer"}
    assert not Draft202012Validator(schema(METRICS)).is_valid(metrics | {"probes": [{"flow": "p"}]})
    page = (folder / "report.html").read_text()
    assert "<h2>Probes of p</h2><b>255.0</b>" in page


def test_a_name_that_two_packages_have_is_an_error_that_names_both(packages: Packages) -> None:
    packages.install("probe-maker", "probe", application=APPLICATION)
    packages.install("other-maker", "probe", application=APPLICATION)
    with pytest.raises(registry.BadApplication, match="probe-maker and other-maker both have an application probe"):
        registry.applications()


def test_the_name_of_one_of_ours_is_taken(packages: Packages) -> None:
    packages.install("phone-maker", "call", application=APPLICATION)
    with pytest.raises(registry.BadApplication, match="phone-maker and netboxit both have an application call"):
        registry.applications()


@pytest.mark.parametrize(
    ("key", "owner"),
    [("voice", "application call of netboxit"), ("flows", "every run's metrics"), ("format", "every run's metrics")],
)
def test_a_key_that_is_taken_is_an_error_that_names_both(packages: Packages, key: str, owner: str) -> None:
    packages.install("probe-maker", "probe", application=APPLICATION, analysis=ANALYSIS.replace('"probes"', f'"{key}"'))
    with pytest.raises(registry.BadApplication, match=f"{owner} and application probe of probe-maker both have the key {key}"):
        registry.analyses()


@pytest.mark.parametrize(
    ("modules", "what"),
    [
        ({}, "application probe of probe-maker cannot be imported: No module named 'probe_maker.application'"),
        ({"application": "import no_such_module"}, "of probe-maker cannot be imported: No module named"),
        ({"application": ""}, "probe_maker.application of probe-maker has 0 classes that are an application"),
        ({"application": APPLICATION + APPLICATION.replace("class Probe(", "class Other(")}, "has 2 classes"),
        ({"application": APPLICATION, "analysis": ""}, "probe_maker.analysis of probe-maker has no ANALYSIS"),
        (
            {"application": APPLICATION, "analysis": "import no_such_module"},
            "of probe-maker cannot be imported: No module named",
        ),
    ],
)
def test_one_that_is_not_whole_is_told_with_who_brings_it(packages: Packages, modules: dict[str, str], what: str) -> None:
    packages.install("probe-maker", "probe", **modules)
    with pytest.raises(registry.BadApplication, match=what):
        registry.applications() and registry.analyses()
