# SPDX-License-Identifier: GPL-2.0-or-later
"""Applications of other packages: found by their entry point, and whole, with keys, metrics and a part of the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from applications import registry
from applications.application import programs_of
from contracts.errors import NetBoxITError
from contracts.flow import ApplicationRecord, Flow
from contracts.installation import CHECKOUT
from contracts.plugins import BadPlugin
from results.analyse import analyse
from results.conftest import CENTRE, FIELD, SyntheticRun
from results.environment import environment
from results.metrics_document import METRICS
from testbed.description import topology_schema
from testbed.description.topology_file import load
from testbed.documents import kinds
from testbed.documents.schemas import schema
from testbed.probes import programs
from tests.installed_packages import InstalledPackages

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


def install(packages: InstalledPackages, distribution: str, brings: str, **modules: str) -> None:
    files = {f"{name}.py": text for name, text in modules.items()}
    packages.install(distribution, registry.GROUP, brings, {**files, "probes.html.j2": TEMPLATE})


def test_one_of_another_package_is_described_like_ours(installed_packages: InstalledPackages, tmp_path: Path) -> None:
    install(installed_packages, "probe-maker", "probe", application=APPLICATION)
    assert [*registry.applications()] == ["bulk", "call", "camera", "command", "dash", "udp-flow", "web", "probe"]
    assert "probe" not in registry.analyses()
    network = "name: x\ncentre: b\nhosts: {a: {address: 10.0.0.1/24}, b: {address: 10.0.0.2/24}}\nwires: [[a, b]]\n"
    (tmp_path / "x.yaml").write_text(network + "traffic: {p: {application: probe, from: a, to: b, probes: 7}}\n")
    options: Any = load(tmp_path / "x.yaml").traffic["p"].options
    assert options.probes == 7
    (tmp_path / "y.yaml").write_text(network + "traffic: {p: {application: probe, from: a, to: b, probe: 7}}\n")
    with pytest.raises(NetBoxITError, match='there is no key "probe"; did you mean "probes"'):
        load(tmp_path / "y.yaml")
    assert '"const": "probe"' in json.dumps(topology_schema.schema())


def test_its_metrics_are_in_the_document_the_schema_and_the_report(installed_packages: InstalledPackages, tmp_path: Path) -> None:
    install(installed_packages, "probe-maker", "probe", application=APPLICATION, analysis=ANALYSIS)
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


def measuring(*measures: str) -> str:
    """The analysis, with these measures."""
    own = ANALYSIS.replace('"probes.html.j2"))', f'"probes.html.j2"), measures=[{", ".join(measures)}])')
    return own.replace("ApplicationAnalysis, Findings\n", "ApplicationAnalysis, Findings\nfrom results.measure import Measure\n")


def test_its_measures_are_among_all_others(installed_packages: InstalledPackages) -> None:
    ours = registry.measures()
    assert {"loss_ratio", "queue_packets_p99", "mos_e_model", "page_load_s_p95", "transfer_goodput_kbps"} <= set(ours)
    assert ours["delay_ms_p99"].unit == "ms" and ours["delay_ms_p99"].better == "lower"
    registry.measures.cache_clear()
    install(
        *(installed_packages, "probe-maker", "probe"),
        application=APPLICATION,
        analysis=measuring('Measure("slowest_ms", "ms", "of the probes the slowest one", "lower")'),
    )
    registry.analyses.cache_clear()
    registry.application_plugins.cache_clear()
    assert set(registry.measures()) - set(ours) == {"slowest_ms"}


@pytest.mark.parametrize(
    ("measure", "told"),
    [
        ('Measure("loss_ratio", "", "lost")', "every run and application probe of probe-maker both have the measure loss_ratio"),
        (
            'Measure("stalls", "", "stalls")',
            "application dash of netboxit and application probe of probe-maker both have the measure",
        ),
        ('Measure("direction", "", "where")', '"direction" is not the name of a measure'),
        ('Measure("slowest ms", "ms", "slowest")', '"slowest ms" is not the name of a measure'),
        ('Measure("slowest_ms", "ms", "slowest", of="queue")', "its measure slowest_ms is of queue"),
    ],
)
def test_a_measure_that_would_be_taken_for_another_is_refused(
    measure: str, told: str, installed_packages: InstalledPackages
) -> None:
    install(installed_packages, "probe-maker", "probe", application=APPLICATION, analysis=measuring(measure))
    with pytest.raises(BadPlugin, match=told):
        registry.measures()


def test_its_programs_are_looked_for_and_their_packages_told(installed_packages: InstalledPackages) -> None:
    """Of Debian's packages, base-files is on every machine, and "no-such-thing" on none."""
    asked = """
    PROGRAMS = (
        DebianProgram("ls", "base-files", "listing"),
        DebianProgram("netboxit-no-such-program", "no-such-thing", "probing"),
    )
    def prepare(self): ..."""
    text = "from contracts.debian_program import DebianProgram\n" + APPLICATION.replace("    def prepare(self): ...", asked)
    install(installed_packages, "probe-maker", "probe", application=text)
    there, missing = programs.tools_of_others()
    assert (there.name, there.there, missing.name, missing.there) == ("ls", "yes", "netboxit-no-such-program", "no")
    assert (missing.lost, missing.remedy) == ("probing", "sudo apt-get install no-such-thing")
    told = environment(programs_of(dict(registry.applications()).values()))["packages"]
    assert told["base-files"] and told["no-such-thing"] is None and "baresip-core" in told


