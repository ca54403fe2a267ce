# SPDX-License-Identifier: GPL-2.0-or-later
"""Words on the command line that nobody ought to say: each is refused, or means what it says, and leads nowhere else."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

import pytest

from contracts.changes import ConfigurationChange
from contracts.errors import NetBoxITError, printable_lines
from contracts.plan import EquipmentKind, Plan, RealtimeSupport
from testbed.changing import apply_now, attaching, handlers, set_command
from testbed.changing.attaching import Wanted
from testbed.description.drills import all_drills
from testbed.description.equipment_section import check_host_interface
from testbed.description.targets import Targets
from testbed.labs.lab import Lab
from testbed.observation import capture_files, capture_points
from testbed.plans.planning import plan_file

EACH = int(os.environ.get("NETBOXIT_MUTATIONS", "50")) * 4

HOSTILE = (
    *(
        "",
        " ",
        "\0",
        "\n",
        "a\nb",
        "a\x1b[31mb",
        "\u202e",
        "\udcff",
        "\U0001f4a9",
        "a" * 5000,
        "[" * 2000,
        "{" * 2000,
        "9" * 5000,
    ),
    *(
        "..",
        "../../etc/passwd",
        "/etc/shadow",
        "/dev/zero",
        "/proc/self/mem",
        "~root",
        "file:///etc/passwd",
        "-",
        "--",
        "-x",
        "--lab=y",
    ),
    *(
        "$(id)",
        "`id`",
        ";id",
        "|id",
        "&& id",
        "%s%n",
        "{0.__class__}",
        "${HOME}",
        "!!python/object:os.system",
        "&a [*a]",
        "!!binary x",
    ),
    *(
        "nbx-other-a",
        "other.a",
        "a@other",
        "x/../../other",
        "lo",
        "all",
        "default",
        "0",
        "-1",
        "1e999",
        "nan",
        "null",
        "true",
        "::1",
    ),
    *("a.b.c", ".", "=", "==", "a=", "=a", ",", "--,--", "[a, b]", "a--b", "[", "a..b", "a.eth0--", "٣ m", "1e-320 s"),
)
#: What means something somewhere, so that nonsense stands where it is looked at.
KNOWN = (
    *("a", "b", "seg", "r", "core", "a.eth0", "seg.left", "r.x", "a.eth0--seg.left", "eth2", "vm1"),
    *("state=down", "reboot=1 s", "freeze=1 s", "configuration=", "distance=1 km", "rt.table", "config", "list", "hotconfig"),
)
NETWORK: dict[str, Any] = {
    "name": "words",
    "wire": "veth",
    "hosts": {"a": {"address": "10.1.0.1/24"}, "b": {"address": "10.2.0.1/24"}},
    "netboxes": {"seg": {"technology": "link", "stations": {"left": {}, "right": {}}}},
    "routers": {
        "r": {"configuration": "click/ip-router.click", "interfaces": {"a": "10.1.0.254/24", "b": "10.3.0.254/24"}},
        "core": {"engine": "linux", "interfaces": {"x": "10.3.0.1/24", "y": "10.2.0.254/24"}},
    },
    "wires": [["a", "seg.left"], ["seg.right", "r.a"], ["r.b", "core.x"], ["core.y", "b"]],
}


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    file = tmp_path_factory.mktemp("words") / "words.yaml"
    file.write_text(json.dumps(NETWORK))
    return plan_file(file, realtime=RealtimeSupport(True, None, ""))


@pytest.fixture
def targets(plan: Plan) -> Targets:
    return Targets.of(plan.nodes, plan.wires, plan.equipment)


def words(seed: int) -> Iterator[str]:
    """Without end: nonsense, sense, and both together."""
    draw = random.Random(seed)
    yield from HOSTILE
    while True:
        yield draw.choice(KNOWN) + draw.choice(("", "", ".", "=", "--", " ", "/")) + draw.choice((*HOSTILE, *KNOWN))


def tried(does: Callable[..., Any], *sources: Iterator[str]) -> list[Any]:
    """What was not refused. Anything but a refusal in words is raised, and words that would spoil a terminal are a failure."""
    made = []
    for said_words in itertools.islice(zip(*sources, strict=False), EACH):
        try:
            made.append(does(*said_words))
        except NetBoxITError as refused:
            assert str(refused), said_words
            assert printable_lines(str(refused)).isascii() or all(
                map(str.isprintable, printable_lines(str(refused)).splitlines())
            )
    return made


def test_set(targets: Targets) -> None:
    changes = tried(partial(set_command.change, targets), words(1), words(2))
    changes += tried(partial(set_command.change, targets, "r"), words(3))
    read = [step.change for one in changes for step in one.steps if isinstance(step.change, ConfigurationChange)]
    assert [change.file for change in read if not os.access(change.file, os.R_OK)] == []


def test_drill(targets: Targets) -> None:
    tried(partial(set_command.drill, targets), words(4), options(5))
    for name in all_drills():
        tried(partial(set_command.drill, targets, name), itertools.islice(options(6), len(HOSTILE)))


def options(seed: int) -> Iterator[Any]:
    """Lists of options."""
    source, draw = words(seed), random.Random(seed)
    keys = ("depth", "hold", "netbox", "node", "wire", "down", "times", "ramp", "for")
    while True:
        yield [f"{draw.choice(keys)}={next(source)}", *([next(source)] if draw.random() < 0.2 else [])]


def test_attach_and_detach(plan: Plan) -> None:
    names = {node.name for node in plan.nodes}
    for kind in get_args(EquipmentKind):
        made = tried(
            lambda device, where, address, kind=kind: attaching.attached(
                plan,
                Wanted(
                    kind, device, 7 if kind == "vlan" else None, "bridge" if kind == "macvlan" else None, addresses=(address,)
                ),
                where,
            ),
            words(7),
            words(8),
            itertools.cycle(("10.9.0.1/24", "x", "\0", "10.9.0.1/99", "::1")),
        )
        for after, port in made:
            assert port.end.node in names
            assert {node.name for node in after.nodes} == names
            check_host_interface(port.device)


def test_capture(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = tried(lambda *said_words: capture_points.points(plan, said_words), words(9), words(10))
    places = {(node.name, interface.name) for node in plan.nodes for interface in node.interfaces}
    assert {(point.node, point.interface) for points in found for point in points} <= places
    tried(lambda file, ring: capture_files.target(["a", file], ring=ring, live=False, json=False), words(11), words(12))
    tried(lambda file: capture_files.target(["a", file], ring=None, live=False, json=False), words(13))
    assert list(tmp_path.iterdir()) == [], "nothing is made before it is known what is captured"


@pytest.mark.lab
@pytest.mark.skipif(shutil.which("lxc-execute") is None, reason="LXC is not installed")
def test_handler_exec_and_nodes_of_a_lab_that_is_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETBOXIT_STATE", str(tmp_path))
    routers = {"r": {"configuration": "click/ip-router.click", "interfaces": {"a": "10.1.0.254/24", "b": "10.2.0.254/24"}}}
    hosts = {"a": {"address": "10.1.0.1/24"}, "b": {"address": "10.2.0.1/24"}}
    network = {"name": f"words{os.getpid()}", "hosts": hosts, "routers": routers, "wires": [["a", "r.a"], ["b", "r.b"]]}
    (file := tmp_path / "words.yaml").write_text(json.dumps(network))
    with Lab.up_and_ready(plan_file(file, realtime=RealtimeSupport(False, None, "a test"))) as lab:
        before = lab.alive()
        tried(partial(handlers.read, lab, "r"), itertools.islice(words(14), 80), words(15))
        tried(partial(handlers.read, lab), itertools.islice(words(16), 80), words(17))
        tried(partial(handlers.elements, lab, "r"), itertools.islice(words(18), 80))
        dangerous: Sequence[str] = ("stop", "hotconfig", "config")
        sound = (word for word in words(19) if word not in dangerous)
        tried(partial(handlers.write, lab, "r"), itertools.islice(sound, 80), words(20))
        tried(lambda node: lab.exec_argv(node, ["true"]), words(21))
        tried(lambda target, text: set_command.change(apply_now.targets_of(lab.plan), target, text), words(22), words(23))
        assert lab.alive() == before
        assert sorted(path.name for path in tmp_path.iterdir()) == ["labs", "words.yaml"]
