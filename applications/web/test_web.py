# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages of a web server. Distributions are compared with what was published of them; real and virtual time with each other."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from pydantic import ValidationError

from applications.conftest import ALLOWED, NamespaceHosts, captured, metrics_of, traffic_plan
from applications.registry import applications
from applications.virtual_traffic import WebPage
from applications.web import analysis
from applications.web.application import Web, WebOptions, page_set, request
from applications.web.pages import Model, drawn
from applications.web.record import RECORD_FILE, ObjectRecord
from contracts.flow import ApplicationRecord
from contracts.installation import CHECKOUT
from contracts.run_files import DamagedRun, read_lines
from results import pcapng
from results.application_analysis import Evidence
from results.datagram import datagram

AF21, PORT = 18, 8080
LINE = """\
name: line
seed: 5
centre: left
hosts:
  left: {{address: {left}}}
  right: {{address: {right}}}
netboxes:
  line:
    technology: link
    stations: {{a: {{}}, b: {{}}}}
    rate: {rate}
    delay: 20 ms
    queue: {{bytes: 200 kB}}
    loss: {loss}
wires: [[left, line.a], [line.b, right]]
realtime: {{limit: 50 ms}}
traffic:
  web: {{application: web, from: left, to: right, {options}}}
"""
ADDRESSES = {4: ("10.0.0.1/24", "10.0.0.2/24"), 6: ("fd00::1/64", "fd00::2/64")}


def ran(
    folder: Path, options: str, *arguments: str, loss: float = 0.0, rate: str = "10 Mbit/s", version: int = 4, **environment: str
) -> dict[str, Any]:
    """The metrics of a run."""
    left, right = ADDRESSES[version]
    (file := folder / "line.yaml").write_text(LINE.format(left=left, right=right, rate=rate, loss=loss, options=options))
    return metrics_of(file, *arguments, environment=environment)


def made(folder: Path, hosts: NamespaceHosts | None = None, **options: object) -> Web:
    said = WebOptions.model_validate(options)
    return Web(traffic_plan("web", **said.model_dump(mode="json")), hosts, folder)  # type: ignore[arg-type]


def many(model: Model, seed: str = "a") -> list[WebPage]:
    return drawn(model, seed, reading_s=30.0, most=20_000)


