# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings as a hostile node would write them: what ffmpeg must not make of them, and what is told of a run that has them."""

from __future__ import annotations

import os
import wave
from pathlib import Path
from typing import Any

import pytest

from applications.call.analysis import heard
from applications.camera.analysis import likeness
from applications.camera.test_analysis import SIZE, encode
from applications.media import audio
from applications.media.decoding import MediaFailed
from applications.media.speech import Speech
from applications.registry import analyses
from results.analyse import analyse
from results.conftest import SyntheticRun


def recording(path: Path, seconds: float, rate: int) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(bytes(round(seconds * rate) * 2))
    return path


#: Each names another file, which ffmpeg would read in its place.
PLAYLISTS = {
    "concat": "ffconcat version 1.0\nfile spoken.wav\n",
    "hls": "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nspoken.wav\n#EXT-X-ENDLIST\n",
}


@pytest.mark.parametrize("kind", PLAYLISTS)
def test_a_playlist_in_the_place_of_a_recording_is_none(tmp_path: Path, kind: str) -> None:
    Speech("field", 6.0, 16_000, seed=5).write(tmp_path / "spoken.wav")
    (tmp_path / "heard.wav").write_text(PLAYLISTS[kind])
    found: Any = heard(tmp_path / "spoken.wav", tmp_path / "heard.wav", narrow_band=False)
    assert found["pesq"] is None
    assert found["reason"].startswith("ffmpeg could not read heard.wav")


def test_a_recording_that_would_grow_when_it_is_decoded_is_given_up(tmp_path: Path) -> None:
    # A sample a second: at 16000 a second two hours of it are 230 MB.
    slow = recording(tmp_path / "heard.wav", 7_200, 1)
    with pytest.raises(MediaFailed, match=r"heard\.wav could not be read: ffmpeg was ended: it wrote more than"):
        audio.samples(slow, 16_000)


def test_a_video_of_more_pictures_than_were_sent_is_given_up(tmp_path: Path) -> None:
    sent = encode(tmp_path / "sent.h264", 20)
    with pytest.raises(MediaFailed, match=r"sent\.h264 holds more pictures than the 5"):
        likeness(sent, sent, *SIZE, 5)


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "heard.wav")
    (tmp_path / "spoken.wav").symlink_to("/dev/zero")
    for name in ("heard.wav", "spoken.wav"):
        with pytest.raises(MediaFailed, match=name):
            audio.samples(tmp_path / name, 16_000)


def test_a_run_with_such_recordings_keeps_all_else_and_says_what_was_wrong(tmp_path: Path) -> None:
    run = SyntheticRun(tmp_path / "run")
    run.calls(100)
    folder = run.write()
    for host in ("fr1", "eoc"):
        Speech("field", 6.0, 8_000, seed=5).write(folder / f"traffic/call/{host}-spoken.wav")
        (folder / f"traffic/call/{host}-heard.wav").write_text(f"ffconcat version 1.0\nfile {host}-spoken.wav\n")
    document: Any = analyse(folder, analyses())
    assert [flow["received"] for flow in document["flows"]] == [100, 100]
    for one in document["voice"]:
        assert one["mos_e_model"] is not None and one["heard"]["pesq"] is None
        assert f"could not read {Path(one['heard_file']).name}" in one["heard"]["reason"]
        assert one["heard"]["reason"][:40] in (folder / "report.html").read_text()
