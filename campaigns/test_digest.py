# SPDX-License-Identifier: GPL-2.0-or-later
"""Which change makes a run another one: of what files say, and not of where they are."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import pytest

from campaigns import digest
from campaigns.conftest import TOPOLOGY
from campaigns.plan_paths import replaced
from contracts.files import files_found
from contracts.installation import CHECKOUT
from contracts.plan import RealtimeSupport
from testbed.description.topology_file import load
from testbed.plans.planning import plan_topology

NO_LAB: Final = RealtimeSupport(fifo=False, budget_us=None, reason="virtual time")
ROUTER: Final = """\
name: x
hosts:
  a: {address: 10.1.0.1/24, gateway: 10.1.0.254}
  b: {address: 10.2.0.1/24, gateway: 10.2.0.254}
routers: {r: {configuration: NAMED, interfaces: {a: 10.1.0.254/24, b: 10.2.0.254/24}}}
wires: [[a, r.a], [r.b, b]]
"""
WIFI: Final = "{technology: wifi, stations: {a: {role: access-point}, b: {role: station, path: NAMED}}}"
CLICK: Final = (CHECKOUT / "click/ip-router.click").read_text()
#: Topologies that name a file, each in another way; what is in the file, and what could be instead.
NAMING: Final = {
    "trace": (TOPOLOGY.replace("delay: 1 ms}", "trace: {file: NAMED}}"), "time_s,loss\n0,0\n1,0\n", "time_s,loss\n0,0\n1,1\n"),
    "path": (
        re.sub("net: .*", f"net: {WIFI}", TOPOLOGY).partition("events:")[0],
        "time_s,x_m,y_m\n0,0,0\n9,10,0\n",
        "time_s,x_m,y_m\n0,0,0\n9,10,1\n",
    ),
    "host": (TOPOLOGY.replace("a: {address: 10.0.0.1/24}", "a: {address: 10.0.0.1/24, files: {/srv/x: NAMED}}"), "one", "two"),
    "recording": (
        re.sub("flow: .*", "flow: {application: call, from: a, to: b, codec: pcma, recording: NAMED}", TOPOLOGY),
        "one",
        "two",
    ),
    "router": (ROUTER, CLICK, CLICK.replace("$QUEUE 200", "$QUEUE 201")),
    "swap": (
        ROUTER.replace("NAMED", "click/ip-router.click") + "events: [{at: 5 s, node: r, configuration: NAMED}]\n",
        CLICK,
        CLICK.replace("$QUEUE 200", "$QUEUE 201"),
    ),
}


def digest_of(folder: Path, topology: str, named: str, content: str) -> str:
    (folder / named).parent.mkdir(parents=True, exist_ok=True)
    (folder / named).write_text(content)
    (file := folder / "x.yaml").write_text(topology.replace("NAMED", named))
    with files_found() as found:
        described = load(file)
    return digest.of_plan(plan_topology(described, realtime=NO_LAB), 1.0, found.files)


@pytest.mark.parametrize("naming", NAMING)
def test_a_file_that_a_topology_names_counts_by_its_content_and_not_by_its_place(naming: str, tmp_path: Path) -> None:
    topology, content, other = NAMING[naming]
    first = digest_of(tmp_path, topology, "a.txt", content)
    assert digest_of(tmp_path / "other folder", topology, "deep/b.txt", content) == first
    assert digest_of(tmp_path, topology, "a.txt", other) != first


def test_a_checkout_that_was_moved_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(ROUTER.replace("NAMED", "click/ip-router.click"))
    with files_found() as found:
        plan = plan_topology(load(file), realtime=NO_LAB)
    here = digest.of_plan(plan, 1.0, found.files)
    moved = {str(CHECKOUT): "/opt/netboxit"}
    elsewhere = type(plan).from_json(replaced(plan.to_json(), moved))
    assert elsewhere.node("r").command[0].startswith("/opt/netboxit/")
    monkeypatch.setattr(digest, "CHECKOUT", Path("/opt/netboxit"))
    monkeypatch.setattr(digest, "ENVIRONMENT", Path("/opt/netboxit/.venv"))
    assert digest.of_plan(elsewhere, 1.0, found.files) == here


def test_paths_are_replaced_also_in_a_text_that_is_json_the_longer_one_first() -> None:
    quoted = '/a/"b'
    text = json.dumps({"trace": quoted, "other": "/a/b.csv"})
    new = replaced({"files": {"/a/b": text}, "least": 1.0}, {"/a/b": "1", quoted: "2", "/a/b.csv": "3"})
    assert new == {"files": {"1": json.dumps({"trace": "2", "other": "3"})}, "least": 1.0}
