# SPDX-License-Identifier: GPL-2.0-or-later
"""What Prometheus reads: its text format, its conventions for names, and where it is served."""

from __future__ import annotations

import re
import socket
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from contracts.node_status import PartStatus
from contracts.plan import Plan
from testbed.observation.metrics_page import METRICS, page
from testbed.observation.metrics_server import MetricsServer, PortTaken
from testbed.observation.reading import InterfaceCounters, NodeReading
from testbed.observation.test_interval import SERVICE, counters, late, plan, reading, with_service

__all__ = ["plan"]

_SAMPLE = re.compile(r'([a-z_]+)\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+)\} (\S+)')
UNITS = ("_seconds", "_bytes", "_frames", "_packets", "_late", "_info", "_up", "_value")


def samples(text: str) -> dict[tuple[str, str], float]:
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            sample = _SAMPLE.fullmatch(line)
            assert sample is not None, line
            assert (sample[1], sample[2]) not in found, line
            found[sample[1], sample[2]] = float(sample[3])
    return found


def test_counters_of_all_labs_are_on_one_page_under_one_head_each(plan: Plan) -> None:
    counted: InterfaceCounters = {
        "received_bytes": 1,
        "received": 2,
        "receive_drops": 3,
        "sent_bytes": 4,
        "sent": 5,
        "send_drops": 6,
    }
    ports = {"eth0": counted}
    part: PartStatus = {
        "name": "sat",
        "role": "member",
        "capacity": None,
        "share": None,
        "members": None,
        "state": "member",
        "budget": 600_000,
        "reachable": True,
        "unenforced": None,
    }
    now = reading(
        1,
        counters(
            10,
            0.5,
            frame=late(10, 2, (1, 5, 8, 10)),
            on_air=7,
            stages={"responder": [{"stage": "pink", "share": 5e6, "words": "no number"}]},
        ),
        air=with_service(1, SERVICE),
        a=NodeReading(1, True, None, ports, {"no_route": 4}, [part]),
        meoc=NodeReading(1, False),
    )
    text = page([(plan, now), (replace(plan, lab="y"), now)])
    for metric in METRICS:
        assert text.count(f"# TYPE {metric.name} {metric.kind}\n") == text.count(f"# HELP {metric.name} ") == 1
    found = samples(text)
    for lab in "xy":
        assert found["netboxit_port_sent_frames_total", f'lab="{lab}",node="field",port="responder"'] == 10
        assert found["netboxit_netbox_delay_seconds_sum", f'lab="{lab}",node="field",port="responder"'] == 0.5
        assert found["netboxit_netbox_lost_frames_total", f'lab="{lab}",node="field",reason="on_air"'] == 7
        assert found["netboxit_netbox_lateness_seconds_bucket", f'lab="{lab}",node="field",what="frame",le="0.001"'] == 8
        assert found["netboxit_netbox_lateness_seconds_bucket", f'lab="{lab}",node="field",what="frame",le="+Inf"'] == 10
        assert found["netboxit_netbox_late_total", f'lab="{lab}",node="field",what="frame"'] == 2
        assert found["netboxit_netbox_lateness_limit_seconds", f'lab="{lab}",node="field"'] == 0.001
        assert found["netboxit_port_dropped_frames_total", f'lab="{lab}",node="a",port="eth0",reason="receive"'] == 3
        assert found["netboxit_node_lost_packets_total", f'lab="{lab}",node="a",reason="no_route"'] == 4
        of_stage = f'lab="{lab}",node="field",port="responder",place="0",stage="pink",what="share"'
        assert found["netboxit_stage_value", of_stage] == 5e6
        of_service = f'lab="{lab}",node="air",port="base",service="speech",scheme="rlp",what='
        assert found["netboxit_service_value", f'{of_service}"retransmissions"'] == 7
        assert found["netboxit_service_value", f'{of_service}"goodput"'] == 0.9
        assert ("netboxit_service_value", f'{of_service}"delay"') not in found
        of_part = f'lab="{lab}",node="a",link="sat",part="member",what='
        assert found["netboxit_managed_link_value", f'{of_part}"budget"'] == 600_000
        assert found["netboxit_managed_link_value", f'{of_part}"reachable"'] == 1
        assert ("netboxit_managed_link_value", f'{of_part}"share"') not in found
        assert found["netboxit_node_up", f'lab="{lab}",node="meoc",kind="router"'] == 0


def test_a_label_can_hold_anything(plan: Plan) -> None:
    text = page([(replace(plan, topology='a "b"\\c\nd'), reading(1, counters()))])
    assert 'topology="a \\"b\\"\\\\c\\nd"' in text
    assert samples(text)


def test_names_follow_the_conventions() -> None:
    for metric in METRICS:
        assert metric.name.endswith("_total") == (metric.kind == "counter"), metric.name
        assert metric.name.startswith("netboxit_") and metric.name.removesuffix("_total").endswith(UNITS), metric.name
        assert metric.help.endswith(".")


def test_the_guide_has_all_of_them() -> None:
    guide = (CHECKOUT / "docs/watching.md").read_text()
    for metric in METRICS:
        assert f"| `{metric.name}` | {metric.kind} | {', '.join(metric.labels)} | {metric.help} |" in guide


def test_it_is_served_on_loopback_only_to_those_who_ask_for_that(state_folder: Path) -> None:
    with MetricsServer(0) as server:
        answer = urllib.request.urlopen(server.url, timeout=10)
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        assert answer.read().decode() == page([])
        for url, host, status in (
            (server.url, "evil.example", 403),
            (server.url.removesuffix("/metrics"), "127.0.0.1", 404),
        ):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(urllib.request.Request(url, headers={"Host": host}), timeout=10)
            assert refused.value.code == status
        port = int(server.url.split(":")[2].partition("/")[0])
        with pytest.raises(PortTaken, match="choose another one"):
            MetricsServer(port)
    with socket.socket() as client:
        assert client.connect_ex(("127.0.0.1", port)) != 0