def test_it_is_found_by_its_name() -> None:
    assert applications()["web"] is Web


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "mab"}, "'mah' or '802.16m'"),
        ({"pages": []}, "at least 1 item"),
        ({"pages": [{"objects": []}]}, "at least 1 item"),
        ({"pages": [{"objects": ["0 B"]}]}, "1 B"),
        ({"pages": [{"objects": ["1.5 B"]}]}, "multiple of 1"),
        ({"pages": [{"objects": [20]}]}, "has no unit"),
        ({"pages": [{"objects": ["1 kB"], "read": "5 s"}]}, "Extra inputs"),
        ({"pages": [{"objects": ["1 kB"]}], "seed": 3, "think": "1 s"}, "leave seed, think out"),
        ({"connections": 0}, "greater than or equal to 1"),
        ({"port": 80}, "greater than or equal to 1024"),
        ({"variant": "cubik"}, "did you mean cubic"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        WebOptions.model_validate(options)


def test_a_wrong_page_is_told_by_its_line(tmp_path: Path) -> None:
    left, right = ADDRESSES[4]
    options = "pages: [{objects: [20 kB, 4 kb]}]"
    (file := tmp_path / "line.yaml").write_text(LINE.format(left=left, right=right, rate="1 Mbit/s", loss=0, options=options))
    done = subprocess.run([CHECKOUT / "netboxit.py", "check", file], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert re.search(r"line\.yaml:18:\d+: traffic.web.pages.0.objects.1: 'kb' .*did you mean 4 kB\?", done.stderr + done.stdout)


def test_mahs_sizes_are_those_that_he_measured() -> None:
    """Means of the tables that ns-2 has of his traces: 7231 B a reply, 337.3 B a request, 2.838 objects besides the document."""
    pages = many("mah")
    replies = sorted(size for page in pages for size in page["objects"])
    assert fmean(replies) == pytest.approx(7231, rel=0.1)
    assert replies[len(replies) // 2] == pytest.approx(2112, rel=0.05)
    assert replies[round(len(replies) * 0.999)] > 500_000, "heavy tailed"
    assert fmean(size for page in pages for size in page["requests"]) == pytest.approx(337.3, rel=0.05)
    embedded = [len(page["objects"]) - 1 for page in pages]
    assert fmean(embedded) == pytest.approx(2.838, rel=0.05)
    assert sum(number == 1 for number in embedded) / len(pages) == pytest.approx(0.512, abs=0.02)


def test_those_of_80216m_are_as_its_methodology_has_them() -> None:
    """IEEE 802.16m-08/004r5, 10.1: 10710 B a document, 7758 B an object, 5.64 of them, 53 at most, 0.13 s of parsing."""
    pages = many("802.16m")
    assert fmean(page["objects"][0] for page in pages) == pytest.approx(10_710, rel=0.1)
    assert fmean(size for page in pages for size in page["objects"][1:]) == pytest.approx(7758, rel=0.15)
    embedded = [len(page["objects"]) - 1 for page in pages]
    assert fmean(embedded) == pytest.approx(5.64, rel=0.05)
    assert max(embedded) == 53
    assert fmean(page["parse_s"] for page in pages) == pytest.approx(0.13, rel=0.05)
    assert fmean(page["think_s"] for page in pages) == pytest.approx(30, rel=0.05)


def test_the_same_seed_draws_the_same_pages_and_as_many_as_the_duration_needs() -> None:
    assert many("mah") == many("mah") != many("mah", "b")
    pages = page_set(WebOptions.model_validate({"duration": "10 min"}))
    assert sum(page["think_s"] for page in pages[:-1]) <= 600 < sum(page["think_s"] for page in pages)
    assert len(page_set(WebOptions(count=7, think=0.0))) == 7


def test_pages_of_ones_own_are_the_same_in_both_times(tmp_path: Path) -> None:
    web = made(tmp_path, pages=[{"objects": ["20 kB", "300 B"], "think": "2 s"}, {"objects": ["1 kB"]}])
    expected = [([20_000, 300], 2.0), ([1000], 0.0)]
    virtual = Web.virtual(web.plan)
    for pages in (web.facts()["pages"], *(end["pages"] for end in virtual.ends)):
        assert [(page["objects"], page["think_s"]) for page in pages] == expected
    assert [(flow.name, flow.direction) for flow in web.flows()] == [("talk.pages", "return"), ("talk.requests", "forward")]


GOOD: dict[str, Any] = {
    **{"record": "object", "flow": "talk", "page": 0, "object": 0, "asked_s": 1, "first_byte_s": 2.0, "ended_s": 3},
    **{"bytes": 5, "connection": 0, "reused": False, "failure": None},
}


def judged(folder: Path, text: str, warm_up_s: float = 0.0) -> dict[str, Any]:
    """What the analysis says of a client's records, whose pages are of one object of 5 B."""
    web = made(folder / "traffic/talk", pages=[{"objects": ["5 B"]}])
    (web.folder / RECORD_FILE).write_text(text)
    record = ApplicationRecord(name="talk", application="web", flows=tuple(web.flows()), facts=dict(web.facts()))
    (entry,) = analysis.judge(Evidence(folder, {"talk": web.plan}, [record], [], 0, warm_up_s)).entries
    return dict(entry)


def test_a_page_that_was_asked_for_in_the_warm_up_is_left_out(tmp_path: Path) -> None:
    later = {**GOOD, "page": 1, "asked_s": 5.0, "first_byte_s": 5.5, "ended_s": 6.5}
    found = judged(tmp_path, f"{json.dumps(GOOD)}\n{json.dumps(later)}\n", warm_up_s=2.5)
    assert (found["loaded"], found["failed"], found["aborted"], found["objects"], found["bytes"]) == (1, 0, 0, 1, 5)
    assert (found["pages"], found["page_load_s"]["mean"], found["first_byte_s"]["max"]) == ([(1, 1.5)], 1.5, 0.5)


@pytest.mark.parametrize(
    "line",
    [
        {**GOOD, "page": -1},
        {**GOOD, "bytes": "x"},
        {**GOOD, "asked_s": 1e300},
        {**GOOD, "asked_s": None},
        {**GOOD, "asked_s": float("nan")},
        {**GOOD, "ended_s": 0.5},
        {**GOOD, "first_byte_s": 0.1},
        {"page": 0},
        [1],
    ],
)
def test_a_record_that_no_client_writes_is_damage(line: Any, tmp_path: Path) -> None:
    with pytest.raises(DamagedRun):
        judged(tmp_path, json.dumps(line) + "\n")


def test_a_line_that_was_cut_is_left_out(tmp_path: Path) -> None:
    """The disk was full, or the client was killed as it wrote."""
    found = judged(tmp_path, json.dumps(GOOD) + '\n{"page": 1, ')
    assert (found["loaded"], found["objects"], found["pages"]) == (1, 1, [(0, 2.0)])


def test_pages_load_in_virtual_time_and_are_told(tmp_path: Path) -> None:
    options = "pages: [{objects: [20 kB, 5 kB, 5 kB], think: 1 s}, {objects: [1 kB]}], count: 5, duration: 1 min"
    document = ran(tmp_path, options, "--virtual", loss=0.005)
    (visit,) = document["visits"]
    assert (visit["loaded"], visit["failed"], visit["aborted"], visit["objects"]) == (5, 0, 0, 11)
    assert visit["bytes"] == 3 * 30_000 + 2 * 1000
    assert [number for number, _ in visit["pages"]] == list(range(5))
    loads = sorted(load_s for _, load_s in visit["pages"])
    assert visit["page_load_s"]["p50"] == loads[2]
    assert visit["page_load_s"]["mean"] == pytest.approx(fmean(loads))
    assert loads[0] > 2 * 0.02, "a round trip"
    assert {flow["name"] for flow in document["flows"]} == {"web.pages", "web.requests"}
    page = (tmp_path / "results/latest/report.html").read_text()
    assert "<h3>Web pages</h3>" in page


def test_segments_of_both_ends_are_as_long_as_said(tmp_path: Path) -> None:
    """Each of a request and of a reply but the last one: reno-1999 has no options."""
    options = "pages: [{objects: [1 kB]}], count: 1, duration: 1 min, variant: reno-1999, mss: 50"
    assert ran(tmp_path, options, "--virtual")["visits"][0]["loaded"] == 1
    sent: dict[int | None, list[int]] = {}
    for one in pcapng.read(tmp_path / "results/latest/captures/left.pcapng"):
        if (packet := datagram(one.data)) is not None and packet.payload_bytes:
            sent.setdefault(packet.destination_port, []).append(packet.payload_bytes)
    assert sent.pop(PORT) == [50, 50, 50, 50, 31], "a request of 231 bytes"
    ((*replies, last),) = sent.values()
    assert set(replies) == {50} and last <= 50 and sum(replies) > 950


def test_what_the_end_cuts_off_is_in_no_mean(tmp_path: Path) -> None:
    (visit,) = ran(tmp_path, "pages: [{objects: [1 kB, 10 MB]}], duration: 5 s", "--virtual")["visits"]
    assert (visit["loaded"], visit["failed"], visit["aborted"]) == (0, 0, 1)
    assert visit["page_load_s"] == {"mean": None, "p50": None, "p95": None, "max": None}


@pytest.mark.lab
@pytest.mark.parametrize("persistent", [True, False])
def test_libcurl_gets_pages_of_nginx_as_hosts_in_virtual_time_ask_for_them(
    persistent: bool, hosts: NamespaceHosts, tmp_path: Path
) -> None:
    # The second object is larger than what libcurl reads in one call. Otherwise the third may use its connection, free again.
    pages = [{"objects": ["20 kB", "10 MB", "5 kB"], "think": "100 ms"}]
    options: dict[str, Any] = {"count": 2, "dscp": "af21", "persistent": persistent, "variant": ALLOWED, "connections": 2}
    web = made(tmp_path / "talk", hosts, pages=pages, mss=500, **options)
    web.prepare()
    with captured(hosts, "right", tmp_path / "right.pcapng"):
        try:
            web.arrange()
            web.start()
            web.wait()
        finally:
            web.stop()
    got = list(read_lines(tmp_path / "talk" / RECORD_FILE, ObjectRecord))
    assert [one["bytes"] for one in sorted(got, key=lambda one: (one["page"], one["object"]))] == [20_000, 10_000_000, 5000] * 2
    assert {(one["flow"], one["failure"]) for one in got} == {("talk", None)}
    assert len({one["connection"] for one in got}) == (2 if persistent else 6)
    packets = [
        packet for one in pcapng.read(tmp_path / "right.pcapng") if (packet := datagram(one.data)) and packet.payload_bytes
    ]
    assert {packet.dscp for packet in packets} == {AF21}
    # Of 500 bytes with 12 of timestamps; the receiver's kernel may have joined some.
    assert min(packet.payload_bytes % 488 for packet in packets if packet.payload_bytes > 500) == 0
    asked = [packet for packet in packets if packet.destination_port == PORT]
    assert sorted({packet.payload_bytes for packet in asked}) == [231]
    closing = b"" if persistent else b"Connection: close\r\n"
    expected = request("/0/0", f"10.98.0.1:{PORT}", persistent).removesuffix("\r\n").encode()
    first = next(one.data for one in pcapng.read(tmp_path / "right.pcapng") if b"GET /0/0 " in one.data)
    assert expected + b"Cookie: x" in first and closing in first, "as endpoints write it, byte by byte"
    assert json.loads((tmp_path / "talk/flows.json").read_text())["facts"]["pages"][0]["objects"] == [20_000, 10_000_000, 5000]


@pytest.mark.lab
def test_a_server_that_does_not_answer_is_no_end_of_the_run(hosts: NamespaceHosts, tmp_path: Path) -> None:
    web = made(tmp_path / "talk", hosts, pages=[{"objects": ["1 kB"]}], duration="2 s", variant=ALLOWED)
    web.prepare()
    try:
        web.arrange()
        hosts.run("right", ["ip", "address", "flush", "dev", "wire"])
        web.start()
        web.wait()
    finally:
        web.stop()
    failures = [one["failure"] for one in read_lines(tmp_path / "talk" / RECORD_FILE, ObjectRecord)]
    assert 1 <= len(failures) <= 3
    assert all(failures)


@pytest.mark.lab
@pytest.mark.long
@pytest.mark.parametrize(
    ("rate", "options"),
    [("2 Mbit/s", ""), ("10 Mbit/s", ", persistent: false, connections: 4")],
)
def test_pages_load_as_fast_in_both_times(rate: str, options: str, tmp_path: Path) -> None:
    """The mean of the same pages within 10 %: within 5 % where the machine is quiet, but here guests run beside the lab."""
    said = f"think: 1 s, duration: 50 s, seed: 4, variant: newreno{options}"
    (state := tmp_path / "state").mkdir()
    times: dict[str, dict[int, float]] = {}
    for clock, arguments in (("virtual", ["--virtual"]), ("real", ["--name", f"web{os.getpid()}"])):
        (folder := tmp_path / clock).mkdir()
        (visit,) = ran(folder, said, *arguments, rate=rate, NETBOXIT_STATE=str(state))["visits"]
        assert visit["failed"] == 0
        times[clock] = dict(visit["pages"])
    both = times["virtual"].keys() & times["real"].keys()
    assert len(both) > 30
    virtual, real = (fmean(times[clock][number] for number in both) for clock in ("virtual", "real"))
    print(
        json.dumps({"rate": rate, "options": options, "pages": len(both), "virtual_s": virtual, "real_s": real, "times": times})
    )
    assert virtual == pytest.approx(real, rel=0.1)
