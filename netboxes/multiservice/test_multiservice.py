# SPDX-License-Identifier: GPL-2.0-or-later
"""A link with a multi-service link layer in virtual time: delays, recovery, services beside each other, changes while it runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from contracts.names import repetition_seed
from netboxes.engine.virtual import Change, Emulation, EmulationFailed, TimedFrame, emulate, udp
from netboxes.multiservice.profiles import ProfileName
from netboxes.multiservice.validation import recovery_delays
from results.records import Fate
from testbed.description.topology_file import load

CHECKOUT = Path(__file__).parents[2]
BASE, MOBILE = 0, 1
STREAM, SPEECH = 10, 46
CLASSES = [
    {"name": "stream", "match": {"dscp": [STREAM]}},
    {"name": "speech", "match": {"dscp": [SPEECH]}},
]
#: Bytes of a frame (Xylomenos 1999, tables 3.1 to 3.3).
FRAME = {"cellular": 50, "pcs": 250, "wlan": 1000}
RATE = {"cellular": 14.4e3, "pcs": 64e3, "wlan": 2e6}
DELAY_S = {"cellular": 0.1, "pcs": 0.05, "wlan": 0.003}


def packets(times: Iterable[float], payload: int, dscp: int = SPEECH, source: int = BASE) -> list[TimedFrame]:
    ports = (40000 + dscp, 5004 + dscp)
    return [(at, udp(source, MOBILE - source, payload, dscp=dscp, identification=n, ports=ports)) for n, at in enumerate(times)]


def over(link: dict[str, Any], base: Sequence[TimedFrame], mobile: Sequence[TimedFrame] = (), **options: Any) -> Emulation:
    parameters = {"stations": {"base": {}, "mobile": {}}, **link}
    return emulate("multiservice", parameters, {"base": base, "mobile": mobile}, classes=CLASSES, **options)


def losing(lost: Iterable[int]) -> Change:
    """Before the first packet: which frames of the base are lost, in turn; none after those."""
    return 0.5, "base.errors", {"model": "lost-frames", "frames": list(map(int, lost)), "repeat": False}


def numbers(ran: Emulation, station: str = "mobile") -> list[int]:
    return [int.from_bytes(data[42:46], "big") for _, data in ran.received[station]]


def arrivals(ran: Emulation, station: str = "mobile") -> dict[int, float]:
    return dict(zip(numbers(ran, station), [at for at, _ in ran.received[station]], strict=True))


def service(ran: Emulation, name: str, station: str = "base") -> dict[str, Any]:
    counts: dict[str, Any] = ran.statistics["segment"]["stations"][station]["services"][name]
    return counts


def wired(frames: Sequence[TimedFrame], rate: str, delay: str) -> list[TimedFrame]:
    """What comes out at the other end of a wire."""
    ran = emulate("link", {"stations": {"a": {}, "b": {}}, "rate": rate, "delay": delay, "overhead": "0 B"}, {"a": frames})
    return ran.received["b"]


@pytest.mark.parametrize(
    ("profile", "lan1", "wan1", "lan2", "wan2"),
    [
        ("cellular", 129.4, 178.5, 257.7, 306.9),
        ("pcs", 82.6, 132.4, 164.0, 213.8),
        ("wlan", 8.80, 61.0, 15.8, 68.0),
    ],
)
def test_without_recovery_a_packet_takes_the_time_of_its_path(
    profile: str, lan1: float, wan1: float, lan2: float, wan2: float
) -> None:
    """His topologies (3.3): a wired LAN (10 Mbit/s, 1 ms) or WAN (2 Mbit/s, 50 ms), and one wireless link, or one at each end."""
    measured = []
    for two in (False, True):
        for rate, delay in (("10 Mbit/s", "1 ms"), ("2 Mbit/s", "50 ms")):
            frames = packets([1.0], FRAME[profile])
            if two:
                frames = over({"profile": profile}, frames).received["mobile"]
            frames = wired(frames, rate, delay)
            measured.append(1e3 * (over({"profile": profile}, frames).received["mobile"][0][0] - 1))
    # Wires carry 28 bytes of headers more here.
    assert measured == pytest.approx([lan1, wan1, lan2, wan2], abs=1)


@pytest.mark.parametrize(
    ("profile", "published_ms", "computed_ms"),
    [("cellular", (130, 259), (130.0, 258.889)), ("pcs", (142, 163), (141.75, 163.25)), ("wlan", (18, 14), (18.036, 14.024))],
)
def test_delays_of_recovery_follow_from_a_frames_time(
    profile: ProfileName, published_ms: tuple[float, float], computed_ms: tuple[float, float]
) -> None:
    """Table 5.2 by its formulas, with the time F of a frame and its header of 2 bytes: parity 4.5 F, RLP 2 F, a NAK of 2 bytes,
    and the way twice."""
    frame_s = 8 * (FRAME[profile] + 2) / RATE[profile]
    formulas = (4.5e3 * frame_s, 1e3 * (2 * frame_s + 16 / RATE[profile] + 2 * DELAY_S[profile]))
    assert formulas == pytest.approx(computed_ms, abs=1e-3)
    assert formulas == pytest.approx(published_ms, abs=1)
    assert recovery_delays(profile) == pytest.approx(formulas, abs=1e-3)


@pytest.mark.parametrize(
    ("level", "lost", "lost_of_two"), [(1, 0.020, 0.040), (2, 0.079, 0.158), (3, 0.488, 0.973), (4, 1.900, 3.764)]
)
def test_rlp_that_asks_once_leaves_the_losses_of_a_second_chance(level: int, lost: float, lost_of_two: float) -> None:
    """p (1 - (1 - p)^2): a frame is lost, and then its NAK or its repetition."""
    count = 60_000
    link = {
        "profile": "cellular",
        "errors": {"level": level},
        "services": [{"class": "speech", "scheme": "rlp-oos", "attempts": 1}],
    }
    interval_s = 8 * 50 / 9.6e3
    first = over(link, packets(1 + interval_s * np.arange(count), 50), seed=level).received["mobile"]
    again = over(link, first, seed=level + 100).received["mobile"]
    for arrived, expected in ((first, lost / 100), (again, lost_of_two / 100)):
        deviation = sqrt(expected * (1 - expected) / count)
        assert 1 - len(arrived) / count == pytest.approx(expected, abs=3 * deviation)


def test_one_service_without_recovery_is_a_plain_link() -> None:
    """Each frame has the byte of its service and, as a real one, the byte that names the packet's protocol."""
    chance = np.random.default_rng(7)
    times = 1 + np.cumsum(chance.exponential(4e-3, 3000))
    frames = [(at, udp(BASE, MOBILE, int(chance.integers(0, 960)), identification=n)) for n, at in enumerate(times)]
    layered = over({"profile": "wlan", "accounting": "real", "services": [{"class": "default", "queue": 1000}]}, frames)
    plain = emulate(
        "link", {"stations": {"a": {}, "b": {}}, "rate": "2 Mbit/s", "delay": "3 ms", "overhead": "2 B"}, {"a": frames}
    )
    assert [data for _, data in layered.received["mobile"]] == [data for _, data in plain.received["b"]]
    departures = [[at for at, _ in received] for received in (layered.received["mobile"], plain.received["b"])]
    assert departures[0] == pytest.approx(departures[1], abs=1e-9)


