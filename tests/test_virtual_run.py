# SPDX-License-Identifier: GPL-2.0-or-later
"""`netboxit run --virtual`: without a lab, the same topology, plan, events and run folder. Delays are those of the file."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from contracts.installation import CHECKOUT

NOBODY = 65534

#: Two hosts at the ends of two lines, with a router between them.
LINES = """\
name: lines
seed: 3
centre: right
hosts:
  left: {address: 10.1.0.2/24, gateway: 10.1.0.1}
  right: {address: 10.2.0.2/24, gateway: 10.2.0.1}
netboxes:
  one: {technology: link, stations: {a: {}, b: {}}, delay: 20 ms}
  two: {technology: link, stations: {a: {}, b: {}}, delay: 30 ms}
routers:
  middle: {engine: linux, interfaces: {in: 10.1.0.1/24, out: 10.2.0.1/24}}
wires: [[left, one.a], [one.b, middle.in], [middle.out, two.a], [two.b, right]]
traffic:
  there: {application: udp-flow, from: left, to: right, rate: 100 kbit/s, payload: 500 B, duration: 10 s}
"""


def virtually(file: Path, results: Path, *options: str, user: int | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [CHECKOUT / "netboxit.py", "run", file, "--virtual", "--results", results, *options],
        capture_output=True,
        text=True,
        check=False,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
        env=None if user is None else {"PATH": "/usr/bin:/bin", "HOME": str(results)},
        cwd=results.parent if results.parent.exists() else None,
    )


def written(folder: Path, text: str = LINES) -> Path:
    file = folder / "lines.yaml"
    file.write_text(text)
    return file


def metrics(results: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((results / "latest/metrics.json").read_text())
    return document


def programs(name: str) -> list[tuple[int, str]]:
    """Those of that name that run: number and command line."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode().split("\0")
        except OSError:  # it has ended
            continue
        if Path(words[0]).name == name:
            found.append((int(process.name), " ".join(words)))
    return found


def wait_for_frames(folder: Path) -> None:
    """Until some thousand have arrived at the right."""
    until = time.monotonic() + 60
    while not any(own.stat().st_size > 1 << 20 for own in folder.glob("results/runs/*/.computing-*/captures/right.pcapng")):
        assert time.monotonic() < until
        time.sleep(0.02)


def frames(results: Path) -> pl.DataFrame:
    return pl.read_parquet(results / "latest/frames.parquet")


def test_a_run_is_measured_as_one_of_a_lab(tmp_path: Path) -> None:
    done = virtually(written(tmp_path), tmp_path / "results")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the run, in virtual time, is valid" in done.stdout
    found = metrics(tmp_path / "results")
    assert (found["clock"], found["verdict"]["reasons"]) == ("virtual", [])
    (flow,) = found["flows"]
    # 100 kbit/s in packets of 528 bytes for 10 s.
    assert flow["packets"] == pytest.approx(10 * 100e3 / 8 / 528, abs=1)
    assert flow["loss_ratio"] == 0
    assert flow["one_way_delay_ms"]["min"] == flow["one_way_delay_ms"]["max"] == pytest.approx(50.0, abs=1e-3)
    assert [segment["netbox"] for segment in found["segments"]] == ["one", "two"]
    folder = tmp_path / "results/latest"
    assert {file.name for file in folder.iterdir()} >= {"topology.yaml", "plan.json", "environment.json", "lab.json", "run.json"}
    assert not list(folder.glob(".*"))


def test_captures_are_ones_that_wireshark_reads(tmp_path: Path) -> None:
    virtually(written(tmp_path), tmp_path / "results")
    capture = tmp_path / "results/latest/captures/right.pcapng"
    fields = ("-T", "fields", "-e", "ip.ttl", "-e", "udp.dstport", "-e", "frame.len", "-e", "ip.checksum.status")
    command = ["tshark", "-r", capture, "-o", "ip.check_checksum:TRUE", "-Y", "udp.dstport == 6000", *fields]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    # One router on the way; whole length although only the beginning is kept; 1 is "good".
    assert set(shown) == {"63\t6000\t542\t1"}


