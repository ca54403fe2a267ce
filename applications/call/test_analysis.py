# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from applications.call import analysis
from applications.call.intelligibility import RATE, stoi
from applications.media import audio
from applications.media.speech import Speech
from results.statistics import Values


def write(path: Path, signal: Values, rate: int = 16_000) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.clip(signal, -32768, 32767).astype("<i2").tobytes())
    return path


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("speech") / "spoken.wav"
    Speech("field", 10.0, 16_000, seed=5).write(path)
    return path


def test_what_is_heard_unchanged_but_later_is_perfect(spoken: Path, tmp_path: Path) -> None:
    speech = audio.samples(spoken, 16_000)
    found = analysis.heard(spoken, write(tmp_path / "heard.wav", np.concatenate((np.zeros(5_000), speech))), narrow_band=False)
    # The best that P.862.2 gives is 4.64.
    assert found["pesq"] == pytest.approx(4.64, abs=0.02)
    assert found["stoi"] == pytest.approx(1.0, abs=1e-3)
    assert found["intelligible"] is True


def test_what_was_heard_of_the_warm_up_does_not_count(spoken: Path, tmp_path: Path) -> None:
    """Of 10 s the first 5 s are not heard at all."""
    speech = audio.samples(spoken, 16_000)
    muted = write(tmp_path / "heard.wav", np.concatenate((np.zeros(82_000), speech[80_000:])))
    assert analysis.heard(spoken, muted, narrow_band=False, after_s=5.0)["pesq"] == pytest.approx(4.64, abs=0.02)
    whole: Any = analysis.heard(spoken, muted, narrow_band=False)
    assert whole["pesq"] is None or whole["pesq"] < 4
    assert analysis.heard(spoken, muted, narrow_band=False, after_s=9.0)["pesq"] is None


def test_a_playout_that_jumps_leaves_speech_intelligible(spoken: Path, tmp_path: Path) -> None:
    speech = audio.samples(spoken, 16_000)
    jumped = np.concatenate((speech[:50_000], np.zeros(960), speech[50_000:]))
    found: Any = analysis.heard(spoken, write(tmp_path / "heard.wav", jumped), narrow_band=False)
    assert found["stoi"] > 0.85


def test_other_speech_and_noise_are_not_intelligible(spoken: Path, tmp_path: Path) -> None:
    Speech("centre", 10.0, 16_000, seed=6).write(tmp_path / "other.wav")
    noise = np.random.default_rng(1).normal(0, 4_000, 160_000)
    for heard in (tmp_path / "other.wav", write(tmp_path / "noise.wav", noise)):
        found: Any = analysis.heard(spoken, heard, narrow_band=False)
        assert found["intelligible"] is False and found["pesq"] < 1.5


def test_silence_and_missing_recordings_have_no_score_but_a_reason(spoken: Path, tmp_path: Path) -> None:
    silence: Any = analysis.heard(spoken, write(tmp_path / "silence.wav", np.zeros(1_000)), narrow_band=False)
    assert silence["pesq"] is None and "no speech" in silence["reason"]
    assert analysis.heard(spoken, tmp_path / "nothing.wav", narrow_band=False)["reason"] == "nothing.wav is missing"


def test_narrow_band_speech_is_rated_at_its_own_rate(spoken: Path, tmp_path: Path) -> None:
    telephone = write(tmp_path / "heard.wav", audio.samples(spoken, 8_000), rate=8_000)
    found: Any = analysis.heard(spoken, telephone, narrow_band=True)
    assert found["pesq"] > 4.3


def test_intelligibility_falls_with_noise(spoken: Path) -> None:
    speech = audio.samples(spoken, RATE)
    noise = np.random.default_rng(2).normal(0, 1, speech.size) * speech.std()
    scores = [stoi(speech, speech + level * noise) for level in (0.0, 0.5, 2.0, 10.0)]
    assert all(score is not None for score in scores)
    assert scores == sorted(scores, reverse=True)  # type: ignore[type-var]
    assert stoi(speech[:1_000], speech[:1_000]) is None


@pytest.mark.parametrize("later", [-700, 0, 1, 4_321])
def test_a_lag_is_found_to_the_sample(later: int) -> None:
    signal = np.random.default_rng(3).normal(0, 100, 20_000)
    moved = np.concatenate((np.zeros(later), signal)) if later >= 0 else signal[-later:]
    assert audio.lag(signal, moved, 5_000) == later