def test_doctor_tells_of_an_application_that_cannot_be_imported(installed_packages: InstalledPackages) -> None:
    install(installed_packages, "probe-maker", "probe", application="import no_such_thing")
    (finding,) = programs.tools_of_others()
    assert (finding.name, finding.there) == ("applications of other packages", "no")
    assert "probe of probe-maker" in finding.found and "No module named 'no_such_thing'" in finding.found
    assert finding.remedy == "repair or uninstall the package"


def test_set_up_installs_the_programs_of_our_applications() -> None:
    defaults = yaml.safe_load((CHECKOUT / "ansible/roles/packages/defaults/main.yml").read_text())
    assert {program.package for program in programs.tools()} <= set(defaults["netboxit_packages"])


def test_a_name_that_two_packages_have_is_an_error_that_names_both(installed_packages: InstalledPackages) -> None:
    install(installed_packages, "probe-maker", "probe", application=APPLICATION)
    install(installed_packages, "other-maker", "probe", application=APPLICATION)
    with pytest.raises(BadPlugin, match="probe-maker and other-maker both have an application probe"):
        list(registry.applications())


def test_the_name_of_one_of_ours_is_taken(installed_packages: InstalledPackages) -> None:
    install(installed_packages, "phone-maker", "call", application=APPLICATION)
    with pytest.raises(BadPlugin, match="phone-maker and netboxit both have an application call"):
        list(registry.applications())


@pytest.mark.parametrize(
    ("key", "owner"),
    [("voice", "application call of netboxit"), ("flows", "every run's metrics"), ("format", "every run's metrics")],
)
def test_a_key_that_is_taken_is_an_error_that_names_both(installed_packages: InstalledPackages, key: str, owner: str) -> None:
    install(
        installed_packages, "probe-maker", "probe", application=APPLICATION, analysis=ANALYSIS.replace('"probes"', f'"{key}"')
    )
    with pytest.raises(BadPlugin, match=f"{owner} and application probe of probe-maker both have the key {key}"):
        registry.analyses()


@pytest.mark.parametrize(
    ("modules", "what"),
    [
        ({}, "application probe of probe-maker cannot be used: probe_maker.application cannot be imported: No module named"),
        ({"application": "sent ="}, r"probe_maker.application cannot be imported: invalid syntax \(application.py, line 1\)"),
        ({"application": "raise SystemExit"}, "probe_maker.application cannot be imported: SystemExit"),
        (
            {"application": "import no_such_module"},
            "cannot be imported: No module named 'no_such_module'; repair or uninstall the package",
        ),
        ({"application": ""}, "probe_maker.application has 0 classes that extend Application, and needs one"),
        ({"application": APPLICATION + APPLICATION.replace("class Probe(", "class Other(")}, "has 2 classes"),
        (
            {"application": APPLICATION, "analysis": ""},
            "probe of probe-maker cannot be used: probe_maker.analysis has no ANALYSIS",
        ),
        (
            {"application": APPLICATION, "analysis": "import no_such_module"},
            "cannot be imported: No module named 'no_such_module'; repair or uninstall the package",
        ),
    ],
)
def test_one_that_is_not_whole_is_told_with_who_brings_it(
    installed_packages: InstalledPackages, modules: dict[str, str], what: str
) -> None:
    install(installed_packages, "probe-maker", "probe", **modules)
    with pytest.raises(BadPlugin, match=what):
        dict(registry.applications()) and registry.analyses()