#: A file transfer that keeps a queue full, and a call within its share of the cellular link, 6.4 kbit/s.
TRANSFER = packets(1 + 0.02 * np.arange(5000), 50, STREAM)
CALL = packets(1 + 8 * 50 / 6.4e3 * np.arange(1400), 50, SPEECH)


def call_delays_ms(services: list[dict[str, Any]], pacing: str, **link: Any) -> NDArray[np.float64]:
    ran = over({"profile": "cellular", "services": services, "pacing": pacing, **link}, sorted(TRANSFER + CALL))
    call = ran.records[(ran.records["class"] == 1) & (ran.records["fate"] == Fate.DELIVERED)]
    return np.asarray((call["out_ns"] - call["in_ns"]) / 1e6, np.float64)


def test_services_keep_a_call_apart_from_a_transfer_and_pacing_undoes_it() -> None:
    """Its study's own warning (8.2.1): paced packets wait above the services, in one queue for all."""
    one = [{"class": "default"}]
    two = [{"class": "stream", "share": 0.33}, {"class": "speech", "share": 0.66}]
    alone, paced_alone = (call_delays_ms(one, pacing) for pacing in ("none", "packet"))
    shared, paced = (call_delays_ms(two, pacing) for pacing in ("none", "packet"))
    frame_ms = 1e3 * 8 * 51 / 14.4e3
    # A frame in transmission is not interrupted, and one of the transfer may be before it in turn.
    assert shared.mean() < 100 + 3 * frame_ms
    assert alone.mean() > 100 + 25 * frame_ms
    assert list(paced) == list(paced_alone)
    assert paced.mean() > 100 + 25 * frame_ms