def test_the_same_seed_gives_the_same_files_and_another_seed_others(tmp_path: Path) -> None:
    text = LINES.replace("delay: 30 ms", "delay: 30 ms, jitter: {deviation: 5 ms}, loss: 0.05").replace(
        "payload", "pattern: poisson, payload"
    )
    results = [tmp_path / name for name in ("first", "again", "another")]
    for place, seed in zip(results, (3, 3, 4), strict=True):
        assert virtually(written(tmp_path, text.replace("seed: 3", f"seed: {seed}")), place).returncode == 0
    first, again, another = map(frames, results)
    assert first.equals(again)
    assert not first.equals(another)
    for file in ("nodes/two/frames.bin", "nodes/two/statistics.json", "captures/right.pcapng", "events.jsonl", "lab.json"):
        assert (results[0] / "latest" / file).read_bytes() == (results[1] / "latest" / file).read_bytes(), file


def test_events_happen_at_their_time_and_are_never_late(tmp_path: Path) -> None:
    events = "events: [{at: 4 s, netbox: one, set: {delay: 120 ms}}]\n"
    assert virtually(written(tmp_path, LINES + events), tmp_path / "results").returncode == 0
    began_ns = metrics(tmp_path / "results")["began_ns"]
    table = frames(tmp_path / "results").sort("sent_ns")
    delays = (table["received_ns"] - table["sent_ns"]) / 1e6
    before = table["sent_ns"] < began_ns + 4_000_000_000
    assert set(delays.filter(before).round(3)) == {50.0}
    assert set(delays.filter(~before).round(3)) == {150.0}
    (change,) = [event for event in metrics(tmp_path / "results")["events"] if event["kind"] == "parameter"]
    assert (change["time_s"], change["details"]["late_ms"]) == (4.0, 0.0)


#: What is unplugged comes back after a silence; then a netbox is rebooted, which sets its delay back.
COURSE = """\
events:
  - {at: 1 s, netbox: two, set: {delay: 130 ms}}
  - {at: 2 s, wire: [two.b, right], state: down}
  - {name: back, when: {netbox: two, station: b, silent: 1 s, within: 30 s}, wire: [two.b, right], state: up}
  - {when: {event: back}, delay: 2 s, node: two, reboot: 1 s}
"""


def test_events_wait_unplug_and_reboot_as_in_a_lab(tmp_path: Path) -> None:
    done = virtually(written(tmp_path, LINES + COURSE), tmp_path / "results")
    assert done.returncode == 0, done.stdout + done.stderr
    found = metrics(tmp_path / "results")
    made = [(event["words"], event["time_s"]) for event in found["events"] if event["kind"] in ("wire", "power")]
    assert [words for words, _ in made] == [
        "wire two.b--right.eth0 down",
        "wire two.b--right.eth0 up (when nothing leaves by two.b for 1 s)",
        "two: power off (after back)",
        "two: power on (after back)",
    ]
    (_, _), (_, back_s), (_, off_s), (_, on_s) = made
    # Silence is looked for every 50 ms; frames are 42 ms apart.
    assert 2.95 < back_s < 3.1
    assert (off_s - back_s, on_s - back_s) == pytest.approx((2, 3))
    table = frames(tmp_path / "results").sort("sent_ns")
    sent_s = (table["sent_ns"] - found["began_ns"]) / 1e9
    delays = ((table["received_ns"] - table["sent_ns"]) / 1e6).round(3)
    for begin_s, end_s, expected in (
        (0, 0.95, {50.0}),
        (1, 1.8, {150.0}),
        (2, back_s - 0.2, {None}),
        (back_s, off_s - 0.2, {150.0}),
    ):
        assert set(delays.filter((sent_s > begin_s) & (sent_s < end_s))) == expected
    assert set(delays.filter((sent_s > off_s) & (sent_s < on_s - 0.05))) == {None}
    assert set(delays.filter(sent_s > on_s)) == {50.0}
    left = {file.name for file in (tmp_path / "results/latest/nodes/two").iterdir()}
    assert left >= {"frames.bin", "frames.1.bin", "journal.jsonl", "journal.1.jsonl", "statistics.json", "statistics.1.json"}


def test_what_an_event_waits_for_in_vain_ends_the_run_and_says_so(tmp_path: Path) -> None:
    events = "events: [{when: {netbox: one, happens: link_down, within: 3 s}, wire: [two.b, right], state: down}]\n"
    done = virtually(written(tmp_path, LINES + events), tmp_path / "results")
    assert done.returncode == 4
    assert "event when one says link_down: not within 3.0 s; what it waits for did not come" in done.stdout


