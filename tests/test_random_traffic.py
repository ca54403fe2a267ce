# SPDX-License-Identifier: GPL-2.0-or-later
"""Random options of the applications that use TCP in virtual time: each draw is refused with a reason, or its traffic runs."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from applications.registry import applications
from applications.virtual_traffic import VirtualTraffic
from contracts.plan import TrafficPlan
from netboxes.endpoints.endpoints_under_test import pair
from netboxes.random_parameters import SHORTEST_MESSAGE, some_fields

DRAWS = int(os.environ.get("NETBOXIT_DRAWS", "6"))
DURATION_S = 4.0
APPLICATIONS = ("bulk", "dash", "web")


def drawn(application: str, chance: random.Random) -> VirtualTraffic | None:
    """None of options that are refused."""
    kind = applications()[application]
    options = some_fields(kind.OPTIONS, chance, 5, leave=("start", "duration", "ladder")) | {"duration": f"{DURATION_S} s"}
    if application == "dash":  # a long ladder takes seconds to encode, and segments are whole pictures
        options |= {
            "ladder": chance.choice((["300 kbit/s", "1 Mbit/s"], ["50 kbit/s"])),
            "segment": chance.choice(("400 ms", "2 s")),
        }
    try:
        said = kind.OPTIONS.model_validate(options)
    except ValidationError as error:
        assert all(len(one["msg"]) > SHORTEST_MESSAGE for one in error.errors()), options
        return None
    plan = TrafficPlan("t", application, "left", "right", "10.0.0.1", "10.0.0.2", "return", said.model_dump(mode="json"))
    return kind.virtual(plan)


def ran(traffic: VirtualTraffic, chance: random.Random, folder: Path) -> dict[str, Any]:
    left, right = ([dict(end) for end in traffic.ends if end["host"] == host] for host in ("left", "right"))
    line = {"rate": 10 ** chance.uniform(5, 7), "delay_s": chance.uniform(0, 0.3), "loss": chance.choice((0.0, 0.01, 0.1))}
    return pair(folder, left, right, duration_s=DURATION_S + 1.0, queue=10 ** chance.uniform(4, 6), **line)


def sizes(ends: list[dict[str, Any]]) -> dict[Any, int]:
    """What a server has: bytes by page and object, or by path."""
    (server,) = (end for end in ends if end["role"] == "server")
    if server["application"] == "web":
        return {(page, item): size for page, one in enumerate(server["pages"]) for item, size in enumerate(one["objects"])}
    return {one["path"]: one.get("bytes", 0) for one in server["objects"]}


@pytest.mark.parametrize("application", APPLICATIONS)
def test_whatever_is_drawn_runs_and_what_came_is_what_the_server_has(application: str, tmp_path: Path) -> None:
    draws = [(number, random.Random(f"{application} {number}")) for number in range(DRAWS)]
    run = [(number, traffic, chance) for number, chance in draws if (traffic := drawn(application, chance))]
    for number, traffic, chance in run:
        told = ran(traffic, chance, tmp_path)
        ends = [dict(end) for end in traffic.ends]
        context = f"draw {number}: {[{key: end[key] for key in end if key not in ('pages', 'objects')} for end in ends]}"
        for line in told["records"]:
            if line["record"] == "object" and line["failure"] is None:
                pages = traffic.facts["pages"]
                assert line["bytes"] == sizes(ends)[line["page"] % len(pages), line["object"]], context  # type: ignore[arg-type]
            if line["record"] == "segment":
                (client,) = (end for end in ends if end["role"] == "client")
                segments = client["representations"][line["representation"]]["segments"]
                assert line["bytes"] == sizes(ends)[segments[line["segment"] % len(segments)]], context
        counted = {flow["role"]: flow for side in ("left", "right") for flow in told[side]["flows"]}
        if application == "bulk":
            assert counted["receiver"]["received"] >= counted["sender"]["acknowledged"], context
        else:
            assert counted["server"]["refused"] == counted["server"]["turned_away"] == 0, context
            assert counted["server"]["accepted"] <= counted["client"].get("opened", 1), context
    assert run
