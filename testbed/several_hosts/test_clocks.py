# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.several_hosts import clocks
from testbed.several_hosts.clocks import Answering, ClocksNotCompared, Exchange, compare, new_token, own_clock, reading
from tests.namespaces import Namespace, join

START_NS = 1_700_000_000_000_000_000
HERE, THERE = "192.0.2.1", "192.0.2.2"

nanoseconds = st.integers(0, 50_000_000)


def exchange(offset_ns: int, begin_ns: int, there_ns: int, answering_ns: int, back_ns: int) -> Exchange:
    """As clocks of known offset would stamp it: the ways there and back take other times."""
    arrived = START_NS + begin_ns + there_ns
    returned = arrived + answering_ns + back_ns
    return Exchange(START_NS + begin_ns, arrived + offset_ns, arrived + answering_ns + offset_ns, returned)


@given(
    offset_ns=st.integers(-(10**12), 10**12),
    ways=st.lists(st.tuples(nanoseconds, nanoseconds, nanoseconds), min_size=1, max_size=20),
)
def test_the_offset_is_never_further_off_than_the_stated_error(offset_ns: int, ways: list[tuple[int, int, int]]) -> None:
    found = reading([exchange(offset_ns, number * 10**9, *way) for number, way in enumerate(ways)])
    assert found is not None
    assert abs(found["offset_ns"] - offset_ns) <= found["error_ns"]
    assert found["round_trip_ns"] == min(there + back for there, _, back in ways)
    assert Fraction(found["round_trip_ns"], 2) <= found["error_ns"] <= Fraction(found["round_trip_ns"], 2) + 1
    assert found["samples"] == len(ways)


def test_the_fastest_exchange_counts_and_says_when_it_was() -> None:
    slow, fast = exchange(5_000, 0, 900_000, 10_000, 100_000), exchange(5_000, 10**9, 20_000, 30_000, 24_000)
    found = reading([slow, fast, slow])
    assert found == {
        "offset_ns": 3_000,
        "error_ns": 22_001,
        "round_trip_ns": 44_000,
        "samples": 3,
        "at_ns": START_NS + 10**9 + 37_000,
    }


def test_an_exchange_in_which_a_clock_was_set_tells_nothing() -> None:
    set_back = Exchange(START_NS, START_NS + 5_000, START_NS + 10**9, START_NS + 20_000)
    assert reading([set_back]) is None
    sound = exchange(0, 0, 10_000, 0, 10_000)
    assert reading([set_back, sound]) == reading([sound])


def test_ones_own_clock_is_not_off() -> None:
    assert (own_clock()["offset_ns"], own_clock()["error_ns"]) == (0, 0)


def test_who_does_not_know_the_token_is_not_answered() -> None:
    with (
        closing(Answering("127.0.0.1", new_token())) as answering,
        pytest.raises(ClocksNotCompared, match=r"packet filter.*allow UDP"),
    ):
        compare("127.0.0.1", answering.port, new_token(), exchanges=8)


def test_no_more_is_answered_than_was_allowed() -> None:
    token = new_token()
    with closing(Answering("127.0.0.1", token, most=5)) as answering:
        assert compare("127.0.0.1", answering.port, token, exchanges=10)["samples"] == 5


def test_one_listens_no_longer_than_was_allowed() -> None:
    token = new_token()
    with closing(Answering("127.0.0.1", token, for_s=0.0)) as answering:
        answering.close()
        with pytest.raises(ClocksNotCompared):
            compare("127.0.0.1", answering.port, token, exchanges=4)


def test_an_address_of_somebody_else_is_refused() -> None:
    with pytest.raises(ClocksNotCompared, match="netboxit_address"):
        Answering("192.0.2.77", new_token())
    with pytest.raises(ClocksNotCompared, match="not-an-address"):
        compare("not-an-address", 1, new_token())


def test_what_is_no_question_is_passed_over() -> None:
    token = new_token()
    with closing(Answering("127.0.0.1", token)) as answering, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        for data in (b"", b"x", bytes(clocks._DATAGRAM.size), bytes(5_000)):
            stranger.sendto(data, ("127.0.0.1", answering.port))
        assert compare("127.0.0.1", answering.port, token, exchanges=10)["samples"] == 10
        stranger.setblocking(False)
        with pytest.raises(BlockingIOError):
            stranger.recv(100)


@pytest.fixture
def two_networks() -> Iterator[tuple[Namespace, Namespace]]:
    with Namespace("here") as here, Namespace("there") as there:
        join(here, "wire", "02:00:00:00:00:01", there, "wire", "02:00:00:00:00:02")
        for space, address, more in ((here, HERE, "fd00::1"), (there, THERE, "fd00::2")):
            with space.inside():
                Path("/proc/sys/net/ipv6/conf/wire/disable_ipv6").write_text("0")
            assert space.run("ip", "address", "add", f"{address}/24", "dev", "wire").returncode == 0
            assert space.run("ip", "address", "add", f"{more}/64", "dev", "wire", "nodad").returncode == 0
        yield here, there


@pytest.mark.lab
@pytest.mark.parametrize("addresses", [(HERE, THERE), ("fd00::1", "fd00::2")])
def test_two_networks_of_one_machine_have_one_clock(
    two_networks: tuple[Namespace, Namespace], addresses: tuple[str, str]
) -> None:
    """The sockets stay in the network in which they were opened."""
    (here, there), token = two_networks, new_token()
    with there.inside():
        answering = Answering(addresses[1], token)
    with closing(answering), here.inside():
        found = compare(addresses[1], answering.port, token, own_address=addresses[0])
    assert abs(found["offset_ns"]) <= found["error_ns"]
    assert found["samples"] >= clocks.EXCHANGES // 2
    assert 0 < found["round_trip_ns"] < 100_000_000
