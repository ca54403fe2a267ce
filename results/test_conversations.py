# SPDX-License-Identifier: GPL-2.0-or-later
"""What captures show besides the flows of applications, in run folders made by hand: delays and losses are known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from applications.registry import analyses
from results.analyse import analyse
from results.conftest import CENTRE, FIELD, MS, START_NS, US, Journey, SyntheticRun, frame
from results.conversations import LEAST_PACKETS, MOST
from results.records import Fate

#: Gaps and netboxes on the way from fr1 to eoc, of the synthetic run's chain.
_GAPS, _INSIDE = (2 * US, 30 * US, 3 * US), (4 * MS, 100 * MS)
#: Wholly on the way, by these: 104.035 ms.
_DELAY_MS = (sum(_GAPS) + sum(_INSIDE)) / 1e6


def talk(
    run: SyntheticRun,
    count: int,
    *,
    port: int,
    back: int = 0,
    tos: int = 0,
    protocol: int = 17,
    lost: Sequence[int] = (),
    first: int = 0,
    to: str = CENTRE,
) -> None:
    """`count` packets from fr1, one each 10 ms, and `back` from eoc; those with numbers in `lost` are lost in the sky."""
    for number in range(first, first + count):
        data = _frame(FIELD, to, number, port, tos, protocol)
        fate = ("sky", Fate.QUEUE_FULL) if number in lost else None
        run.journeys["return"].append(Journey(data, START_NS + number * 10 * MS, _GAPS, _INSIDE, fate))
    for number in range(back):
        data = _frame(CENTRE, FIELD, number, port, tos, protocol)
        run.journeys["forward"].append(Journey(data, START_NS + (2 * number + 1) * 10 * MS, _GAPS, _INSIDE[::-1]))


def _frame(source: str, destination: str, number: int, port: int, tos: int, protocol: int) -> bytes:
    made = bytearray(frame(source, destination, number, bytes(100), port))
    made[15], made[23] = tos, protocol
    return bytes(made)


def told(run: SyntheticRun) -> Any:
    run.calls(20)
    return analyse(run.write(), analyses(), page=False)["conversations"]


def test_each_way_of_a_conversation_is_followed_as_a_flow_is(synthetic: SyntheticRun) -> None:
    talk(synthetic, 160, port=5201, back=40, lost=range(10))
    there, back = told(synthetic)
    assert (there["name"], there["kind"], there["direction"]) == ("udp fr1:5201 eoc:5201", "udp", "return")
    assert (there["source"], there["destination"], there["dscp"], there["conversations"]) == ("fr1", "eoc", 0, 1)
    assert (there["packets"], there["received"], there["loss_ratio"]) == (160, 150, 10 / 160)
    assert there["losses"] == [{"at": "sky", "why": "queue full", "frames": 10}]
    assert there["one_way_delay_ms"]["mean"] == pytest.approx(_DELAY_MS)
    assert there["paths"][0]["netboxes"] == ["cell", "sky"]
    # 100 bytes each 10 ms.
    assert there["goodput_kbps"] == pytest.approx(80.0)
    assert (back["name"], back["direction"], back["packets"], back["received"]) == (there["name"], "forward", 40, 40)


def test_flows_of_applications_are_none_and_stay_what_they_are(synthetic: SyntheticRun) -> None:
    talk(synthetic, 160, port=5201)
    synthetic.calls(20)
    document: Any = analyse(synthetic.write(), analyses(), page=False)
    assert {flow["name"] for flow in document["flows"]} == {"call.voice"}
    assert [flow["packets"] for flow in document["flows"]] == [20, 20]
    assert {conversation["name"] for conversation in document["conversations"]} == {"udp fr1:5201 eoc:5201"}


def test_segments_and_frames_have_them_too(synthetic: SyntheticRun) -> None:
    talk(synthetic, 160, port=5201)
    synthetic.calls(20)
    document: Any = analyse(folder := synthetic.write(), analyses())
    (sky,) = (segment for segment in document["segments"] if (segment["netbox"], segment["direction"]) == ("sky", "return"))
    assert sky["flows"]["udp fr1:5201 eoc:5201"]["mean"] == pytest.approx(100.0)
    frames = pl.read_parquet(folder / "frames.parquet").filter(pl.col("flow") == "udp fr1:5201 eoc:5201")
    assert frames.height == 160
    assert "udp fr1:5201 eoc:5201" in (folder / "report.html").read_text()


def test_small_ones_are_together_by_hosts_and_protocol(synthetic: SyntheticRun) -> None:
    for port in range(7000, 7005):
        talk(synthetic, LEAST_PACKETS // 2 - 1, port=port, back=LEAST_PACKETS // 2)
    talk(synthetic, 3, port=0, back=3, protocol=1)
    found = told(synthetic)
    assert [(one["name"], one["direction"], one["conversations"], one["packets"]) for one in found] == [
        ("udp fr1 eoc, small", "return", 5, 5 * (LEAST_PACKETS // 2 - 1)),
        ("udp fr1 eoc, small", "forward", 5, 5 * (LEAST_PACKETS // 2)),
        ("icmp fr1 eoc, small", "return", 1, 3),
        ("icmp fr1 eoc, small", "forward", 1, 3),
    ]
    assert found[0]["dscp"] is None and found[0]["one_way_delay_ms"]["max"] == pytest.approx(_DELAY_MS)


def test_a_flood_from_ever_new_ports_is_one_row_and_takes_no_longer_than_as_many_packets_of_one(synthetic: SyntheticRun) -> None:
    for port in range(1024, 5024):
        talk(synthetic, 1, port=port)
    (found,) = told(synthetic)
    assert (found["conversations"], found["packets"], found["received"]) == (4000, 4000, 4000)


def test_no_more_than_so_many_are_told_by_themselves(synthetic: SyntheticRun) -> None:
    for number in range(MOST + 3):
        talk(synthetic, LEAST_PACKETS + number, port=7000 + number)
    found = told(synthetic)
    assert len(found) == MOST + 1
    assert (found[0]["packets"], found[-1]["conversations"]) == (LEAST_PACKETS + MOST + 2, 3)


def test_each_dscp_is_told_by_itself(synthetic: SyntheticRun) -> None:
    talk(synthetic, 80, port=5201, tos=46 << 2)
    talk(synthetic, 60, port=5201, tos=8 << 2, first=100, lost=[100])
    found = told(synthetic)
    assert [(one["name"], one["dscp"], one["packets"], one["received"]) for one in found] == [
        ("udp fr1:5201 eoc:5201 DSCP 46", 46, 80, 80),
        ("udp fr1:5201 eoc:5201 DSCP 8", 8, 60, 59),
    ]


@pytest.mark.parametrize(("centre", "direction"), [("eoc", "return"), ("fr1", "forward"), (None, "return")])
def test_their_direction_is_by_the_centre_or_by_who_began(synthetic: SyntheticRun, centre: str | None, direction: str) -> None:
    talk(synthetic, 120, port=5201, back=1)
    plan = replace(synthetic.plan(), centre=centre)
    synthetic.calls(2)
    (folder := synthetic.write()).joinpath("plan.json").write_text(json.dumps(plan.to_json()))
    assert analyse(folder, analyses(), page=False)["conversations"][0]["direction"] == direction


def test_what_no_host_has_is_counted_and_left_out(synthetic: SyntheticRun) -> None:
    for address in ("224.0.0.5", "10.77.0.1"):
        talk(synthetic, 7, port=5353, to=address)
    synthetic.calls(2)
    document: Any = analyse(synthetic.write(), analyses(), page=False)
    # Both ends captured each of them.
    assert document["conversations"] == [] and document["packets_left_out"] == 28


def test_a_run_without_applications_has_them_alone(synthetic: SyntheticRun) -> None:
    talk(synthetic, 160, port=5201, back=160)
    folder = synthetic.write()
    (folder / "plan.json").write_text(json.dumps(replace(synthetic.plan(), traffic=()).to_json()))
    for file in (folder / "traffic/call").iterdir():
        file.unlink()
    document: Any = analyse(folder, analyses())
    assert (document["flows"], len(document["conversations"])) == ([], 2)
    assert not [note for note in document["verdict"]["notes"] if "traffic" in note]
    assert "mean delay" in (folder / "report.html").read_text()
