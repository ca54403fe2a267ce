# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from applications.camera import analysis
from applications.camera.application import CameraFacts
from applications.media.number_strip import NumberStrip
from applications.registry import analyses
from contracts.flow import ApplicationRecord, Flow
from results.analyse import analyse
from results.conftest import CENTRE, FIELD, MS, START_NS, US, Journey, SyntheticRun, frame, rtp

SIZE = 352, 288


def encode(path: Path, pictures: int) -> Path:
    """A video as the camera makes it."""
    scene = f"testsrc2=size={SIZE[0]}x{SIZE[1]}:rate=15,{NumberStrip(SIZE[1]).filters()},format=yuv420p"
    options = ["-c:v", "libx264", "-preset", "ultrafast", "-g", "15", "-frames:v", str(pictures), "-f", "h264", str(path)]
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", scene, *options], check=True)
    return path


def test_a_stream_that_came_whole_is_identical(tmp_path: Path) -> None:
    sent = encode(tmp_path / "sent.h264", 20)
    found: Any = analysis.likeness(sent, sent, *SIZE, 20)
    assert (found["frames_sent"], found["frames_decoded"], found["frames_damaged"], found["identical_ratio"]) == (20, 20, 0, 1.0)
    assert found["ssim"]["min"] == 1.0 and found["psnr_db"] is None


def test_a_stream_that_lost_its_beginning_is_compared_picture_by_picture(tmp_path: Path) -> None:
    sent = encode(tmp_path / "sent.h264", 40)
    content = sent.read_bytes()
    # The second key picture begins with the second sequence parameter set (NAL unit type 7).
    second = [match.start() for match in re.finditer(b"\x00\x00\x00\x01\x67", content)][1]
    (tmp_path / "late.h264").write_bytes(content[second:])
    found = analysis.likeness(sent, tmp_path / "late.h264", *SIZE, 40)
    assert (found["frames_sent"], found["frames_decoded"], found["identical_ratio"]) == (40, 25, 1.0)
    after_warm_up = analysis.likeness(sent, tmp_path / "late.h264", *SIZE, 40, first=20)
    assert (after_warm_up["frames_sent"], after_warm_up["frames_decoded"], after_warm_up["frames_damaged"]) == (20, 20, 0)


def test_ssim_agrees_with_ffmpeg(tmp_path: Path) -> None:
    generator = np.random.default_rng(4)
    one = np.clip(np.add.outer(np.arange(96.0), np.arange(128.0)) + generator.normal(0, 10, (96, 128)), 0, 255).astype(np.uint8)
    other = np.clip(one + generator.normal(0, 12, one.shape), 0, 255).astype(np.uint8)
    for name, picture in (("one", one), ("other", other)):
        (tmp_path / name).write_bytes(picture.tobytes())
    raw = ["-f", "rawvideo", "-pix_fmt", "gray", "-s", "128x96"]
    inputs = [*raw, "-i", str(tmp_path / "one"), *raw, "-i", str(tmp_path / "other")]
    for name, ours in (("ssim", analysis.ssim(one, other)), ("psnr", analysis.psnr(one, other))):
        said = subprocess.run(
            ["ffmpeg", *inputs, "-lavfi", name, "-f", "null", "-"], capture_output=True, text=True, check=True
        ).stderr
        theirs = float(re.findall(r"(?:All:|average:)([\d.]+)", said)[0])
        assert ours == pytest.approx(theirs, rel=2e-3)


def test_equal_pictures_have_ssim_1_and_endless_psnr() -> None:
    picture = np.full((32, 32), 77, np.uint8)
    assert analysis.ssim(picture, picture) == 1.0
    assert analysis.psnr(picture, picture) == float("inf")


def test_freezes_are_pauses_between_whole_pictures() -> None:
    # Ten pictures a second in two packets each; of picture 5 one packet is lost, and pictures 10 to 14 never come.
    rows = [
        (number * 9_000, number * 100_000_000 + packet if number not in range(10, 15) and (number, packet) != (5, 1) else None)
        for number in range(20)
        for packet in range(2)
    ]
    found = analysis.freezes(pl.DataFrame(rows, schema={"rtp_timestamp": pl.UInt32, "received_ns": pl.Int64}, orient="row"), 10.0)
    assert (found["pictures_sent"], found["pictures_complete"]) == (20, 14)
    # The pause at picture 5 is two picture times, the other one six, of which one is due.
    assert found["freezes"] == 1
    assert found["frozen_s"] == pytest.approx(0.5)


@pytest.mark.parametrize("arrived", [True, False])
def test_a_stream_of_a_run_is_told_and_shown(tmp_path: Path, arrived: bool) -> None:
    run = SyntheticRun(tmp_path / "run")
    for number in range(40):
        data = frame(FIELD, CENTRE, number, rtp(number, number * 6_000, 900), 21_000)
        run.journeys["return"].append(
            Journey(data, START_NS + number * 66_666_667, (2 * US, 30 * US, 3 * US), (5 * MS, 250 * MS))
        )
    folder = run.write()
    camera = folder / "traffic/call"
    flow = Flow(
        **{"name": "call.video", "kind": "video", "direction": "return", "protocol": "udp", "rtp_clock_hz": 90_000},
        **{"source": "fr1", "destination": "eoc", "source_address": FIELD, "destination_address": CENTRE},
        **{"source_ports": (21_000, 21_000), "destination_ports": (21_000, 21_000)},
    )
    facts: CameraFacts = {
        "sent": "sent.h264",
        "received": "received.mkv",
        "width": SIZE[0],
        "height": SIZE[1],
        "frames_per_second": 15,
        "rate_bit_per_s": 400e3,
    }
    ApplicationRecord(name="call", application="camera", flows=(flow,), facts=dict(facts)).write(camera)
    encode(camera / "sent.h264", 40)
    if arrived:
        options = ["-r", "15", "-i", str(camera / "sent.h264"), "-c", "copy", str(camera / "received.mkv")]
        subprocess.run(["ffmpeg", "-v", "error", "-fflags", "+genpts", *options], check=True)
    document: Any = analyse(folder, analyses())
    (video,) = document["video"]
    assert (video["flow"], video["pictures_sent"], video["pictures_complete"]) == ("call.video", 40, 40)
    assert video["sent_file"] == "traffic/call/sent.h264"
    page = (folder / "report.html").read_text()
    assert "<h2>The video</h2>" in page and "<h2>The call</h2>" not in page
    if arrived:
        assert video["decoded"]["identical_ratio"] == 1.0 and video["reason"] is None
        assert "data:video/mp4;base64," in page and "data:image/jpeg;base64," in page
    else:
        assert video["decoded"] is None and video["reason"] == "missing: received.mkv"
        assert "<p>missing: received.mkv</p>" in page
