# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables 4.1, 5.1 and 7.1 of Xylomenos (1999), as far as they follow from others."""

from __future__ import annotations

import pytest

from netboxes.multiservice.profiles import ProfileName
from netboxes.multiservice.traffic import SPEECH_ACTIVITY, TRAFFIC


@pytest.mark.parametrize(
    ("link", "packets", "minutes"), [("cellular", 40_000, 18.5), ("pcs", 40_000, 20.8), ("wlan", 100_000, 6.7)]
)
def test_a_file_has_so_many_packets_and_takes_so_long(link: ProfileName, packets: int, minutes: float) -> None:
    """Table 4.1 and section 4.1.1."""
    traffic = TRAFFIC[link]
    assert traffic.transfer_packets == packets
    assert packets * traffic.link.frame == traffic.transfer
    assert round(traffic.transfer_time / 60, 1) == minutes


@pytest.mark.parametrize(
    ("link", "of_link", "mean_kbit_s", "interval_ms"),
    [("cellular", 2 / 3, 4.1, 41.7), ("pcs", 1 / 2, 13.6, 62.5), ("wlan", 1 / 2, 425, 8)],
)
def test_conferencing_sends_so_much(link: ProfileName, of_link: float, mean_kbit_s: float, interval_ms: float) -> None:
    """Table 5.1; the WLAN's mean is printed in three digits, and not rounded."""
    traffic = TRAFFIC[link]
    assert traffic.conference_rate == pytest.approx(of_link * traffic.link.rate)
    assert traffic.conference_mean_rate / 1e3 == pytest.approx(mean_kbit_s, rel=0.01)
    assert 1e3 * traffic.conference_interval == pytest.approx(interval_ms, abs=0.05)


def test_somebody_talks_425_thousandths_of_the_time() -> None:
    assert pytest.approx(0.4255, abs=5e-5) == SPEECH_ACTIVITY


@pytest.mark.parametrize(
    ("link", "tcp_kbit_s", "udp_kbit_s", "tcp_mean_kbit_s"),
    [("cellular", 4.8, 9.6, 10.3), ("pcs", 32, 32, 50.4), ("wlan", 1000, 1000, 1575)],
)
def test_the_scheduler_leaves_so_much(link: ProfileName, tcp_kbit_s: float, udp_kbit_s: float, tcp_mean_kbit_s: float) -> None:
    """Table 7.1 and section 7.3.1."""
    traffic = TRAFFIC[link]
    assert traffic.tcp_rate / 1e3 == pytest.approx(tcp_kbit_s)
    assert traffic.udp_rate / 1e3 == pytest.approx(udp_kbit_s)
    assert traffic.tcp_mean_rate / 1e3 == pytest.approx(tcp_mean_kbit_s, rel=2e-3)


@pytest.mark.parametrize("link", TRAFFIC)
def test_udp_gets_what_conferencing_needs(link: ProfileName) -> None:
    """What the shares of table 7.1 are for."""
    assert TRAFFIC[link].udp_rate == pytest.approx(TRAFFIC[link].conference_rate)
