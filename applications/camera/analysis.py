# SPDX-License-Identifier: GPL-2.0-or-later
"""How good a video stream was: pictures received, their likeness to what was sent, and how often the picture stood still."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray
from typing_extensions import TypedDict

from applications.camera.application import CameraFacts
from applications.media.decoding import MediaFailed, decoding, embedded
from applications.media.number_strip import NumberStrip
from contracts.flow import Direction
from results.application_analysis import ApplicationAnalysis, Evidence, Findings, MeasuredValues
from results.measure import Measure
from results.metrics_document import Summary
from results.run_folder import Measured
from results.statistics import Values, summary
from system.sandbox import Limits

#: A picture that stays for longer than this many picture times is seen to stand still; ITU-T P.1201 calls it a freeze.
FREEZE_PICTURES = 3.0

#: SSIM's windows: 8 x 8, every 4 samples, as Z. Wang et al. ("Image quality assessment: from error visibility to structural
#: similarity", IEEE Trans. Image Processing 13(4), 2004) did first, and ffmpeg and x264 still do.
_WINDOW, _STEP = 8, 4
_C1, _C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2

#: Decoding a picture of 1920 x 1088 and comparing it takes some 0.2 s.
_TIME_S, _PICTURE_S = 60.0, 2.0

#: As many pictures as were seen to be sent, and room for some that captures dropped.
_MORE_PICTURES = 100

#: A page has the first seconds of a received video, half a megabyte at 400 kbit/s, and a picture of it.
_CLIP_S, _STILL_AT_S = 10.0, 2.0
#: Ten seconds at the highest rate of a camera, 50 Mbit/s.
_CLIP_LIMITS: Final = Limits(60.0, output_bytes=64 << 20)

Luma = NDArray[np.uint8]


class Likeness(TypedDict):
    """Pictures as decoded against those that were sent."""

    frames_sent: int
    frames_decoded: int
    frames_damaged: int
    identical_ratio: float | None
    ssim: Summary | None
    #: Of pictures that are not identical.
    psnr_db: Summary | None


class Freezes(TypedDict):
    pictures_sent: int
    pictures_complete: int
    interval_ms: Summary | None
    freezes: int
    frozen_s: float


class Video(Freezes):
    """A video stream. Files are in the run folder; null in virtual time."""

    flow: str
    direction: Direction
    #: Null where it could not be decoded, and `reason` says why.
    decoded: Likeness | None
    reason: str | None
    sent_file: str | None
    received_file: str | None


class PlayedVideo(Video):
    """A video stream, with what the report shows of it; null where the file cannot be read."""

    #: The first seconds.
    clip: str | None
    #: A picture.
    still: str | None


class VideoPart(TypedDict):
    """What the template of the report is given."""

    videos: Sequence[PlayedVideo]


def judge(evidence: Evidence) -> Findings:
    """Raises DamagedRun."""
    videos = [_video(evidence, flow.measured) for flow in evidence.flows]
    return Findings(
        videos,
        drawn=partial(_drawn, evidence.run, videos),
        measured=[_measured(flow.measured.application.name, video) for flow, video in zip(evidence.flows, videos, strict=True)],
    )


def _video(evidence: Evidence, measured: Measured) -> Video:
    record = measured.application
    facts = evidence.facts(record, CameraFacts)
    sent_file, received_file = (
        None if file is None else evidence.file(record, file) for file in (facts["sent"], facts["received"])
    )
    earlier = _begun_in_warm_up(measured)
    later = measured.every.filter(~pl.col("rtp_timestamp").is_in(earlier)) if earlier else measured.every
    seen = freezes(later, facts["frames_per_second"])
    decoded, reason = None, None
    try:
        if sent_file is None or received_file is None:
            raise MediaFailed("in virtual time nobody decodes")
        sent, received = evidence.run / sent_file, evidence.run / received_file
        if absent := [file.name for file in (sent, received) if not file.exists()]:
            raise MediaFailed(f"missing: {', '.join(absent)}")
        decoded = likeness(
            sent,
            received,
            facts["width"],
            facts["height"],
            2 * (len(earlier) + seen["pictures_sent"]) + _MORE_PICTURES,
            len(earlier),
        )
    except MediaFailed as error:
        reason = str(error)
    return {
        "flow": measured.flow.name,
        "direction": measured.flow.direction,
        **seen,
        "decoded": decoded,
        "reason": reason,
        "sent_file": sent_file,
        "received_file": received_file,
    }


def _begun_in_warm_up(measured: Measured) -> list[int]:
    """The RTP timestamps of pictures of which a packet was sent in the warm-up."""
    if measured.counted_from_ns is None:
        return []
    earlier = measured.every.filter(pl.col("sent_ns") < measured.counted_from_ns)
    return earlier["rtp_timestamp"].drop_nulls().unique().to_list()


def _measured(traffic: str, video: Video) -> MeasuredValues:
    sent, decoded = video["pictures_sent"], video["decoded"]
    values = {
        "pictures_complete_ratio": video["pictures_complete"] / sent if sent else None,
        "freezes": video["freezes"],
        "frozen_s": video["frozen_s"],
        "pictures_identical_ratio": decoded["identical_ratio"] if decoded else None,
        "ssim_mean": decoded["ssim"]["mean"] if decoded and decoded["ssim"] else None,
        "psnr_db_mean": decoded["psnr_db"]["mean"] if decoded and decoded["psnr_db"] else None,
    }
    return MeasuredValues(values, traffic, video["flow"], video["direction"])


def _drawn(run: Path, videos: Sequence[Video]) -> VideoPart:
    # A file that can be played while it is read must have its index first, and ffmpeg writes it so only into fragments on a pipe.
    clip = [
        *("-t", f"{_CLIP_S:g}", "-an", "-c:v", "copy"),
        *("-movflags", "frag_keyframe+empty_moov+default_base_moof", "-f", "mp4", "pipe:1"),
    ]
    still = ["-ss", f"{_STILL_AT_S:g}", "-frames:v", "1", "-f", "image2pipe", "-c:v", "mjpeg", "-q:v", "4", "pipe:1"]
    received = [(video, None if (name := video["received_file"]) is None else run / name) for video in videos]
    return {
        "videos": [
            {
                **video,
                "clip": None if file is None else embedded("video/mp4", file, clip, _CLIP_LIMITS),
                "still": None if file is None else embedded("image/jpeg", file, still, _CLIP_LIMITS),
            }
            for video, file in received
        ]
    }


def likeness(sent: Path, received: Path, width: int, height: int, most: int, first: int = 0) -> Likeness:
    """Compares each decoded picture with its original, known by the number drawn in it; both files hold H.264.

    The originals are what the sender encoded, so what is measured is the network's effect and not the codec's. A picture whose
    number cannot be read, or that shows an old one, is damaged: it is taken for the one that was due. Pictures before the `first`
    that counts are left out. Raises MediaFailed when a file holds more than `most` pictures.
    """
    strip = NumberStrip(height)
    originals = enumerate(decode(sent, width, height, most))
    likenesses: list[tuple[float, float]] = []
    damaged, due = 0, 0
    for picture in decode(received, width, height, most):
        number = strip.read(picture)
        is_damaged = number is None or number < due
        if number is None or is_damaged:
            number = due
        original = next((luma for at, luma in originals if at == number), None)
        if original is None:
            damaged += is_damaged
            break
        due = number + 1
        if number < first:
            continue
        damaged += is_damaged
        likenesses.append((ssim(original, picture), psnr(original, picture)))
    ssims, psnrs = ([pair[at] for pair in likenesses] for at in (0, 1))
    return {
        "frames_sent": max(0, due + sum(1 for _ in originals) - first),
        "frames_decoded": len(likenesses),
        "frames_damaged": damaged,
        "identical_ratio": float(np.mean(np.isinf(psnrs))) if psnrs else None,
        "ssim": summary(ssims),
        "psnr_db": summary([value for value in psnrs if np.isfinite(value)]),
    }


def freezes(rows: pl.DataFrame, frames_per_second: float) -> Freezes:
    """From the times at which pictures were complete at the destination: how often and how long the picture stood still.

    A picture is all packets of one RTP timestamp; it is complete when the last of them came, and lost when one of them did.
    """
    pictures = (
        rows.filter(pl.col("rtp_timestamp").is_not_null())
        .group_by("rtp_timestamp", maintain_order=True)
        .agg(complete=pl.col("received_ns").is_not_null().all(), at_ns=pl.col("received_ns").max())
    )
    whole = pictures.filter("complete")
    pauses = whole["at_ns"].sort().diff().drop_nulls().to_numpy() / 1e9
    long = pauses[pauses > FREEZE_PICTURES / frames_per_second]
    return {
        "pictures_sent": pictures.height,
        "pictures_complete": whole.height,
        "interval_ms": summary(pauses * 1e3),
        "freezes": int(long.size),
        "frozen_s": float((long - 1.0 / frames_per_second).sum()),
    }


def decode(path: Path, width: int, height: int, most: int) -> Iterator[Luma]:
    """The luma of each picture of a video file, in order. Pictures that cannot be decoded are left out.

    Raises MediaFailed when it holds more than `most` pictures, or takes longer than any so many would.
    """
    size = width * height
    limits = Limits(_TIME_S + most * _PICTURE_S, output_bytes=(most + 1) * size)
    options = ["-vsync", "passthrough", "-f", "rawvideo", "-pix_fmt", "gray", "-s", f"{width}x{height}", "pipe:1"]
    with decoding(path, options, limits) as (decoder, name):
        count = 0
        while len(raw := decoder.read(size)) == size:
            if (count := count + 1) > most:
                raise MediaFailed(f"{name} holds more pictures than the {most} that can have been sent")
            yield np.frombuffer(raw, np.uint8).reshape(height, width)
        decoder.wait()


def ssim(original: Luma, picture: Luma) -> float:
    """Structural similarity, 1 for equal pictures: the mean over all windows."""
    if np.array_equal(original, picture):
        return 1.0
    a, b = original.astype(np.float64), picture.astype(np.float64)
    count = float(_WINDOW * _WINDOW)
    sum_a, sum_b, squares, product = (_window_sums(values) for values in (a, b, a * a + b * b, a * b))
    covariance = product * count - sum_a * sum_b
    variances = squares * count - sum_a * sum_a - sum_b * sum_b
    c1, c2 = _C1 * count * count, _C2 * count * count
    likenesses = (2 * sum_a * sum_b + c1) * (2 * covariance + c2) / ((sum_a**2 + sum_b**2 + c1) * (variances + c2))
    return float(likenesses.mean())


def psnr(original: Luma, picture: Luma) -> float:
    """Peak signal-to-noise ratio in dB; infinite for equal pictures."""
    error = float(np.mean((original.astype(np.float64) - picture) ** 2))
    return float("inf") if error == 0.0 else float(10.0 * np.log10(255.0**2 / error))


def _window_sums(values: Values) -> Values:
    """The sum in each window."""
    windows = np.lib.stride_tricks.sliding_window_view(values, (_WINDOW, _WINDOW))
    sums: Values = windows[::_STEP, ::_STEP].sum(axis=(2, 3))
    return sums


ANALYSIS: Final = ApplicationAnalysis(
    key="video",
    entry=Video,
    judge=judge,
    template=Path(__file__).with_name("report.html.j2"),
    files=(
        ("traffic/*/sent.h264", "video as the camera encoded it"),
        ("traffic/*/received.mkv", "video as it arrived"),
    ),
    measures=(
        Measure("pictures_complete_ratio", "", "pictures that came whole, of those that were sent", "higher"),
        Measure("freezes", "", "times that the picture stood still", "lower"),
        Measure("frozen_s", "s", "how long the picture stood still", "lower"),
        Measure("pictures_identical_ratio", "", "decoded pictures that are as they were sent, to the bit", "higher"),
        Measure("ssim_mean", "", "structural similarity of decoded pictures to those that were sent, mean", "higher"),
        Measure("psnr_db_mean", "dB", "peak signal-to-noise ratio of decoded pictures that are not identical, mean", "higher"),
    ),
)
