# SPDX-License-Identifier: GPL-2.0-or-later
"""Speech to send through a call: two people of an emergency talking, made by espeak-ng, the same for the same seed."""

from __future__ import annotations

import math
import random
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from contracts.errors import NetBoxITError
from contracts.installation import SETUP

#: Words per minute of the synthetic voice.
PACE = 150
#: Peak level of the speech, dB below full scale.
PEAK_DB = -3.0
#: An hour of speech takes sox some seconds.
_DEADLINE_S = 120.0

_PLACES = (
    "north bridge",
    "market square",
    "old mill",
    "railway station",
    "school building",
    "river bank",
    "water tower",
    "church yard",
)
_TEAMS = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot")

Speaker = Literal["field", "centre"]
_VOICES: dict[Speaker, str] = {"field": "en-gb", "centre": "en-us+f3"}
_SENTENCES: dict[Speaker, tuple[str, ...]] = {
    "field": (
        "Team {team} has reached the {place}.",
        "We count {number} people here, {few} of them need help.",
        "The road to the {place} is blocked by water.",
        "Battery of the radio is at {percent} percent.",
        "We need {few} more stretchers at the {place}.",
        "Temperature near the fire is {percent} degrees.",
    ),
    "centre": (
        "Centre to team {team}, message received.",
        "An ambulance will be at the {place} in {number} minutes.",
        "Please move {few} of your people to the {place}.",
        "The helicopter can lift {few} persons at a time.",
        "Team {team} is on its way to the {place}.",
        "Report again in {number} minutes.",
    ),
}
#: A sentence has at least so many words on the mean.
_WORDS = 8


class SpeechFailed(NetBoxITError):
    """The speech could not be made."""


@dataclass(frozen=True)
class Speech:
    """What one party says for at least `seconds`, at `rate` samples a second (16 bits, one channel)."""

    speaker: Speaker
    seconds: float
    rate: int
    seed: int

    def sentences(self) -> Iterator[str]:
        """No two stretches are alike, so that a recording can be laid over what was spoken without doubt."""
        draw = random.Random(f"{self.seed} {self.speaker}")
        patterns = _SENTENCES[self.speaker]
        while True:
            for pattern in draw.sample(patterns, len(patterns)):
                yield pattern.format(
                    team=draw.choice(_TEAMS),
                    place=draw.choice(_PLACES),
                    number=draw.randint(12, 59),
                    few=draw.randint(2, 9),
                    percent=draw.randint(20, 95),
                )

    def write(self, path: Path) -> None:
        """Makes the WAV file, exactly `seconds` long. Raises SpeechFailed with what the program said."""
        # A synthetic voice speaks a little faster than its nominal pace when sentences are short: half as much again is enough.
        words = self.seconds / 60 * PACE * 1.5 + 20
        text = "\n".join(islice(self.sentences(), math.ceil(words / _WORDS) + len(_SENTENCES[self.speaker])))
        with tempfile.TemporaryDirectory() as folder:
            spoken = Path(folder) / "spoken.wav"
            _run(["espeak-ng", "-v", _VOICES[self.speaker], "-s", str(PACE), "-w", str(spoken), "--stdin"], text)
            _run(
                [
                    *("sox", "-D", str(spoken), "-b", "16", "-c", "1", str(path)),
                    *("rate", "-v", str(self.rate), "trim", "0", f"{self.seconds:.3f}", "norm", str(PEAK_DB)),
                ]
            )


def _run(argv: list[str], text: str = "") -> None:
    try:
        done = subprocess.run(argv, input=text, capture_output=True, text=True, check=False, timeout=_DEADLINE_S)
    except subprocess.TimeoutExpired:
        raise SpeechFailed(f"{argv[0]} is not over after {_DEADLINE_S:g} s; call `{' '.join(argv)}` by hand") from None
    except FileNotFoundError as missing:
        raise SpeechFailed(f"speech needs {argv[0]}, which is not installed; `{SETUP}` installs it") from missing
    if done.returncode:
        raise SpeechFailed(f"{argv[0]} could not make speech (status {done.returncode}): {done.stderr.strip()}")
