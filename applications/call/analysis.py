# SPDX-License-Identifier: GPL-2.0-or-later
"""How good a call was: the E-model (ITU-T G.107) from delay and loss, PESQ (ITU-T P.862) and STOI from the recordings."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, NotRequired

import numpy as np
from typing_extensions import TypedDict

from applications.call.application import CallFacts
from applications.call.emodel import PlannedVoice, planned
from applications.call.intelligibility import RATE as STOI_RATE
from applications.call.intelligibility import stoi
from applications.media import audio
from applications.media.decoding import MediaFailed, embedded
from contracts.flow import Direction
from contracts.installation import CHECKOUT, PYTHON
from results.application_analysis import ApplicationAnalysis, Evidence, Findings, KeyFigure, MeasuredFlow, MeasuredValues
from results.measure import Measure
from results.metrics import delays_ms
from results.pages import number
from results.run_folder import Measured
from results.statistics import Values
from system import sandbox

#: P.862 was made for samples of 8 to 12 s (P.862, clause 8); it is taken of the call in pieces.
_PIECE_S = 8.0
#: P.862.3 asks for 3.2 s of active speech at least; a call shorter than this is not rated.
_SHORTEST_PIECE_S = 4.0
#: At most so many pieces, evenly spread: each takes about a third of a second of a core.
_PIECES = 12
#: Silence before the first word that is heard: network, playout buffer, and the sound card's own buffer.
_LONGEST_LAG_S = 5.0
#: How far a playout buffer may move the speech in the course of a call.
_DRIFT_S = 0.6
#: STOI is taken of parts of this length, and the playout may move by so much between two of them.
_STOI_PART_S, _PART_DRIFT_S = 2.0, 0.3
_MEASURING_RATE = 16_000
#: Works on what nodes recorded, in the sandbox. With a thread for each core, numpy would need memory by the number of cores.
_PESQ: Final = (
    *("/usr/bin/env", "OPENBLAS_NUM_THREADS=1", str(PYTHON), "-I"),
    str(CHECKOUT / "applications/call/pesq_program.py"),
)
_PESQ_LIMITS: Final = sandbox.Limits(120.0)
#: Mean STOI above which speech is called intelligible: 98.7 % of the words by the curve that Taal et al. (2011)
#: fitted for the IEEE sentences, 100 / (1 + exp(-17.4906 d + 9.6921)).
INTELLIGIBLE = 0.8

#: For the report the first minute as Ogg Opus, which browsers play: four recordings at 24 kbit/s are 0.72 MB, as text 0.96 MB.
_OPUS: Final = ("-t", "60", "-c:a", "libopus", "-b:a", "24k", "-ac", "1", "-f", "ogg", "pipe:1")
#: ffmpeg takes a second for half an hour of speech.
_OPUS_LIMITS: Final = sandbox.Limits(60.0)


class Heard(TypedDict):
    """What was heard against what was spoken; null where it could not be rated, and `reason` says why."""

    pesq: float | None
    pesq_min: float | None
    stoi: float | None
    intelligible: bool | None
    pieces: NotRequired[int]
    reason: str | None


class Voice(PlannedVoice):
    """A call in one direction. Files are in the run folder; null in virtual time."""

    flow: str
    direction: Direction
    heard: Heard
    spoken_file: str | None
    heard_file: str | None


@dataclass(frozen=True)
class Player:
    """Plays a recording in the report."""

    #: "spoken" or "heard".
    what: str
    direction: Direction
    file: str
    #: The recording itself.
    source: str


class CallPart(TypedDict):
    """What the template of the report is given."""

    voices: Sequence[Voice]
    #: Of what was spoken and heard in each direction, without recordings that cannot be read.
    players: Sequence[Player]


#: Of a call in virtual time.
_NOTHING: Final = Heard(pesq=None, pesq_min=None, stoi=None, intelligible=None, reason="in virtual time nobody speaks")


def judge(evidence: Evidence) -> Findings:
    """Both directions of each call. Raises DamagedRun."""
    voices = [_voice(evidence, flow) for flow in evidence.flows]
    return Findings(
        voices,
        [_key_figure(voice) for voice in voices],
        partial(_drawn, evidence.run, voices),
        [_measured(flow.measured.application.name, voice) for flow, voice in zip(evidence.flows, voices, strict=True)],
    )


def _voice(evidence: Evidence, measured_flow: MeasuredFlow) -> Voice:
    measured = measured_flow.measured
    flow, record = measured.flow, measured.application
    facts = evidence.facts(record, CallFacts)
    parties = {party["host"]: party for party in facts["parties"]}
    spoken, heard_there = parties[flow.source]["spoken"], parties[flow.destination]["heard"]
    spoken_file = None if spoken is None else evidence.file(record, spoken)
    heard_file = None if heard_there is None else evidence.file(record, heard_there)
    return {
        "flow": flow.name,
        "direction": flow.direction,
        **planned(facts["codec"], delays_ms(measured.rows), measured_flow.figures["loss_ratio"] or 0.0),
        "heard": _NOTHING
        if spoken_file is None or heard_file is None
        else heard(
            evidence.run / spoken_file,
            evidence.run / heard_file,
            narrow_band=facts["sample_rate_hz"] < _MEASURING_RATE,
            after_s=_spoken_in_warm_up_s(measured),
        ),
        "spoken_file": spoken_file,
        "heard_file": heard_file,
    }


def _spoken_in_warm_up_s(measured: Measured) -> float:
    """How much of what was spoken was sent in the warm-up: the first packet has its beginning."""
    if measured.counted_from_ns is None or measured.every.is_empty():
        return 0.0
    return max(0.0, (measured.counted_from_ns - int(measured.every["sent_ns"][0])) / 1e9)


def _key_figure(voice: Voice) -> KeyFigure:
    return KeyFigure(
        voice["flow"],
        voice["direction"],
        label=f"MOS {voice['direction']} (E-model)",
        value=number(voice["mos_e_model"]),
        note=f"PESQ {number(voice['heard']['pesq'])}",
    )


def _measured(traffic: str, voice: Voice) -> MeasuredValues:
    values = {
        "mos_e_model": voice["mos_e_model"],
        "r_factor": voice["r"],
        "mouth_to_ear_ms": voice["mouth_to_ear_ms"],
        "late_ratio": voice["late_ratio"],
        "pesq": voice["heard"]["pesq"],
        "stoi": voice["heard"]["stoi"],
    }
    return MeasuredValues(values, traffic, voice["flow"], voice["direction"])


def _drawn(run: Path, voices: Sequence[Voice]) -> CallPart:
    players: list[Player] = []
    for voice in voices:
        for what, name in (("spoken", voice["spoken_file"]), ("heard", voice["heard_file"])):
            if name is not None and (sound := embedded("audio/ogg", run / name, _OPUS, _OPUS_LIMITS)):
                players.append(Player(what, voice["direction"], name, sound))
    return {"voices": voices, "players": players}


def heard(spoken_file: Path, heard_file: Path, narrow_band: bool, after_s: float = 0.0) -> Heard:
    """PESQ (a MOS-LQO of P.862.1 or, wide-band, P.862.2) and STOI of a recording against what was spoken, mean and worst piece.

    What was spoken before `after_s` does not count. `intelligible` is what the mean STOI says; a measure that cannot be had is
    None and `reason` says why.
    """
    try:
        for file in (spoken_file, heard_file):
            if not file.exists():
                raise MediaFailed(f"{file.name} is missing")
        spoken, recorded = (audio.samples(file, _MEASURING_RATE) for file in (spoken_file, heard_file))
        pieces = _pieces(spoken, recorded, round(after_s * _MEASURING_RATE))
        scores = [
            (quality, score)
            for quality, score in zip(_qualities(pieces, narrow_band), map(_understood, pieces), strict=True)
            if quality is not None and score is not None
        ]
        if not scores:
            raise MediaFailed("no speech was heard for as long as PESQ needs")
    except MediaFailed as error:
        return {"pesq": None, "pesq_min": None, "stoi": None, "intelligible": None, "reason": str(error)}
    qualities, understood = (np.array(values) for values in zip(*scores, strict=True))
    return {
        "pesq": float(qualities.mean()),
        "pesq_min": float(qualities.min()),
        "stoi": float(understood.mean()),
        "intelligible": bool(understood.mean() >= INTELLIGIBLE),
        "pieces": len(scores),
        "reason": None,
    }


@dataclass(frozen=True)
class Piece:
    """A piece of what was spoken, the recording around where it was heard, and at which sample of that it fits best."""

    spoken: Values
    around: Values
    at: int

    @property
    def heard(self) -> Values:
        return self.around[self.at : self.at + self.spoken.size]


def _pieces(spoken: Values, recorded: Values, first: int) -> list[Piece]:
    """Of what was spoken from the sample `first` on."""
    rate = _MEASURING_RATE
    start = audio.lag(spoken[: recorded.size], recorded, int(_LONGEST_LAG_S * rate)) if recorded.size else 0
    overlap = min(spoken.size, recorded.size - start)
    length = min(int(_PIECE_S * rate), overlap - first)
    if length < _SHORTEST_PIECE_S * rate:
        return []
    begins = np.arange(first, overlap - length + 1, length)
    chosen = begins[np.unique(np.linspace(0, begins.size - 1, min(_PIECES, begins.size)).round().astype(int))]
    margin = int(_DRIFT_S * rate)
    pieces = []
    for begin in chosen:
        reference = spoken[begin : begin + length]
        around = recorded[max(0, begin + start - margin) : begin + start + length + margin]
        pieces.append(Piece(reference, around, max(0, audio.lag(reference, around, 2 * margin))))
    return pieces


def _qualities(pieces: Sequence[Piece], narrow_band: bool) -> list[float | None]:
    """PESQ of each piece; None where it holds no speech. Raises MediaFailed."""
    if not pieces:
        return []
    rate = 8_000 if narrow_band else _MEASURING_RATE
    arrays = io.BytesIO()
    for piece in pieces:
        for part in (piece.spoken, piece.heard):
            np.save(arrays, audio.resampled(part, _MEASURING_RATE, rate), allow_pickle=False)
    with sandbox.in_memory(arrays.getvalue()) as content:
        try:
            rating = sandbox.run((*_PESQ, str(rate), "nb" if narrow_band else "wb"), _PESQ_LIMITS, stdin=content)
        except (sandbox.LimitExceeded, sandbox.SandboxFailed) as error:
            raise MediaFailed(f"PESQ could not rate the recording: {error}") from error
    if rating.status:
        raise MediaFailed(f"PESQ could not rate the recording (status {rating.status}): {rating.complaint.strip()[-500:]}")
    scores: list[float | None] = json.loads(rating.output)
    return scores


def _understood(piece: Piece) -> float | None:
    """Mean STOI of short parts. Each is laid over its original anew: STOI, unlike PESQ, takes a moved playout for noise."""
    length, margin = (int(seconds * _MEASURING_RATE) for seconds in (_STOI_PART_S, _PART_DRIFT_S))
    scores = []
    for begin in range(0, piece.spoken.size - length + 1, length):
        part, first = piece.spoken[begin : begin + length], max(0, piece.at + begin - margin)
        at = first + max(0, audio.lag(part, piece.around[first : piece.at + begin + length + margin], 2 * margin))
        heard_part = piece.around[at : at + length]
        both = (audio.resampled(signal, _MEASURING_RATE, STOI_RATE) for signal in (part[: heard_part.size], heard_part))
        if (score := stoi(*both)) is not None:
            scores.append(score)
    return float(np.mean(scores)) if scores else None


ANALYSIS: Final = ApplicationAnalysis(
    key="voice",
    entry=Voice,
    judge=judge,
    template=Path(__file__).with_name("report.html.j2"),
    files=(
        ("traffic/*/*-spoken.wav", "speech that was sent"),
        ("traffic/*/*-heard.wav", "speech as it was heard"),
    ),
    measures=(
        Measure("mos_e_model", "", "mean opinion score by the E-model (ITU-T G.107)", "higher"),
        Measure("r_factor", "", "rating R of the E-model", "higher"),
        Measure("mouth_to_ear_ms", "ms", "delay from mouth to ear, mean", "lower"),
        Measure("late_ratio", "", "packets that came too late to be played, of those that came", "lower"),
        Measure("pesq", "", "MOS-LQO by PESQ (ITU-T P.862) of what was heard, mean", "higher"),
        Measure("stoi", "", "intelligibility by STOI of what was heard, mean", "higher"),
    ),
)
