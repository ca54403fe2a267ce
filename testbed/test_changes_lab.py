# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab of a host, a Click router, a satellite link and another host, and what can be changed in it while it is up."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner, Result

from testbed.cores import realtime_support
from testbed.errors import NetBoxITError
from testbed.lab import Lab
from testbed.planning import plan_file
from tests.traces import traces

pytestmark = pytest.mark.lab

NETWORK = """\
name: sky
hosts:
  a: {address: 10.10.0.11/24, gateway: 10.10.0.1}
  b: {address: 10.20.0.20/24, gateway: 10.20.0.1}
netboxes:
  space: {technology: satellite, stations: {terminal: {role: terminal}, hub: {role: gateway}}, delay: 5 ms,
          return_rate: 2 Mbit/s, forward_rate: 10 Mbit/s}
routers:
  meoc: {configuration: click/meoc.click, interfaces: {ian: 10.10.0.1/24, jan: 10.20.0.1/24}}
  linux: {engine: linux, interfaces: {lan: 10.30.0.1/24}}
wires:
  - [a, meoc.ian]
  - [meoc.jan, space.terminal]
  - [space.hub, b]
  - [c, linux]
"""
NETWORK = NETWORK.replace("netboxes:", "  c: {address: 10.30.0.2/24}\nnetboxes:")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("changes")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("NETBOXIT_STATE", str(folder / "state"))
        before = traces(folder)
        (folder / "sky.yaml").write_text(NETWORK)
        plan = plan_file(folder / "sky.yaml", lab=f"sky{os.getpid()}", realtime=realtime_support())
        with Lab.up_and_ready(plan) as lab:
            yield lab
        assert traces(folder) == before


def netboxit(*words: str) -> Result:
    """The command line in this process; what it refuses is raised."""
    from netboxit import app

    return CliRunner().invoke(app, words, catch_exceptions=False)


def answer(*words: str) -> object:
    result = netboxit(*words, "--json")
    assert result.exit_code == 0
    return json.loads(result.stdout)


def test_a_handler_is_read_written_and_listed(lab: Lab) -> None:
    assert netboxit("handler", "meoc", "routes.lookup", "--about", "10.20.0.20").stdout == "2\n"
    assert netboxit("handler", "meoc", "jan_be.capacity", "90").stdout == "meoc: jan_be.capacity written\n"
    assert answer("handler", "meoc", "jan_be.capacity") == {"router": "meoc", "handler": "jan_be.capacity", "value": "90"}
    listed = netboxit("handler", "meoc", "jan_be", "--list").stdout
    assert "capacity rw" in listed and "drops r" in listed and "reset w" in listed


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("a", "x.y"), "a is a host.*netboxit exec a"),
        (("space", "x.y"), "space is a netbox.*netboxit set space"),
        (("linux", "x.y"), "linux routes by the kernel.*ip route"),
        (("mecc", "x.y"), "no node mecc"),
        (("meoc", "jan_bee.drops"), 'No element named .jan_bee.; did you mean "jan_be"'),
        (("meoc", "jan_be.drosp"), 'No handler named .jan_be.drosp.; did you mean "drops"'),
        (("meoc", "jan_be.length", "3"), "read-only"),
        (("meoc",), "name a handler"),
        (("meoc", "jan_bee", "--list"), 'no element "jan_bee"; did you mean "jan_be"'),
    ],
)
def test_what_has_no_such_handler_is_refused_with_what_to_use(lab: Lab, words: tuple[str, ...], told: str) -> None:
    with pytest.raises(NetBoxITError, match=told):
        netboxit("handler", *words)