def test_the_emergency_network_carries_its_call_and_its_camera(tmp_path: Path) -> None:
    """By Wi-Fi, WiMAX and the satellite: no less than its 254 ms; for speech no more than three frames of WiMAX add."""
    done = virtually(CHECKOUT / "topologies/emergency.yaml", tmp_path / "results", "--duration", "20 s")
    assert done.returncode == 0, done.stdout
    found = metrics(tmp_path / "results")
    flows = {(flow["name"], flow["direction"]): flow for flow in found["flows"]}
    for direction in ("return", "forward"):
        voice = flows["call.voice", direction]
        assert (voice["packets"], voice["loss_ratio"]) == (1000, 0)
        assert 254 < voice["one_way_delay_ms"]["min"] < voice["one_way_delay_ms"]["max"] < 254 + 3 * 10
    # The encoder is told 400 kbit/s of H.264; RTP's header and packing come on top, IP's and UDP's do not count.
    assert flows["camera.video", "return"]["goodput_kbps"] == pytest.approx(400, rel=0.1)
    (video,) = found["video"]
    assert (video["pictures_sent"], video["pictures_complete"], video["decoded"]) == (20 * 15, 20 * 15, None)
    for rated in found["voice"]:
        # G.107 with 270 ms of network, 20 of packet, 6.5 of look-ahead and 60 of playout: less than toll quality, not bad.
        assert 3.5 < rated["mos_e_model"] < 4.0
        assert rated["heard"]["reason"] == "in virtual time nobody speaks"