def test_with_lines_by_class_above_the_link_layer_paced_calls_wait_little() -> None:
    two = [{"class": "stream", "share": 0.33}, {"class": "speech", "share": 0.66}]
    queue = {"discipline": "scfq", "weights": {"stream": 1, "speech": 2}}
    assert call_delays_ms(two, "packet", queue=queue).mean() < 100 + 4 * 1e3 * 8 * 51 / 14.4e3


def test_backlogged_services_share_the_link_as_they_are_told() -> None:
    """Table 7.1: 0.33 and 0.66 of the cellular link are 4.8 and 9.6 kbit/s."""
    services = [{"class": "stream", "share": 0.33}, {"class": "speech", "share": 0.66}]
    times = 1 + 0.02 * np.arange(5000)
    ran = over({"profile": "cellular", "services": services}, sorted(packets(times, 50, STREAM) + packets(times, 50, SPEECH)))
    span_s = 80.0
    arrived = ran.records[
        (ran.records["fate"] == Fate.DELIVERED) & (ran.records["out_ns"] > 10e9) & (ran.records["out_ns"] < 90e9)
    ]
    rates = [8 * 51 * int((arrived["class"] == number).sum()) / span_s for number in (0, 1)]
    assert rates == pytest.approx([4.8e3, 9.6e3], abs=8 * 51 / span_s * 2)


@pytest.mark.parametrize(
    ("accounting", "pieces", "bytes_each"), [("payload", 9, 9 + 410), ("real", 11, 11 + 438 + 1 + 4 + 5 * 10)]
)
def test_long_packets_go_in_pieces(accounting: str, pieces: int, bytes_each: int) -> None:
    """410 bytes of payload in frames of 50; 438 bytes of IP with RFC 4944's headers, 40 of them in each frame."""
    ran = over({"profile": "cellular", "accounting": accounting}, packets([1.0], 410))
    sent = ran.statistics["segment"]["stations"]["base"]
    assert (sent["frames_sent"], sent["sent_bytes"]) == (pieces, bytes_each)
    assert 1e3 * (ran.received["mobile"][0][0] - 1) == pytest.approx(100 + 1e3 * 8 * bytes_each / 14.4e3, abs=1e-3)


def test_a_packet_is_lost_with_any_of_its_pieces() -> None:
    events = [losing([0, 0, 0, 1])]
    lost = over({"profile": "cellular"}, packets([1.0, 5.0], 200), events=events)
    assert numbers(lost) == [1]
    assert lost.records["fate"].tolist() == [Fate.ON_AIR, Fate.DELIVERED]
    services = [{"class": "speech", "scheme": "sr-m2"}]
    repaired = over({"profile": "cellular", "services": services}, packets([1.0, 5.0], 200), events=events)
    assert numbers(repaired) == [0, 1]
    assert service(repaired, "speech")["retransmissions"] == 1


@pytest.mark.parametrize("accounting", ["payload", "real"])
@pytest.mark.parametrize("scheme", ["go-back-n", "sr", "sr-m1", "sr-m2", "rlp"])
@pytest.mark.parametrize("profile", ["cellular", "pcs", "wlan"])
def test_schemes_in_sequence_deliver_in_order_at_the_most_errors(scheme: str, profile: str, accounting: str) -> None:
    """All of it, but what RLP has given up after three attempts. With real accounting headers are read from their bytes."""
    count = 1500
    interval_s = 10 * 8 * FRAME[profile] / RATE[profile]
    services = [{"class": "speech", "scheme": scheme}]
    link = {"profile": profile, "errors": {"level": 4}, "services": services, "accounting": accounting}
    payload = FRAME[profile] - (29 if accounting == "real" else 0)
    ran = over(link, packets(1 + interval_s * np.arange(count), payload))
    arrived = numbers(ran)
    assert arrived == sorted(set(arrived))
    if scheme == "rlp":
        assert len(arrived) + service(ran, "speech", "mobile")["lost"] == count
    else:
        assert len(arrived) + sum(service(ran, "speech")["dropped"].values()) == count
    assert service(ran, "speech")["retransmissions"] > 0


