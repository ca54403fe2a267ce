# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from contracts import plan
from contracts.errors import BadTopology
from contracts.plan import RealtimeSupport
from testbed.description.topology_file import load
from testbed.plans.resolve import resolve

NETWORK = """\
name: limited
hosts:
  a: {{address: 10.0.0.1/24{a}}}
  b: {{address: 10.0.0.2/24}}
netboxes:
  seg: {{technology: ethernet, stations: {{left: {{}}, right: {{}}}}{seg}}}
switches:
  lan: {{ports: {{one: {{}}, two: {{}}}}{lan}}}
wires: [[a, lan.one], [lan.two, seg.left], [seg.right, b]]
{more}
"""


def limits(tmp_path: Path, *, a: str = "", seg: str = "", lan: str = "", more: str = "") -> dict[str, plan.Limits]:
    (file := tmp_path / "limited.yaml").write_text(NETWORK.format(a=a, seg=seg, lan=lan, more=more))
    made = resolve(load(file), cores=(0, 1), realtime=RealtimeSupport(True, None, ""))
    return {node.name: node.limits for node in made.nodes}


def test_every_node_has_the_defaults_when_the_file_says_nothing(tmp_path: Path) -> None:
    assert limits(tmp_path) == dict.fromkeys(("a", "b", "seg", "lan"), plan.Limits())


def test_what_is_said_for_all_holds_but_where_a_node_says_otherwise(tmp_path: Path) -> None:
    found = limits(
        tmp_path,
        a=", limits: {processes: 64}",
        seg=", limits: {memory: 4 GB, locked_memory: 0 B}",
        lan=", limits: {open_files: 100}",
        more="limits: {processes: 128, memory: 1 GiB, temporary: 10 MB}",
    )
    of_all = plan.Limits(processes=128, memory=1 << 30, temporary=10_000_000)
    assert found["b"] == of_all
    assert (found["a"].processes, found["a"].memory) == (64, 1 << 30)
    assert (found["seg"].processes, found["seg"].memory, found["seg"].locked_memory) == (128, 4_000_000_000, 0)
    assert found["lan"].open_files == 100


@pytest.mark.parametrize(
    "said", ["{processes: 0}", "{processes: many}", "{memory: 1000}", "{memory: 1 MB}", "{temporary: 1 GBit}", "{cpu: 1}", "7"]
)
def test_what_cannot_be_is_an_error_with_its_place(said: str, tmp_path: Path) -> None:
    with pytest.raises(BadTopology, match=r"limited\.yaml:3:"):
        limits(tmp_path, a=f", limits: {said}")