def test_media_are_rtp_whose_numbers_and_times_go_on(tmp_path: Path) -> None:
    """RFC 3550, 5.1; the clock of Opus is 48 kHz (RFC 7587, 4.1), that of H.264 90 kHz (RFC 6184, 8.2.1)."""
    text = re.sub(
        r"  there: .*",
        "  call: {application: call, from: left, to: right}\n  eye: {application: camera, from: left, to: right}",
        LINES,
    )
    assert virtually(written(tmp_path, text), tmp_path / "results", "--duration", "25 s").returncode == 0
    capture = tmp_path / "results/latest/captures/left.pcapng"
    for port, clock_hz, source in ((20_000, 48_000, "10.1.0.2"), (21_000, 90_000, "10.1.0.2")):
        fields = ("-T", "fields", "-e", "rtp.seq", "-e", "rtp.timestamp", "-e", "frame.time_epoch", "-e", "rtp.marker")
        shown = subprocess.run(
            [
                "tshark",
                "-r",
                capture,
                "-d",
                f"udp.port=={port},rtp",
                "-Y",
                f"rtp && ip.src == {source} && udp.port == {port}",
                *fields,
            ],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        rows = [line.split("\t") for line in shown.splitlines()]
        assert [int(row[0]) for row in rows] == list(range(len(rows)))
        first_s = float(rows[0][2])
        for row in rows:
            assert int(row[1]) / clock_hz == pytest.approx(float(row[2]) - first_s, abs=1e-4)
        if port == 21_000:
            # The last packet of each picture has the marker (RFC 6184, 5.1).
            assert sum(row[3] in ("1", "True") for row in rows) == 25 * 15


REFUSED = [
    (
        "application: udp-flow",
        "application: command",
        "traffic there is command, whose programs run in real time only; take bulk or call",
    ),
    ("gateway: 10.1.0.1}", "gateway: 10.1.0.1, start: sleep 1}", "host left starts a program"),
    ("traffic:", "events: [{at: 1 s, netbox: one, freeze: 1 s}]\ntraffic:", "netbox one is to have no time to compute, of which"),
]


@pytest.mark.parametrize(("old", "new", "message"), REFUSED)
def test_what_there_is_in_real_time_only_is_refused_with_its_line(old: str, new: str, message: str, tmp_path: Path) -> None:
    text = LINES.replace(old, new)
    if new.endswith("command"):
        text = re.sub(r"rate: .* B, ", "run: sleep 1, ", text)
    done = virtually(written(tmp_path, text), tmp_path / "results")
    assert done.returncode == 2, done.stdout
    assert re.search(rf"lines\.yaml:\d+:\d+: {message}", done.stderr), done.stderr
    assert "without --virtual" in done.stderr
    assert not (tmp_path / "results").exists()


def test_a_reboot_that_ns3_cannot_make_is_refused_at_its_event(tmp_path: Path) -> None:
    text = (CHECKOUT / "topologies/lte.yaml").read_text()
    events = (
        "\nevents:\n  - {at: 1 s, netbox: cell, station: responder, set: {fade: 3 dB}}\n  - {at: 2 s, node: cell, reboot: 1 s}\n"
    )
    done = virtually(written(tmp_path, text + events), tmp_path / "results")
    assert done.returncode == 2, done.stdout
    assert f"lines.yaml:{len((text + events).splitlines())}:" in done.stderr
    assert "a netbox of lte is to lose its power" in done.stderr


def test_options_of_labs_are_refused(tmp_path: Path) -> None:
    done = virtually(written(tmp_path), tmp_path / "results", "--take", "eth9")
    assert done.returncode == 2
    assert "leave --take out" in done.stderr


def test_an_interrupted_run_keeps_what_it_has(tmp_path: Path) -> None:
    file = written(tmp_path, LINES.replace("duration: 10 s", "duration: 20 h").replace("100 kbit/s", "5 Mbit/s"))
    command = [CHECKOUT / "netboxit.py", "run", file, "--virtual", "--results", tmp_path / "results"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        wait_for_frames(tmp_path)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
    (folder,) = tmp_path.glob("results/runs/*")
    assert "interrupted" in json.loads((folder / "run.json").read_text())["failure"]
    assert not list(folder.glob(".computing-*"))
    done = subprocess.run([CHECKOUT / "netboxit.py", "report", folder], capture_output=True, text=True, check=False)
    assert done.returncode == 4, done.stderr
    (flow,) = json.loads((folder / "metrics.json").read_text())["flows"]
    assert flow["packets"] > 100


def test_a_run_whose_program_is_killed_keeps_what_it_had_and_says_so(tmp_path: Path) -> None:
    file = written(tmp_path, LINES.replace("duration: 10 s", "duration: 20 h").replace("100 kbit/s", "5 Mbit/s"))
    command = [CHECKOUT / "netboxit.py", "run", file, "--virtual", "--results", tmp_path / "results"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        wait_for_frames(tmp_path)
        ((program, _),) = (process for process in programs("virtual-network") if str(tmp_path) in process[1])
        os.kill(program, signal.SIGKILL)
        said, _ = running.communicate(timeout=120)
    assert running.returncode == 4
    assert "virtual-network was ended: it ended by SIGKILL" in said
    (flow,) = metrics(tmp_path / "results")["flows"]
    assert flow["packets"] > 100


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_it_needs_no_rights(tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o711)
    (home := tmp_path / "home").mkdir()
    os.chown(home, NOBODY, NOBODY)
    file = written(tmp_path)
    file.chmod(0o644)
    done = virtually(file, home / "results", user=NOBODY)
    assert done.returncode == 0, done.stderr + done.stdout
    assert frames(home / "results").height == pytest.approx(237, abs=2)


def test_a_router_configuration_of_a_stranger_reads_and_writes_nothing(tmp_path: Path) -> None:
    secret, loot = tmp_path / "secret", tmp_path / "loot"
    secret.write_text("10.0.0.0/8")
    configuration = tmp_path / "evil.click"
    configuration.write_text(
        f"FromDevice(in) -> ToDump({loot}); FromDevice(out) -> ToDump({secret}); Idle -> ToDevice(in); Idle -> ToDevice(out);"
    )
    text = LINES.replace("engine: linux,", f"engine: click, configuration: {configuration},")
    done = virtually(written(tmp_path, text), tmp_path / "results")
    assert done.returncode in (2, 4), done.stdout
    assert not loot.exists()
    assert secret.read_text() == "10.0.0.0/8"


def test_a_router_that_writes_where_the_run_reads_is_no_defect(tmp_path: Path) -> None:
    """Its dump goes to the standard output, which has the progress, and into the folder of the run."""
    configuration = tmp_path / "loud.click"
    configuration.write_text("FromDevice(in) -> ToDump(-) ; FromDevice(out) -> Queue -> ToDevice(in); Idle -> ToDevice(out);")
    text = LINES.replace("engine: linux,", f"engine: click, configuration: {configuration},")
    done = virtually(written(tmp_path, text), tmp_path / "results")
    assert done.returncode in (0, 4), done.stderr
    assert "a defect of its own" not in done.stderr


def outages(results: Path, flow: str, direction: str) -> list[dict[str, Any]]:
    (found,) = [own for own in metrics(results)["flows"] if (own["name"], own["direction"]) == (flow, direction)]
    listed: list[dict[str, Any]] = found["outages"]["list"]
    return listed


def test_routers_go_round_a_link_that_fades_after_their_dead_time(tmp_path: Path) -> None:
    """RFC 2328, 9.5: `dead`, 4 s, after the last hello, of which there is one a second."""
    text = (CHECKOUT / "topologies/wimax-backhaul.yaml").read_text()
    for before, after in (("at: 20 s", "at: 2 s"), ("duration: 40 s", "duration: 8 s")):
        assert before in text
        text = text.replace(before, after)
    done = virtually(written(tmp_path, text), tmp_path / "results")
    assert done.returncode == 0, done.stderr
    assert "OSPF of meoc1, meoc2" in "".join(metrics(tmp_path / "results")["verdict"]["notes"])
    (outage,) = outages(tmp_path / "results", "there", "return")
    assert outage["begin_s"] == pytest.approx(2, abs=0.05)
    assert 3000 < outage["duration_ms"] < 4200
    assert (outage["before"]["via"], outage["after"]["via"]) == (["first"], ["second"])


@pytest.mark.long
def test_a_call_goes_on_by_the_other_satellite_when_bfd_misses_three_packets(tmp_path: Path) -> None:
    """Detected 0.6 to 0.9 s after the rain began, by either end, which tells the other at once."""
    text = (CHECKOUT / "topologies/disaster.yaml").read_text()
    for before, after in (("at: 18 s", "at: 0.5 s"), ("at: 20 s", "at: 1 s")):
        assert before in text
        text = text.replace(before, after)
    done = virtually(written(tmp_path, text), tmp_path / "results", "--duration", "4 s")
    assert done.returncode == 0, done.stderr
    for direction in ("return", "forward"):
        outage = max(outages(tmp_path / "results", "call-a.voice", direction), key=lambda one: one["duration_ms"])
        assert 600 < outage["duration_ms"] < 1500
        assert {"between", "satellite-b"} <= set(outage["after"]["via"])
        (voice,) = [
            flow
            for flow in metrics(tmp_path / "results")["flows"]
            if (flow["name"], flow["direction"]) == ("call-a.voice", direction)
        ]
        assert voice["one_way_delay_ms"]["min"] > 254
        assert voice["received"] > 0.6 * voice["packets"]


SHARED = """\
name: shared
seed: 3
centre: hub
hosts:
  left: {address: 10.1.0.2/24, gateway: 10.1.0.1}
  right: {address: 10.1.0.3/24, gateway: 10.1.0.1}
  hub: {address: 10.2.0.2/24, gateway: 10.2.0.1}
netboxes:
  lan: {technology: ethernet, stations: {x: {}, y: {}, z: {}}}
  satellite: {technology: link, stations: {a: {}, b: {}}, rate: 1 Mbit/s, delay: 300 ms, queue: {bytes: 75 kB}}
routers:
  middle: {engine: linux, interfaces: {in: 10.1.0.1/24, out: 10.2.0.1/24}}
wires: [[left, lan.x], [right, lan.y], [lan.z, middle.in], [middle.out, satellite.a], [satellite.b, hub]]
management:
  sky: {gateway: hub, members: [left, right], rate: 980 kbit/s}
traffic:
  one: {application: bulk, from: left, to: hub, duration: 40 s}
  two: {application: bulk, from: right, to: hub, duration: 40 s, port: 5202}
"""


def test_hosts_share_a_link_by_budgets_that_their_tcp_keeps_to(tmp_path: Path) -> None:
    """Section `management:`. Each has a half."""
    done = virtually(written(tmp_path, SHARED), tmp_path / "results")
    assert done.returncode == 0, done.stderr
    nodes = tmp_path / "results/latest/nodes"
    for host in ("left", "right"):
        statistics = json.loads((nodes / host / "statistics.json").read_text())["segment"]
        [part] = statistics["hosts"][host]["management"]
        assert (part["role"], part["enforcement"], part["budget"]) == ("member", "window", 490_000)
        [connection] = statistics["flows"][0]["connections"]
        # 1448 bytes of data in packets of 1500, after 2 s of slow start.
        assert connection["delivered"] * 8 / 38 == pytest.approx(490_000 * 1448 / 1500, rel=0.1)
        journal = [json.loads(line) for line in (nodes / host / "journal.jsonl").read_text().splitlines()]
        assert [line["budget_bps"] for line in journal if line.get("event") == "budget"] == [490_000]


def test_a_switch_is_refused_with_its_line_and_what_to_take_instead(tmp_path: Path) -> None:
    done = virtually(CHECKOUT / "topologies/switch.yaml", tmp_path / "results")
    assert done.returncode == 2
    assert re.search(
        r"switch\.yaml:15:\d+: switch vehicle is Open vSwitch, .*take a netbox of `technology: ethernet`", done.stderr
    )