def test_every_scheme_meets_the_same_fades() -> None:
    """Probes of a class of their own, seldom enough that they wait for nobody's frames."""
    fades = {"model": "gilbert-elliott-in-time", "good": "20 s", "bad": "5 s"}
    probes = packets(np.arange(1, 2000, 2.0), 50, dscp=0)
    call = packets(np.arange(2.0, 2000, 2.0), 50)
    lost = []
    for scheme in ("none", "rlp-oos", "xor", "sr-m2"):
        ran = over(
            {"profile": "pcs", "errors": fades, "services": [{"class": "speech", "scheme": scheme}]}, sorted(probes + call)
        )
        of_probes = ran.records[ran.records["class"] == 2]
        lost.append(np.asarray(of_probes["fate"] == Fate.ON_AIR))
    assert 0.1 < lost[0].mean() < 0.3
    # A probe that waits for a frame of a call can begin after a fade has begun, or ended.
    assert all((other != lost[0]).mean() < 0.01 for other in lost)


def test_another_scheme_takes_over_what_is_under_way_also_with_a_full_window() -> None:
    """At one time 127 frames wait for an acknowledgement; from then on others repeat them."""
    count = 127
    other = [
        {"class": "speech", "scheme": "rlp", "share": 1.0, "queue": 1000},
    ]
    services = [{"class": "speech", "scheme": "sr-m2", "queue": 1000}]
    link = {"profile": "cellular", "errors": {"probability": 0.3}, "services": services}
    ran = over(link, packets([1.0] * count, 50), events=[(2.5, "services", other)])
    arrived = numbers(ran)
    assert arrived == sorted(set(arrived))
    assert len(arrived) + service(ran, "speech", "mobile")["lost"] >= count - 1
    assert service(ran, "speech")["scheme"] == "rlp"
    assert set(ran.records["fate"].tolist()) <= {Fate.DELIVERED, Fate.RETRY_LIMIT}


def test_a_service_chooses_by_loss_and_can_be_told_another_scheme_meanwhile() -> None:
    """At 5 % of losses RLP, at none nothing; a live change of the services has its own word."""
    choices = [{"scheme": "none"}, {"scheme": "rlp", "above": 0.01}]
    lossy, clean = ({"model": "independent", "probability": loss} for loss in (0.05, 0.0))
    told = [{"class": "speech", "scheme": "sr-m2", "share": 1.0, "queue": 1000}]
    ran = over(
        {
            "profile": "wlan",
            "errors": {"probability": 0.0},
            "services": [{"class": "speech", "scheme": "by-loss", "choices": choices}],
        },
        packets(np.arange(1, 40, 0.01), 200),
        events=[(5.0, "errors", lossy), (15.0, "errors", clean), (20.0, "services", told), (30.0, "errors", lossy)],
        interval_s=1.0,
    )
    schemes = {
        round(line["at_s"]): [line["statistics"]["stations"][end]["services"]["speech"]["scheme"] for end in ("base", "mobile")]
        for line in ran.journal
        if "statistics" in line
    }
    assert [schemes[at_s] for at_s in (4, 9, 18, 25, 35)] == [[name] * 2 for name in ("none", "rlp", "none", "sr-m2", "sr-m2")]
    arrived = numbers(ran)
    assert len(set(arrived)) == len(arrived)
    gone = sorted(set(range(3900)) - set(arrived))
    # Before it has chosen; RLP gives up after three attempts, one in 8000 frames.
    assert all(number < 700 for number in gone[:-2])


def test_one_end_can_name_the_service_of_default_that_the_other_has_unnamed() -> None:
    told = [{"class": "default", "scheme": "none", "share": 1.0, "queue": 5}]
    ran = over({"profile": "cellular"}, packets([1.0, 2.0, 3.0], 50), events=[(1.5, "mobile.services", told)])
    assert numbers(ran) == [0, 1, 2]


