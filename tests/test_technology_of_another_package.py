# SPDX-License-Identifier: GPL-2.0-or-later
"""A technology of another package, that of docs/technologies.md: found by its entry point, and whole, with drill and program."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from contracts.changes import ParameterChange
from contracts.errors import BadTopology
from contracts.installation import CHECKOUT
from contracts.plan import Plan
from contracts.plugins import BadPlugin
from netboxes import technology
from netboxes.drill import netbox_drills
from netboxes.engine.virtual import emulate, udp
from netboxes.technology import MissingTechnology, technologies, technology_of
from netboxit import app
from testbed.changing import set_command
from testbed.description import topology_schema
from testbed.description.drills import all_drills
from testbed.description.reference import documents
from testbed.description.targets import Targets
from testbed.labs import deployment
from testbed.labs.deployment import ProgramMissing
from testbed.plans.calibration import Costs, PortCost
from testbed.plans.test_resolve import plan_of
from testbed.probes import calibrate, programs
from tests.installed_packages import InstalledPackages

#: By their names.
FILES = dict(
    re.findall(r"^`delay_line/(\S+)`:\n\n```\w+\n(.*?)^```$", (CHECKOUT / "docs/technologies.md").read_text(), re.M | re.S)
)
NETWORK = """\
name: lines
centre: b
hosts: {a: {address: 10.0.0.1/24}, b: {address: 10.0.0.2/24}}
netboxes:
  line: {technology: delayline, delay: 20 ms, stations: {west: , east: }}
wires: [[a, line.west], [line.east, b]]
events:
  - {at: 2 s, drill: line-detour, with: {delay: 80 ms, hold: 3 s}}
"""
OURS = {"endpoints", "ethernet", "generator", "link", "lte", "multiservice", "pan", "pmr", "satellite", "sink", "wifi", "wimax"}


def install(packages: InstalledPackages, distribution: str = "delay-line", name: str = "delayline", **changed: str) -> Path:
    """With these modules in place of the document's."""
    files = FILES | {f"{module}.py": text for module, text in changed.items()}
    return packages.install(distribution, technology.GROUP, name, files)


def netboxit(*words: str | Path) -> str:
    """What it prints."""
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "lines.yaml"
    file.write_text(NETWORK)
    return file


@pytest.fixture
def plan(installed_packages: InstalledPackages, file: Path) -> Plan:
    install(installed_packages)
    return plan_of(file)


def test_the_document_has_all_files() -> None:
    assert {*FILES} == {"parameters.py", "segment.cc", "CMakeLists.txt", "drills.py"}


def test_its_keys_are_checked_and_planned_like_ours(plan: Plan, file: Path, state_folder: Path) -> None:
    assert {*technologies()} == OURS | {"delayline"}
    node = plan.node("line")
    assert node.command[0] == str(CHECKOUT / "build/bin/netbox-delayline")
    configuration = json.loads(node.files["netbox.json"])
    assert configuration["parameters"] == {"stations": {"west": {}, "east": {}}, "delay": 0.02}
    assert configuration["live"]["segment"] == {"delay": {"minimum": 0.0, "maximum": 10.0, "unit": "s"}}
    assert "is sound: 2 hosts, 1 netbox, 2 wires" in netboxit("check", file)
    assert "line.west" in netboxit("plan", file)
    file.write_text(NETWORK.replace("20 ms", "20 s"))
    with pytest.raises(BadTopology, match=r":5:\d+: netboxes.line.delay: 20 s is outside 0 s … 10 s"):
        netboxit("check", file)


def test_its_drill_is_listed_and_is_an_event(plan: Plan) -> None:
    assert [(event.at_s, event.change) for event in plan.events] == [
        (2.0, ParameterChange("line", "delay", 0.08, "80 ms")),
        (5.0, ParameterChange("line", "delay", 0.02, "20 ms")),
    ]
    assert "line-detour: The line takes a detour" in netboxit("drill", "--list")
    targets = Targets.of(plan.nodes, plan.wires, plan.equipment)
    assert len(set_command.drill(targets, "line-detour", ["hold=5 s"]).steps) == 2
    (step,) = set_command.change(targets, "line", "delay=1 ms").steps
    assert step.change == ParameterChange("line", "delay", 0.001, "1 ms")


