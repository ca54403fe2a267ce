# SPDX-License-Identifier: GPL-2.0-or-later
"""Videos by MPEG-DASH: their manifests, what players take down, and what is made of it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from applications.conftest import ALLOWED, NamespaceHosts, captured, metrics_of, traffic_plan
from applications.congestion_control_of_host import VariantMissing
from applications.dash import analysis, video
from applications.dash.application import Dash, DashOptions
from applications.dash.manifest import BadManifest, Manifest
from applications.dash.record import RECORD_FILE, PlaybackRecord, SegmentRecord
from applications.registry import applications
from contracts.flow import ApplicationRecord
from contracts.plan import TrafficPlan
from contracts.run_files import DamagedRun
from results import pcapng
from results.application_analysis import Evidence
from results.datagram import datagram

LADDER = (0.5e6, 1e6)
EF = 46
LINE = """\
name: {name}
seed: 5
centre: right
hosts:
  left: {{address: 10.0.0.1/24}}
  right: {{address: 10.0.0.2/24}}
netboxes:
  line:
    technology: link
    stations: {{a: {{}}, b: {{}}}}
    rate: {rate}
    delay: 50 ms
    queue: {{bytes: 100 kB}}
wires: [[left, line.a], [line.b, right]]
realtime: {{limit: 50 ms}}
traffic:
  film: {{application: dash, from: left, to: right, {options}}}
"""


def ran(
    folder: Path, options: str, *arguments: str, rate: str = "2 Mbit/s", name: str = "film", **environment: str
) -> dict[str, Any]:
    """The only video of a run over a line of 50 ms. A busy machine is late by some 0.1 s, which seconds of buffer hide."""
    (file := folder / "film.yaml").write_text(LINE.format(name=name, rate=rate, options=options))
    ends_with = (0,) if "--virtual" in arguments else (0, 3)
    (streaming,) = metrics_of(file, *arguments, ends_with=ends_with, environment=environment)["streaming"]
    return dict(streaming)


def test_the_manifest_says_what_the_encoder_made() -> None:
    files = video.files(LADDER, 2.0)
    manifest = Manifest.parsed(files[video.MANIFEST])
    assert (manifest.segment_s, [one.rate for one in manifest.representations]) == (2.0, list(LADDER))
    for one in manifest.representations:
        sizes = [len(files[name]) for name in one.segments]
        assert len(sizes) == video.length_s(2.0) / 2.0
        assert sum(sizes) * 8 / video.length_s(2.0) == pytest.approx(one.rate, rel=0.2)
        # Its buffer, of one segment, is full at first.
        assert max(sizes) * 8 < 2 * 2.0 * one.rate
        assert files[one.initialization][4:8] == b"ftyp" and files[one.segments[0]][4:8] in (b"styp", b"moof")
    assert len(files) == 1 + len(LADDER) * (1 + 5)


MANIFEST = (
    b'<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" mediaPresentationDuration="PT1M3.0S"><Period><AdaptationSet>'
    b'<Representation id="a" bandwidth="9"><SegmentTemplate timescale="10" duration="20" startNumber="1" initialization="i"'
    b' media="$Number$"/></Representation></AdaptationSet></Period></MPD>'
)


def test_a_last_segment_may_be_shorter() -> None:
    (one,) = Manifest.parsed(MANIFEST).representations
    assert (len(one.segments), one.segments[-1]) == (32, "32")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"<MPD/>",
        b"\xff" * 100,
        b'<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" mediaPresentationDuration="PT10S"/>',
        b'<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" mediaPresentationDuration="P1Y"/>',
        MANIFEST.replace(b'timescale="10"', b'timescale="0"'),
        MANIFEST.replace(b'duration="20"', b'duration="0"'),
        MANIFEST.replace(b'startNumber="1"', b'startNumber="x"'),
        MANIFEST.replace(b'media="$Number$"', b""),
    ],
)
def test_a_manifest_that_cannot_be_played_is_an_error(text: bytes) -> None:
    with pytest.raises(BadManifest):
        Manifest.parsed(text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ladder": ["1 Mbit/s", "500 kbit/s"]}, "rises from each rate to the next, not from 1 Mbit/s to 500 kbit/s"),
        ({"ladder": []}, "at least 1"),
        ({"ladder": ["5 Mbit/s", "19 Mbit/s", "20 Mbit/s"]}, "more than 48 MiB; take fewer or lower rates"),
        ({"segment": "1.01 s"}, "a multiple of 40 ms"),
        ({"buffer": "5 s"}, "no room for a segment besides"),
        ({"adaptation": "best"}, "'throughput' or 'buffer'"),
        ({"variant": "cubik"}, "did you mean cubic"),
        ({"port": 80}, "greater than or equal to 1024"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        DashOptions.model_validate(options)


def segment(number: int, representation: int, completed_s: float, buffer_s: float) -> SegmentRecord:
    return {
        "record": "segment",
        "flow": "talk",
        "segment": number,
        "representation": representation,
        "bytes": 1,
        "requested_s": completed_s - 1,
        "completed_s": completed_s,
        "decided_at_s": 0.0,
        "estimate_bit_per_s": None,
        "buffer_s": buffer_s,
    }


def playback(state: Any, time_s: float) -> PlaybackRecord:
    return {"record": "playback", "flow": "talk", "state": state, "time_s": time_s}


#: Segments of 2 s; it plays from 3 s to 7 s, and from 10 s to 12 s.
RECORD = [
    segment(0, 0, 1.0, 2.0),
    playback("playing", 3.0),
    segment(1, 1, 3.0, 4.0),
    playback("stalled", 7.0),
    playback("playing", 10.0),
    segment(2, 1, 10.0, 2.0),
    playback("stalled", 12.0),
]


def judged(folder: Path, lines: list[Any], warm_up_s: float = 0.0) -> dict[str, Any]:
    """What the analysis says of a player's record, of 20 s."""
    plan = TrafficPlan(**{**vars(traffic_plan("dash")), "options": {"duration": 20.0, "ladder": LADDER}})
    own = folder / "traffic/talk"
    own.mkdir(parents=True)
    (own / RECORD_FILE).write_text("".join(json.dumps(line) + "\n" for line in lines))
    dash = Dash(plan, None, own)  # type: ignore[arg-type]  # it needs no hosts
    record = ApplicationRecord(name="talk", application="dash", flows=tuple(dash.flows()), facts=dict(dash.facts()))
    (entry,) = analysis.judge(Evidence(folder, {"talk": plan}, [record], [], 0, warm_up_s)).entries
    return dict(entry)


