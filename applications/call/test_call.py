# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import json
import math
import time
import wave
from pathlib import Path

import numpy as np
import pytest

from applications.application import ApplicationFailed
from applications.call.analysis import heard
from applications.call.application import Call
from applications.conftest import NamespaceHosts, captured, traffic_plan
from applications.media import audio
from applications.media.speech import Speech
from contracts.flow import ApplicationRecord
from results import pcapng
from results.captured_frames import Frames
from results.datagram import Packets, datagram
from system.node_files import OwnFiles
from tests.waiting import until

EF = 46


def _talks(call: Call) -> bool:
    call.check()
    return call.ends < math.inf


def make_call(hosts: NamespaceHosts, folder: Path, **options: object) -> Call:
    return Call(traffic_plan("call", dscp=EF, **options), hosts, folder)


@pytest.mark.lab
def test_a_call_is_heard_at_both_ends_and_marked(hosts: NamespaceHosts, tmp_path: Path) -> None:
    call = make_call(hosts, tmp_path / "call", duration=7.0)
    call.prepare()
    with captured(hosts, "right", tmp_path / "right.pcapng"):
        try:
            call.arrange()
            call.start()
            call.wait()
        finally:
            call.stop()
    for speaker, listener in (("left", "right"), ("right", "left")):
        rated = heard(tmp_path / f"call/{speaker}-spoken.wav", tmp_path / f"call/{listener}-heard.wav", narrow_band=False)
        assert rated["intelligible"] and (rated["pesq"] or 0.0) > 2.5, rated
    flows = ApplicationRecord.model_validate_json((tmp_path / "call/flows.json").read_text()).flows
    assert [flow.direction for flow in flows] == ["return", "forward"]
    for flow in flows:
        seen = [
            (packet.data, found)
            for packet in pcapng.read(tmp_path / "right.pcapng")
            if (found := datagram(packet.data)) is not None
            and (found.source, found.source_port) == (flow.source_address, flow.source_ports[0])  # type: ignore[index]
        ]
        # Fifty packets a second, no voice activity detection; 70 bytes of Opus and 12 of RTP make 124 on Ethernet. The first and
        # the last may be outside of the 7 s.
        assert len(seen) >= 7 * 50 - 2
        assert {found.ethernet_bytes for _, found in seen} == {124}
        assert {data[15] >> 2 for data, _ in seen} == {EF}
        assert Packets.of(Frames.of([data for data, _ in seen])).rtp().is_rtp.all()


@pytest.mark.lab
def test_a_called_agent_that_does_not_exist_is_named(
    hosts: NamespaceHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("applications.call.application._ANSWER_DEADLINE_S", 1.0)
    call = make_call(hosts, tmp_path / "call", duration=2.0)
    call.prepare()
    (hosts.node_folder("right") / "talk/accounts").write_text("<sip:right@10.98.0.2:5060>;regint=0;answermode=manual\n")
    try:
        with pytest.raises(ApplicationFailed, match="an answer of right did not happen within 1 s"):
            call.arrange()
            call.start()
            call.wait()
    finally:
        call.stop()


@pytest.mark.lab
def test_an_agent_that_dies_fails_the_call_with_its_log(hosts: NamespaceHosts, tmp_path: Path) -> None:
    call = make_call(hosts, tmp_path / "call", duration=30.0)
    call.prepare()
    try:
        call.arrange()
        call.start()
        until(lambda: _talks(call))
        agent = next(running for running in call._running if (running.host, running.name) == ("right", "baresip"))
        agent.program.kill()
        agent.program.wait(5.0)
        with pytest.raises(ApplicationFailed, match=r"(?s)baresip on right ended.*Call established"):
            call.check()
    finally:
        began = time.monotonic()
        call.stop()
    assert time.monotonic() - began < 30
    assert json.loads((tmp_path / "call/flows.json").read_text())["application"] == "call"


def test_the_configuration_says_codec_ports_and_marking(tmp_path: Path) -> None:
    class Nowhere:
        def own_files(self, node: str, name: str) -> OwnFiles:
            return OwnFiles(tmp_path)

    call = Call(traffic_plan("call", dscp=EF, codec="g722", rtp_port=30_000), Nowhere(), tmp_path / "call")  # type: ignore[arg-type]
    lines = call.configuration(call.agents[0]).splitlines()
    for expected in ("sip_listen 10.98.0.1:5060", "rtp_ports 30000-30001", "rtp_tos 184", "module g722.so", "ausrc_srate 16000"):
        assert expected in lines


def test_a_speech_is_as_long_as_asked_and_the_same_again(tmp_path: Path) -> None:
    for name in ("one", "two"):
        Speech("field", 6.5, 16_000, seed=3).write(tmp_path / f"{name}.wav")
    Speech("centre", 6.5, 16_000, seed=3).write(tmp_path / "other.wav")
    with wave.open(str(tmp_path / "one.wav")) as file:
        assert (file.getframerate(), file.getnchannels(), file.getnframes()) == (16_000, 1, 104_000)
    one, two, other = (audio.samples(tmp_path / f"{name}.wav", 16_000) for name in ("one", "two", "other"))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)
    # Somebody speaks until the end: no second is silent.
    assert all(np.abs(one[at : at + 16_000]).max() > 1000 for at in range(0, one.size - 16_000, 16_000))
