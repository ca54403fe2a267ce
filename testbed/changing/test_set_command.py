# SPDX-License-Identifier: GPL-2.0-or-later
"""What is said at a terminal becomes changes, and what cannot be is refused with what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.changes import (
    ConfigurationChange,
    FreezeChange,
    HandlerWrite,
    ManagedLinkChange,
    ParameterChange,
    PowerChange,
    StagesChange,
    WireChange,
)
from contracts.plan import WireEnd
from testbed.changing import set_command
from testbed.description.live import BadChange
from testbed.description.targets import ManagedLinkTarget, NetboxTarget, RouterTarget, Targets, WireTarget

SCENE = Targets(
    netboxes={"space": NetboxTarget("satellite", ("terminal", "hub"), {"fade": 1.0})},
    routers={"meoc": RouterTarget("click", ("ian", "jan")), "core": RouterTarget("linux", ("x",))},
    hosts=("a", "b"),
    switches=("lan",),
    wires=(
        WireTarget("a.eth0--meoc.ian", WireEnd("a", "eth0"), WireEnd("meoc", "ian")),
        WireTarget("meoc.jan--space.terminal", WireEnd("meoc", "jan"), WireEnd("space", "terminal"), memory=True),
        WireTarget("space.hub--b.eth0", WireEnd("space", "hub"), WireEnd("b", "eth0")),
        WireTarget("modem.p--core.x", WireEnd("modem", "p"), WireEnd("core", "x"), outside=WireEnd("modem", "p")),
    ),
    managed_links={"sat": ManagedLinkTarget("b", {"a": True, "told": False})},
)


@pytest.mark.parametrize(
    ("target", "text", "change"),
    [
        ("space", "freeze=300 ms", FreezeChange("space", 0.3)),
        ("space.hub", "state=down", WireChange("space.hub--b.eth0", "down", "space", "hub")),
        ("b", "state = up", WireChange("space.hub--b.eth0", "up", "space", "hub")),
        ("a.eth0--meoc.ian", "state=down", WireChange("a.eth0--meoc.ian", "down", "meoc", "ian")),
        ("a--meoc", "state=down", WireChange("a.eth0--meoc.ian", "down", "meoc", "ian")),
        ("meoc.ian--a", "state=down", WireChange("a.eth0--meoc.ian", "down", "meoc", "ian")),
        ("[meoc, a.eth0]", "state=down", WireChange("a.eth0--meoc.ian", "down", "meoc", "ian")),
        ("modem", "state=down", WireChange("modem.p--core.x", "down", "core", "x")),
        ("meoc", "jan_shaper.rate=1000kbps", HandlerWrite("meoc", "jan_shaper.rate", "1000kbps")),
        ("meoc", "text.run=set x=1", HandlerWrite("meoc", "text.run", "set x=1")),
        ("meoc", "ian.stages=[]", StagesChange("meoc", "ian.stages", [], "[]")),
        ("sat", "rate=1.5 Mbit/s", ManagedLinkChange("sat", "b", "rate", 1_500_000, "1.5 Mbit/s")),
        ("sat", "a.access = 500 kbit/s", ManagedLinkChange("sat", "a", "access", 500_000, "500 kbit/s")),
    ],
)
def test_a_target_and_what_it_becomes_are_one_change(target: str, text: str, change: object) -> None:
    sequence = set_command.change(SCENE, target, text)
    assert [step.change for step in sequence.steps] == [change] and sequence.undo == ()


def test_stages_of_a_routers_interface_are_told_in_base_units_and_shown_as_they_were_said() -> None:
    (step,) = set_command.change(SCENE, "meoc", "jan.stages = [{stage: police, rate: 500 kbit/s}, {stage: mark, dscp: ef}]").steps
    change = step.change
    assert isinstance(change, StagesChange)
    assert [(stage["stage"], stage["rate"]) for stage in change.value] == [("police", 500e3), ("mark", None)]
    assert (change.interface, change.words()) == (
        "jan",
        "meoc: jan.stages [{stage: police, rate: 500 kbit/s}, {stage: mark, dscp: ef}]",
    )


@pytest.mark.parametrize("node", ["core", "space"])
def test_a_reboot_is_put_back_wherever_it_is_interrupted(node: str) -> None:
    sequence = set_command.change(SCENE, node, "reboot=2 s")
    off, on = PowerChange(node, "off"), PowerChange(node, "on")
    assert [(step.after_s, step.change) for step in sequence.steps] == [(0.0, off), (2.0, on)]
    assert sequence.undo == (on,)


def test_a_configuration_may_be_any_file_of_who_says_so(tmp_path: Path) -> None:
    (tmp_path / "x.click").write_text("Idle -> Discard;")
    (step,) = set_command.change(SCENE, "meoc", f"configuration={tmp_path}/x.click").steps
    assert step.change == ConfigurationChange("meoc", str(tmp_path / "x.click"), "Idle -> Discard;")


def test_files_are_found_where_the_command_is_called_and_beside_the_topology(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here := tmp_path / "here").mkdir()
    (there := tmp_path / "there").mkdir()
    monkeypatch.chdir(here)
    targets = Targets(netboxes={"path": NetboxTarget("link", ("a", "b"), {})}, routers={"meoc": RouterTarget("click")})
    (there / "x.trace").write_text("1\n2\n")
    (there / "x.click").write_text("Idle -> Discard;")
    for said_so in ("a.trace={file: x.trace}", "a.trace=x.trace", f"a.trace={there}/x.trace"):
        (step,) = set_command.change(targets, "path", said_so, there).steps
        assert isinstance(step.change, ParameterChange) and step.change.value["opportunities"] == [1, 2]
    (step,) = set_command.change(targets, "meoc", "configuration=x.click", there).steps
    assert isinstance(step.change, ConfigurationChange) and step.change.text == "Idle -> Discard;"
    (here / "x.trace").write_text("7\n")
    (step,) = set_command.change(targets, "path", "a.trace=x.trace", there).steps
    assert isinstance(step.change, ParameterChange) and step.change.value["opportunities"] == [7]
    with pytest.raises(BadChange, match=f"there is no file y.trace; looked in {here}, {there} and"):
        set_command.change(targets, "path", "a.trace=y.trace", there)


@pytest.mark.parametrize(
    ("target", "text", "told"),
    [
        ("space", "freeze", "write KEY=VALUE"),
        ("sat", "rate=2", "rate: '2' has no unit"),
        ("sat", "rate=0 bit/s", "rate: 0 bit/s is outside 1 kbit/s"),
        ("sat", "share=1 Mbit/s", 'the managed link sat has no live parameter "share"; use rate'),
        ("sat", "a.rate=1 Mbit/s", 'a member of sat has no live parameter "rate"; use access'),
        ("sat", "b.access=1 Mbit/s", '"b" is no member of the managed link sat'),
        ("sat", "told.access=1 Mbit/s", "the access of told is not said by the topology"),
        ("space", "freeze=2", "freeze: '2' has no unit"),
        ("space", "fad=3 dB", 'did you mean "fade"'),
        ("spcae", "fade=3 dB", 'there is no node "spcae"; did you mean "space"'),
        ("space.hbu", "state=down", 'the end of no wire; did you mean "space.hub"'),
        ("space.hub", "state=off", '"off" is not a state; use up or down'),
        ("space.terminal", "state=down", "shared memory, which is never down"),
        ("meoc", "state=down", '"meoc" has several wires; say a.eth0--meoc.ian or meoc.jan--space.terminal'),
        ("meoc.jna--space", "state=down", 'joins meoc.jna and space; did you mean "meoc.jan--space.terminal"'),
        ("meoc--", "state=down", "'meoc--' is no wire; a wire has two ends; write it like fr1--field.responder"),
        ("core", "x.y=1", "core is a router by the kernel, no Click router; use meoc"),
        ("meoc", "configuration=/no/such/file", "there is no file /no/such/file"),
        ("core", "x.stages=[]", "core is a router by the kernel, no Click router; use meoc"),
        ("a", "eth0.stages=[]", "a is a host, no Click router; use meoc"),
        ("meoc", "ina.stages=[]", 'router meoc has no interface "ina"; did you mean "ian"'),
        ("meoc", "stages=[]", "stages is not what a Click router can be set while it runs; that is ian.stages"),
        ("meoc", "ian.stages=[{stage: police}]", r"ian.stages\[0\]: police needs rate; add rate: …"),
        ("meoc", "ian.stages=[{stage: mark, dscp: ef}, {stage: pink, rate: 5}]", r"ian.stages\[1\].rate: 5 has no unit"),
        ("meoc", "ian.stages=[{stage: police, rate: netbox}]", r"ian.stages\[0\].rate: a Click router does not know"),
        ("meoc", "ian.stages=pink", "ian.stages: "),
        ("meoc", "ian.stages=", "ian.stages: "),
        ("meoc", "ian.stages={", "ian.stages: .* is not a value as in YAML"),
        ("meoc", f"ian.stages=[{', '.join(['{stage: pink, rate: 1 Mbit/s}'] * 17)}]", "ian.stages: .*16"),
    ],
)
def test_what_cannot_be_changed_is_refused_with_what_to_write(target: str, text: str, told: str) -> None:
    with pytest.raises(BadChange, match=told) as raised:
        set_command.change(SCENE, target, text)
    assert raised.value.exit_status == 2


@pytest.mark.parametrize("wire", ["a.eth0--meoc.ian", "meoc--a", "[a, meoc.ian]"])
def test_a_drill_takes_the_spelling_of_a_wire_that_is_shown_and_short_ones(wire: str) -> None:
    sequence = set_command.drill(SCENE, "link-flap", [f"wire={wire}", "times=1"])
    assert [change.words() for change in sequence.undo] == ["wire a.eth0--meoc.ian up"]


def test_a_distance_that_the_cell_itself_does_not_reach_is_refused() -> None:
    targets = Targets(netboxes={"field": NetboxTarget("wifi", ("point",), {"coverage_class": 0})})
    set_command.change(targets, "field", "distance=1.19 km")
    with pytest.raises(BadChange, match=r"field: distance: 1\.5 km is more than 1\.19 km"):
        set_command.change(targets, "field", "distance=1500m")


def test_a_fade_begins_and_ends_at_what_the_topology_has() -> None:
    sequence = set_command.drill(SCENE, "satellite-fade", ["depth=1 dB", "ramp=0 s", "hold=1 s"])
    assert [(step.after_s, step.change.words()) for step in sequence.steps] == [
        (0.0, "space: fade 2 dB"),
        (1.0, "space: fade 1 dB"),
    ]
    assert [change.words() for change in sequence.undo] == ["space: fade 1 dB"]


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("satelite-fade", [], 'did you mean "satellite-fade"'),
        ("satellite-fade", ["depth"], "write OPTION=VALUE"),
        ("satellite-fade", ["dept=3 dB"], 'there is no option "dept"; did you mean "depth"'),
        ("satellite-fade", ["depth=3"], "depth: 3 has no unit"),
        ("satellite-fade", ["depth=[3"], "not a value as in YAML"),
        ("satellite-fade", ["netbox=core"], 'there is no netbox "core"; use space'),
        (
            "link-flap",
            [],
            "several of what the drill is about.*say wire: a.eth0--meoc.ian, space.hub--b.eth0 or modem.p--core.x",
        ),
        ("link-flap", ["wire=a"], "wire: a wire has two ends; write it like fr1--field.responder"),
        ("link-flap", ["wire=[a, b]"], "no wire joins a and b"),
    ],
)
def test_a_wrong_drill_is_refused_with_what_to_write(name: str, options: list[str], told: str) -> None:
    with pytest.raises(BadChange, match=told):
        set_command.drill(SCENE, name, options)