def test_start_up_stalls_rate_and_switches_are_those_of_the_record(tmp_path: Path) -> None:
    found = judged(tmp_path, RECORD)
    assert (found["start_up_s"], found["stalls"], found["stalled_s"]) == (3.0, 2, 3.0 + 8.0)
    assert found["stalled_ratio"] == pytest.approx(11 / 17)
    assert (found["segments"], found["rate_kbps"]) == (3, pytest.approx(2500 / 3))
    assert (found["switches"], found["switch_kbps"]) == (1, 500.0)
    assert [quality["segments"] for quality in found["qualities"]] == [1, 2]
    assert found["buffer"]["time_s"] == [0.0, 1.0, 1.0, 3.0, 3.0, 7.0, 10.0, 10.0, 12.0]
    assert found["buffer"]["level_s"] == [0.0, 0.0, 2.0, 2.0, 4.0, 0.0, 0.0, 2.0, 0.0]


def test_of_a_video_that_began_in_the_warm_up_the_rest_is_told(tmp_path: Path) -> None:
    """It stands still from 8 s, of the stall that began at 7 s, to 10 s and from 12 s to 20 s; one segment is asked for later."""
    found = judged(tmp_path, RECORD, warm_up_s=8.0)
    assert (found["start_up_s"], found["stalls"], found["stalled_s"]) == (None, 2, 2.0 + 8.0)
    assert found["stalled_ratio"] == pytest.approx(10 / 12)
    assert (found["segments"], found["rate_kbps"], found["switches"]) == (1, 1000, 0)
    assert "began in the warm-up" in found["reason"]
    assert found["buffer"]["time_s"][0] == 0.0


def test_one_that_never_played_has_no_start_up(tmp_path: Path) -> None:
    found = judged(tmp_path, [])
    assert (found["start_up_s"], found["stalls"], found["rate_kbps"], found["stalled_ratio"]) == (None, 0, None, None)


@pytest.mark.parametrize(
    "line",
    [
        {**RECORD[0], "representation": 2},
        {**RECORD[0], "representation": -1},
        {**RECORD[0], "completed_s": 1e300},
        {**RECORD[0], "buffer_s": "x"},
        {**RECORD[1], "state": "dancing"},
        {"record": "other"},
        [],
        1,
    ],
)
def test_a_record_that_no_player_writes_is_damage(line: Any, tmp_path: Path) -> None:
    with pytest.raises(DamagedRun):
        judged(tmp_path, [line])