def test_the_schema_is_that_of_the_installation_and_documents_are_of_ours(plan: Plan) -> None:
    assert '"const": "delayline"' in json.dumps(topology_schema.schema())
    assert {document.parent.name for document in documents()} == OURS | {"docs"}
    assert "line-detour" not in all_drills().ours


def test_a_program_that_is_missing_is_told_before_a_lab_is_made_and_by_doctor(plan: Plan) -> None:
    with pytest.raises(
        ProgramMissing, match=r"netbox line cannot start: there is no .*/build/bin/netbox-delayline; remedy: `cmake"
    ):
        deployment.check(plan)
    (finding,) = programs.netboxes_of_others()
    assert (finding.there, finding.needed) == ("no", False)
    assert "missing: delayline" in finding.found and "NETBOXIT_TECHNOLOGIES" in finding.remedy


@pytest.mark.parametrize(
    ("typical", "why"),
    [
        ('{"stations": {"a": {}, "b": {}}}', "netbox-delayline is not built; remedy: `cmake -B build -DNETBOXIT_TECHNOLOGIES"),
        ('{"stations": {"a": {}}}', "what delay_line.parameters has as TYPICAL is no such segment: 1 validation error"),
    ],
)
def test_what_cannot_be_calibrated_is_told_and_costs_nobody_else_their_figures(
    installed_packages: InstalledPackages, monkeypatch: pytest.MonkeyPatch, typical: str, why: str
) -> None:
    text = FILES["parameters.py"].replace("    LIVE:", f"    TYPICAL = {typical}\n    LIVE:")
    install(installed_packages, parameters=text)
    known, costs = technologies(), Costs(small_us=1.0, large_us=2.0)
    monkeypatch.setattr(calibrate, "technologies", lambda: {name: known[name] for name in ("sink", "delayline")})
    monkeypatch.setattr(calibrate, "_ports", lambda kind: PortCost(alone=costs, among_many=costs))
    found = calibrate.calibrate(lambda told: None)
    assert {*found.failed} == {"delayline"} and why in found.failed["delayline"]


def test_a_lab_whose_technology_was_uninstalled_is_told_so(file: Path) -> None:
    with pytest.raises(MissingTechnology, match="the technology delayline of this netbox is not here any more; install"):
        technology_of("delayline")
    with pytest.raises(BadTopology, match='"delayline" is not a technology; use endpoints'):
        netboxit("check", file)


def test_ours_are_found_without_a_look_at_other_packages(installed_packages: InstalledPackages) -> None:
    install(
        installed_packages, parameters="raise RuntimeError('looked at')", name="wifi", drills="raise RuntimeError('looked at')"
    )
    assert technologies()["wifi"].__module__ == "netboxes.wifi.parameters"
    assert "wifi" in technologies()
    assert "satellite-fade" in all_drills()
    with pytest.raises(BadPlugin, match=r"delay-line and netboxit both have a technology wifi .*; uninstall one of them"):
        list(technologies())


def test_a_name_that_two_packages_have_is_an_error_that_names_both(installed_packages: InstalledPackages) -> None:
    install(installed_packages)
    install(installed_packages, "other-line")
    with pytest.raises(BadPlugin, match="other-line and delay-line both have a technology delayline"):
        technologies().get("delayline")


@pytest.mark.parametrize("name", ["../sh", "Line", "a-line-of-sixteen", "-line", "line\u0301"])
def test_a_name_that_is_none_is_refused_with_who_brings_it(installed_packages: InstalledPackages, name: str) -> None:
    install(installed_packages, name=name)
    with pytest.raises(
        BadPlugin, match=r"delay-line has an entry point .* in netboxit\.technologies, which is not the name of a"
    ):
        list(technologies())


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ("import no_such_module", "delay_line.parameters cannot be imported: No module named 'no_such_module'"),
        ("1/0", "delay_line.parameters cannot be imported: division by zero"),
        ("from netboxes.wifi.parameters import Parameters", "has 0 classes that extend Technology, and needs one"),
        (
            FILES["parameters.py"] + "\nclass Other(Parameters):\n    pass\n",
            "has 2 classes that extend Technology, and needs one",
        ),
        ("from netboxes.technology import Technology\nclass Parameters(Technology): pass", "Parameters has no field stations"),
    ],
)
def test_one_that_is_not_whole_is_told_with_who_brings_it(
    installed_packages: InstalledPackages, file: Path, parameters: str, why: str
) -> None:
    install(installed_packages, parameters=parameters)
    with pytest.raises(BadPlugin) as told:
        netboxit("check", file)
    assert str(told.value).startswith("technology delayline of delay-line cannot be used: ")
    assert str(told.value).endswith(f"{why}; repair or uninstall the package")
    (finding,) = programs.netboxes_of_others()
    assert f"{finding.found}; {finding.remedy}" == str(told.value) and finding.there == "no"