def test_error_levels_shares_and_timers_change_while_it_runs() -> None:
    events: list[Change] = [
        (50.0, "errors", {"model": "level", "level": 4}),
        (100.0, "base.errors", {"model": "independent", "probability": 1.0}),
        (150.0, "errors", {"model": "independent", "probability": 0.0}),
    ]
    times = np.arange(1, 200, 0.1)
    ran = over({"profile": "cellular"}, packets(times, 50), events=events)
    gone = np.asarray(ran.records["fate"] == Fate.ON_AIR)
    at_s = np.asarray(ran.records["in_ns"] / 1e9)
    shares = [gone[(at_s >= begin) & (at_s < begin + 49)].mean() for begin in (0, 50, 100, 150)]
    assert shares[0] == shares[3] == 0
    assert 0.05 < shares[1] < 0.16
    assert shares[2] == 1


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("errors", {"model": "level", "level": 5}, "its level is a whole number from 1 to 4"),
        ("timer_factor", "twice", "timer_factor"),
        ("services", [{"class": "speech", "scheme": "arq", "share": 1, "queue": 5}], "its [0].scheme is one of none go-back-n"),
        ("services", [{"class": "video", "scheme": "none", "share": 1, "queue": 5}], "class 'video', which the netbox does not"),
        ("services", [{"class": "speech", "scheme": "none", "share": 1, "queue": 5}] * 2, "two services are for class 'speech'"),
        ("services", [{"scheme": "none", "share": 1, "queue": 5}], "class"),
        ("services", [{"class": "speech", "scheme": "sr", "share": 1, "queue": 5, "window": 200}], "half of the 256 sequence"),
        ("base.services", [{"class": "speech", "scheme": "sr", "share": 1, "queue": 5}], "ends"),
    ],
)
def test_bad_live_changes_are_refused(parameter: str, value: Any, message: str) -> None:
    with pytest.raises(EmulationFailed) as failed:
        over({"profile": "cellular"}, packets([1.0], 50), events=[(0.5, parameter, value)])
    assert message in str(failed.value)


def test_a_link_that_is_down_loses_what_is_sent_and_says_so() -> None:
    events: list[Change] = [(10.05, "base.up", False), (20.05, "up", True)]
    ran = over({"profile": "wlan"}, packets(np.arange(1, 30, 0.1), 50), events=events)
    gone = ran.records[ran.records["fate"] == Fate.ON_AIR]["in_ns"] / 1e9
    assert (gone.min(), gone.max(), len(gone)) == (pytest.approx(10.1), pytest.approx(20.0), 100)
    assert [
        (line["event"], line["station"]) for line in ran.journal if "event" in line and line["event"].startswith("link_")
    ] == [
        ("link_down", "mobile"),
        ("link_up", "mobile"),
    ]


def test_the_same_seed_gives_the_same_run() -> None:
    link = {"profile": "pcs", "errors": {"level": 4}, "services": [{"class": "speech", "scheme": "sr-m1"}]}
    first, again, other = (over(link, packets(np.arange(1, 200, 0.1), 250), seed=seed) for seed in (3, 3, 4))
    assert (first.records == again.records).all()
    assert (first.records["out_ns"] != other.records["out_ns"]).any()


def test_the_example_is_sound() -> None:
    assert load(CHECKOUT / "topologies" / "multiservice.yaml").netboxes["air"].technology == "multiservice"


def lost_on_the_air(ran: Emulation) -> NDArray[np.bool_]:
    """Of each frame, in the order in which they entered."""
    records = np.sort(ran.records, order="in_ns")
    return np.asarray(records["fate"] != Fate.DELIVERED)


def test_losses_of_two_repetitions_have_nothing_in_common() -> None:
    """With the seeds 1 and 3, as they are, they correlate by 0.45: ns-3's generator is linear in its state."""
    count = 20_000
    link = {"profile": "cellular", "errors": {"level": 4}}
    sent = packets(1 + 0.05 * np.arange(count), 50)
    first, third = (lost_on_the_air(over(link, sent, seed=repetition_seed(1, number))) for number in (0, 2))
    assert 0.09 < first.mean() < 0.11
    assert abs(np.corrcoef(first, third)[0, 1]) < 4 / sqrt(count)


def test_the_fades_of_the_two_directions_are_independent() -> None:
    """9.529 % of PCS's frames are lost at level 4 (1.2.1), and the square of it in both directions at once."""
    count, expected = 8_000, 0.09529
    times = 1 + 20.0 * np.arange(count)
    link = {"profile": "pcs", "errors": {"level": 4}}
    ran = over(link, packets(times, 250), packets(times, 250, source=MOBILE), seed=repetition_seed(1, 0))
    lost = [
        lost_on_the_air(replace(ran, records=ran.records[ran.records["station_in"] == station])) for station in (BASE, MOBILE)
    ]
    assert [own.size for own in lost] == [count] * 2
    for own, share in ((lost[0], expected), (lost[1], expected), (lost[0] & lost[1], expected**2)):
        assert own.mean() == pytest.approx(share, abs=3 * sqrt(share * (1 - share) / count))