def test_a_video_in_virtual_time_keeps_its_clock(tmp_path: Path) -> None:
    """What was played and what is left in the buffer are the segments that came; the rest of the time it stood still."""
    found = ran(tmp_path, "ladder: [500 kbit/s], duration: 40 s, back_off: 3 s, dscp: ef", "--virtual", rate="400 kbit/s")
    assert found["stalls"] > 2
    played_s = 40 - found["start_up_s"] - found["stalled_s"]
    assert 0 <= found["segments"] * 2 - played_s < 6
    assert (found["rate_kbps"], found["switches"], found["adaptation"]) == (500.0, 0, "throughput")
    page = (tmp_path / "results/latest/report.html").read_text()
    assert "<h2>Adaptive streaming</h2>" in page
    packets = [datagram(packet.data) for packet in pcapng.read(tmp_path / "results/latest/captures/left.pcapng")]
    assert {packet.dscp for packet in packets if packet and packet.payload_bytes and packet.source_port == 8080} == {EF}


def made(folder: Path, hosts: Any, **options: object) -> Dash:
    plan = traffic_plan("dash", **applications()["dash"].OPTIONS.model_validate(options).model_dump())
    return Dash(plan, hosts, folder)


@pytest.mark.lab
def test_a_player_fetches_marked_segments_of_nginx_and_takes_down_what_it_plays(hosts: NamespaceHosts, tmp_path: Path) -> None:
    dash = made(
        tmp_path / "talk", hosts, ladder=["500 kbit/s", "1 Mbit/s"], duration="3 s", dscp="ef", buffer="6 s", variant=ALLOWED
    )
    dash.prepare()
    with captured(hosts, "left", tmp_path / "left.pcapng"):
        try:
            dash.arrange()
            dash.start()
            dash.wait()
        finally:
            dash.stop()
    packets = [found for packet in pcapng.read(tmp_path / "left.pcapng") if (found := datagram(packet.data)) is not None]
    ports = {(found.source_port, found.dscp) for found in packets if found.source == "10.98.0.1" and found.payload_bytes}
    assert ports == {(8080, EF)}
    lines = [json.loads(line) for line in (tmp_path / "talk" / RECORD_FILE).read_text().splitlines()]
    came = [line for line in lines if line["record"] == "segment"]
    # A wire without a netbox: the buffer is full at once, and then there is a segment in each two seconds.
    assert [one["representation"] for one in came[:3]] == [0, 1, 1]
    assert 4 <= len(came) <= 5
    assert came[-1]["buffer_s"] <= 6
    files = video.files((0.5e6, 1e6), 2.0)
    assert [one["bytes"] for one in came[:3]] == [len(files[name]) for name in ("0-1.m4s", "1-2.m4s", "1-3.m4s")]
    assert "GET /manifest.mpd HTTP/1.1" in (tmp_path / "talk/access.log").read_text()


@pytest.mark.lab
def test_a_variant_that_there_is_not_is_refused_before_anything_is_started(hosts: NamespaceHosts, tmp_path: Path) -> None:
    with pytest.raises(VariantMissing, match="no congestion control westwood"):
        made(tmp_path / "talk", hosts, variant="westwood+").prepare()


@pytest.mark.lab
@pytest.mark.long
def test_real_and_virtual_time_agree_over_the_same_line(tmp_path: Path) -> None:
    """2 Mbit/s and 50 ms: the mean rate within 5 %, start-up within 0.2 s, the same stalls: none."""
    rates = "[500 kbit/s, 1 Mbit/s, 1.5 Mbit/s, 2 Mbit/s, 3 Mbit/s, 4 Mbit/s]"
    options = f"ladder: {rates}, adaptation: throughput, variant: linux-reno, duration: 60 s"
    (state := tmp_path / "state").mkdir()
    (tmp_path / "real").mkdir()
    real = ran(tmp_path / "real", options, name=f"film{os.getpid()}", NETBOXIT_STATE=str(state))
    virtual = ran(tmp_path, options, "--virtual")
    assert virtual["rate_kbps"] == pytest.approx(real["rate_kbps"], rel=0.05)
    assert virtual["start_up_s"] == pytest.approx(real["start_up_s"], abs=0.2)
    assert (virtual["stalls"], real["stalls"]) == (0, 0)
