# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import numpy as np
import pytest

from applications.call.application import VoiceCodec
from applications.call.emodel import Impairment, delay_impairment, mean_opinion_score, planned, rating

G_711 = Impairment(0.0, 4.3, "G.113, without concealment")


def test_default_parameters_give_what_g_107_says() -> None:
    # G.107, clause 7.6: "R = 93.2"; its MOS by annex B is 4.41.
    assert rating(0.0, 0.0, G_711) == pytest.approx(93.2, abs=0.05)
    assert mean_opinion_score(rating(0.0, 0.0, G_711)) == pytest.approx(4.41, abs=0.005)


@pytest.mark.parametrize(("r", "mos"), [(90, 4.34), (80, 4.03), (70, 3.60), (60, 3.10), (50, 2.58)])
def test_opinion_scores_are_those_of_g_107_annex_b(r: float, mos: float) -> None:
    assert mean_opinion_score(r) == pytest.approx(mos, abs=0.01)


def test_opinion_scores_end_at_1_and_4_5() -> None:
    assert (mean_opinion_score(-5.0), mean_opinion_score(3.0), mean_opinion_score(120.0)) == (1.0, 1.0, 4.5)


def test_delay_does_no_harm_up_to_100_ms_and_more_and_more_beyond() -> None:
    harms = [delay_impairment(delay) for delay in (50, 100, 150, 200, 300, 400, 600)]
    assert harms[:2] == [0.0, 0.0]
    assert harms == sorted(harms)
    # By hand at 200 ms: X = 1, so 25 (2^(1/6) - 3 (1 + 3^-6)^(1/6) + 2).
    assert delay_impairment(200.0) == pytest.approx(25 * (2 ** (1 / 6) - 3 * (1 + 3**-6) ** (1 / 6) + 2))


def test_loss_impairs_by_the_robustness_of_the_codec() -> None:
    # Clause 7.5 with Ie = 0 and Bpl = 4.3: half of 95 is gone when Ppl = Bpl.
    assert rating(0.0, 0.0, G_711) - rating(0.0, 4.3, G_711) == pytest.approx(95 / 2)
    assert rating(0.0, 2.0, Impairment(0.0, 25.1, "")) > rating(0.0, 2.0, G_711)


def test_a_call_is_rated_by_its_whole_way_from_mouth_to_ear() -> None:
    codec = VoiceCodec(name="opus", frame_ms=20.0, lookahead_ms=6.5, playout_ms=60.0)
    found = planned(codec, np.full(100, 113.5), 0.0)
    assert found["mouth_to_ear_ms"] == pytest.approx(200.0)
    assert found["r"] == pytest.approx(rating(200.0, 0.0, G_711))


def test_packets_that_miss_their_turn_count_as_lost() -> None:
    codec = VoiceCodec(name="pcma", frame_ms=20.0, lookahead_ms=0.0, playout_ms=40.0)
    late = np.full(100, 100.0)
    late[:10] = 141.0
    found = planned(codec, late, 0.1)
    assert found["late_ratio"] == pytest.approx(0.1)
    assert found["r"] == pytest.approx(rating(20 + 104.1 + 40, 19.0, G_711))


def test_a_call_of_which_nothing_came_has_no_score() -> None:
    codec = VoiceCodec(name="pcma", frame_ms=20.0, lookahead_ms=0.0, playout_ms=40.0)
    found = planned(codec, np.zeros(0), 1.0)
    assert (found["mos_e_model"], found["reason"]) == (None, "no packet arrived")