@pytest.mark.parametrize(
    ("drills", "why"),
    [
        (
            FILES["drills.py"].replace("line-detour", "satellite-fade"),
            "netboxit and .* of delay-line both have a drill satellite-f",
        ),
        (FILES["drills.py"].replace("line-detour", "link-flap"), "delay_line.drills has a drill link-flap, and NetBoxIT has one"),
        (
            FILES["drills.py"].replace('NAME = "line-detour"', ""),
            "delay-line cannot be used: delay_line.drills.Detour has no NAME",
        ),
        ("import no_such_module", "delay-line cannot be used: delay_line.drills cannot be imported: No module named"),
    ],
)
def test_a_drill_that_cannot_be_is_told_with_who_brings_it(installed_packages: InstalledPackages, drills: str, why: str) -> None:
    install(installed_packages, drills=drills)
    with pytest.raises(BadPlugin, match=why):
        list(all_drills())


def test_a_module_is_no_package(installed_packages: InstalledPackages) -> None:
    package = install(installed_packages)
    package.rename(package.with_suffix(".away"))
    package.with_suffix(".py").touch()
    with pytest.raises(BadPlugin, match="delay-line cannot be used: delay_line is a module, and not a package"):
        list(all_drills())
    with pytest.raises(
        BadPlugin, match=r"delay-line cannot be used: delay_line\.parameters cannot be imported: .* is not a package"
    ):
        technologies().get("delayline")


def test_packages_bring_technologies_without_drills(installed_packages: InstalledPackages) -> None:
    (install(installed_packages) / "drills.py").unlink()
    assert {*netbox_drills()} == {*netbox_drills().ours}


def cmake(folder: Path, technologies: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Prepares a build of this checkout in `folder`, with these technologies."""
    command = ["cmake", "-S", str(CHECKOUT), "-B", str(folder), "-G", "Ninja", f"-DNETBOXIT_TECHNOLOGIES={technologies}"]
    command += ["-DBUILD_TESTING=OFF", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_the_build_refuses_what_is_no_technology_or_there_already(tmp_path: Path) -> None:
    told = cmake(tmp_path / "build", str(tmp_path))
    assert told.returncode and f"names {tmp_path}, which has no CMakeLists.txt" in " ".join(told.stderr.split())
    (tmp_path / "CMakeLists.txt").write_text("netboxit_technology(wifi SOURCES segment.cc MODULES core)\n")
    told = cmake(tmp_path / "build", str(tmp_path))
    assert told.returncode
    assert f"{CHECKOUT}/netboxes/wifi and {tmp_path} both have a technology wifi" in " ".join(told.stderr.split())


@pytest.mark.long
def test_its_program_is_built_and_carries_frames(
    installed_packages: InstalledPackages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the engine, which takes nearly all of the two minutes."""
    package = install(installed_packages)
    told = cmake(tmp_path / "build", str(package), "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0")
    assert told.returncode == 0, told.stderr
    subprocess.run(["nice", "cmake", "--build", tmp_path / "build", "--target", "netbox-delayline"], check=True, timeout=1500)
    monkeypatch.setenv("NETBOXIT_BUILD", str(tmp_path / "build"))
    frames = {"west": [(0.0, udp(0, 1)), (1.0, udp(0, 1))]}
    run = emulate("delayline", {"stations": {"west": {}, "east": {}}, "delay": "20 ms"}, frames, events=[(0.5, "delay", 0.25)])
    assert [at for at, _ in run.received["east"]] == pytest.approx([0.02, 1.25], abs=1e-6)
