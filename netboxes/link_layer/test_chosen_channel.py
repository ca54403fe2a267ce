# SPDX-License-Identifier: GPL-2.0-or-later
"""Every scheme on a channel whose losses, delays, repetitions and changes of order Hypothesis chooses, to break a promise.

`NETBOXIT_CHOSEN_STEPS=1000000 pytest netboxes/link_layer/test_chosen_channel.py` tries more than `make test`. In
test_random_channel.cc the channel is random: a million frames of each scheme in long transfers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import chain, count
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from netboxes.link_layer.testing.chosen_channel import LARGE_QUEUE, ChosenChannel, Steps
from netboxes.link_layer.testing.chosen_connection import ChosenConnection
from netboxes.link_layer.testing.promise import Facts
from netboxes.link_layer.testing.promises import PROMISES

#: A full frame takes a millisecond.
FACTS = Facts(rate=1e6, delay=1_000_000, frame=120)
STEPS = int(os.environ.get("NETBOXIT_CHOSEN_STEPS", "10000"))
#: The first sequences of a search are short.
SETTINGS = settings(
    max_examples=200, database=None, phases=[Phase.generate, Phase.shrink], suppress_health_check=list(HealthCheck)
)

Step = tuple[Any, ...]
Scheme = dict[str, Any]

ENDS = st.sampled_from((0, 1))
#: ns: from less than a short frame takes to longer than all timers.
TIMES = st.one_of(st.integers(1, 20), st.integers(20, 1000)).map(lambda tenths: tenths * 100_000)


#: Most do not limit.
QUEUES = st.sampled_from((LARGE_QUEUE, LARGE_QUEUE, LARGE_QUEUE, 1, 3))


@pytest.fixture(scope="module")
def steps() -> Iterator[Steps]:
    program = Steps()
    yield program
    program.close()


@st.composite
def schemes(draw: st.DrawFn, name: str, like: Scheme | None = None) -> Scheme:
    """Settings of a scheme; with `like`, those that can take the place of others while it works."""
    scheme: Scheme = {"scheme": name, "queue": LARGE_QUEUE}
    if name.startswith(("go-back-n", "sr")):
        bits = like["sequence_bits"] if like else draw(st.integers(3, 5))
        scheme |= {"sequence_bits": bits, "window": draw(st.integers(1, 2 ** (bits - 1)))}
        scheme |= {"timer": draw(st.integers(10, 300)) / 1e4, "ack_delay": draw(st.integers(1, 50)) / 1e4}
        scheme["repeats_first"] = name != "go-back-n" and _repeats_first(draw, like)
        scheme["fresh_acks"] = name != "go-back-n" and draw(st.booleans())
        scheme["queue"] = draw(QUEUES)
    elif name.startswith("rlp"):
        bits = like["sequence_bits"] if like else draw(st.integers(4, 6))
        ring = draw(st.integers(6, 2 ** (bits - 1)))
        # At least a round trip, and the safety condition of section 4.2.2.
        shortest = FACTS.round_trip + 2 * FACTS.time(2)
        longest = (ring - 1) * FACTS.time(FACTS.frame + 2) - FACTS.delay
        attempts = draw(st.integers(1, min(4, (longest - 1) // shortest)))
        timer = draw(st.integers(shortest, (longest - 1) // attempts))
        scheme |= {"sequence_bits": bits, "ring": ring, "attempts": attempts, "timer": timer / 1e9}
        scheme["keepalive"] = draw(st.integers(10, 200)) / 1e4
        scheme["repeats_first"] = _repeats_first(draw, like)
    elif name.startswith("xor"):
        scheme["block"] = like["block"] if like else draw(st.one_of(st.integers(1, 4), st.sampled_from((8, 84, 85, 127))))
        if name == "xor-adaptive":
            scheme["inactivity"] = draw(st.integers(5, 50)) / 1e4
    elif name == "none":
        scheme["queue"] = draw(QUEUES)
    return scheme


def _repeats_first(draw: st.DrawFn, like: Scheme | None) -> bool:
    return bool(like["repeats_first"]) if like else draw(st.booleans())


def sizes(name: str) -> st.SearchStrategy[int]:
    """Of packets. RLP's safety condition counts full frames: shorter ones go round its numbers sooner."""
    return st.just(FACTS.frame) if name.startswith("rlp") else st.integers(1, FACTS.frame)


def steps_of(scheme: Scheme) -> st.SearchStrategy[list[Step]]:
    """A scheme's packets, and what becomes of its frames."""
    name = scheme["scheme"]
    return _sequences(sizes(name), st.tuples(st.just("set"), schemes(name, scheme)))


def _sequences(size: st.SearchStrategy[int], changes: st.SearchStrategy[Step]) -> st.SearchStrategy[list[Step]]:
    sends = st.tuples(st.just("send"), ENDS, size, st.integers(1, 6))
    bursts = st.tuples(st.just("burst"), ENDS, size, st.lists(st.sampled_from("pppllkr"), min_size=1, max_size=10))
    first = st.sampled_from((0, 0, 0, 1, 2, 3, 7))
    fates = st.one_of(
        st.tuples(st.just("pass"), ENDS, first, st.integers(1, 6)),
        st.tuples(st.just("lose"), ENDS, first, st.sampled_from((1, 1, 1, 2, 3, 9))),
        st.tuples(st.just("repeat"), ENDS, first, st.just(1)),
    )
    times = st.one_of(st.tuples(st.just("advance"), TIMES), st.tuples(st.just("run"), TIMES))
    windows = st.tuples(st.just("window"), st.integers(0, 15))
    step = st.one_of(sends, fates, bursts, fates, bursts, times, fates, sends, times, changes, windows)
    return _many(step)


def _many(step: st.SearchStrategy[Step]) -> st.SearchStrategy[list[Step]]:
    """Lists of a few lists: long ones come often, and each step can be left out where they are made shorter."""
    return st.lists(st.lists(step, max_size=40), max_size=40).map(lambda lists: list(chain.from_iterable(lists)))


def take(channel: ChosenChannel, step: Step) -> None:
    match step:
        case ("send", end, size, times):
            for _ in range(times):
                channel.send(end, size)
        case ("burst", end, size, fates):
            _burst(channel, end, size, fates)
        case ("run", time):
            channel.run(time)
        case ("set", scheme):
            channel.set(scheme)
        case ("window", frames):
            scheme = channel.promise.scheme
            if "window" in scheme:
                channel.set({**scheme, "window": 1 + frames % 2 ** (scheme["sequence_bits"] - 1)})
        case ("change", scheme):
            channel.change(scheme)
        case _:
            _take_fate(channel, step)


def _take_fate(channel: ChosenChannel | ChosenConnection, step: Step) -> None:
    """What becomes of frames, and time that passes."""
    match step:
        case ("pass", end, number, times):
            for _ in range(times):
                channel.pass_frame(end, number)
        case ("lose", end, number, times):
            for _ in range(times):
                channel.lose(end, number)
        case ("repeat", end, number, _):
            channel.pass_frame(end, number, stays=True)
        case ("advance", time):
            channel.advance(time)


def _meet(channel: ChosenChannel | ChosenConnection, end: int, fates: list[str]) -> None:
    """A frame each is passed, lost, kept on the air, or repeated."""
    number = 0
    for fate in fates:
        match fate:
            case "p":
                channel.pass_frame(end, number)
            case "l":
                channel.lose(end, number)
            case "k":
                number += 1
            case "r":
                channel.pass_frame(end, number, stays=True)
                number += 1


def _burst(channel: ChosenChannel, end: int, size: int, fates: list[str]) -> None:
    """Packets, and what becomes of a frame each."""
    for _ in fates:
        channel.send(end, size)
    channel.advance(len(fates) * FACTS.time(FACTS.frame + 5))
    _meet(channel, end, fates)


@pytest.mark.parametrize("name", PROMISES)
def test_each_scheme_keeps_its_promises(name: str, steps: Steps) -> None:
    @SETTINGS
    @given(st.data())
    def keeps(data: st.DataObject) -> None:
        scheme = data.draw(schemes(name), label="scheme")
        _all_is_kept(steps, scheme, data.draw(steps_of(scheme), label="steps"))

    _take_all(steps, keeps)


def test_schemes_that_change_keep_their_promises(steps: Steps) -> None:
    @SETTINGS
    @given(_any_scheme(), _changing())
    def keeps(scheme: Scheme, sequence: list[Step]) -> None:
        _all_is_kept(steps, scheme, sequence)

    _take_all(steps, keeps)


def _snooped() -> st.SearchStrategy[list[Step]]:
    """Segments of a connection that Snoop follows, acknowledgements of its own accord, and what becomes of its frames."""
    first = st.sampled_from((0, 0, 0, 1, 2, 3, 7))
    fate = st.one_of(
        st.tuples(st.just("pass"), ENDS, first, st.integers(1, 6)),
        st.tuples(st.just("lose"), ENDS, first, st.sampled_from((1, 1, 1, 2, 3, 12))),
        st.tuples(st.just("repeat"), ENDS, first, st.just(1)),
    )
    sizes = st.integers(1, FACTS.frame - 40)
    fates = st.lists(st.sampled_from("pppplk"), min_size=1, max_size=10)
    burst = st.tuples(st.just("burst"), sizes, fates, fates)
    step = st.one_of(
        st.tuples(st.just("send"), sizes, st.integers(1, 6)),
        *(burst, fate, burst, fate, burst),
        st.tuples(st.just("advance"), st.one_of(TIMES, st.sampled_from((200_000_000, 3_000_000_000)))),
        st.tuples(st.just("fade"), st.sampled_from((1, 2, 12))),
        st.tuples(st.just("again"), st.integers(0, 9)),
        st.tuples(st.just("answer"), st.sampled_from((0, 0, 0, 10))),
        st.tuples(st.just("window"), st.sampled_from((1000, 1000, 2000))),
    )
    return _many(step)


def _take_of_connection(connection: ChosenConnection, step: Step) -> None:
    match step:
        case ("send", size, times):
            for _ in range(times):
                connection.send(size)
        case ("burst", size, of_segments, of_acknowledgements):
            for _ in of_segments:
                connection.send(size)
            for end, fates in ((0, of_segments), (1, of_acknowledgements)):
                connection.advance(len(of_segments) * FACTS.time(FACTS.frame + 5))
                _meet(connection, end, fates)
        case ("fade", timers):
            for _ in range(timers):
                connection.advance(3_000_000_000)
                connection.lose(0, 0)
        case ("again", number):
            connection.send_again(number)
        case ("answer", payload):
            connection.answer(payload)
        case ("window", window):
            connection.window = window
        case _:
            _take_fate(connection, step)


def test_snoop_hides_losses_and_harms_no_connection(steps: Steps) -> None:
    @SETTINGS
    @given(st.sampled_from((1, 2, 5, 100)), st.sampled_from((0.1, 2.0)), st.sampled_from((0, (1 << 32) - 300)), _snooped())
    def keeps(cache: int, timer_floor: float, first: int, sequence: list[Step]) -> None:
        scheme = {"scheme": "snoop", "cache": cache, "connections": 2, "timer_floor": timer_floor, "queue": LARGE_QUEUE}
        connection = ChosenConnection(steps, FACTS, scheme, first)
        for step in sequence:
            _take_of_connection(connection, step)
        connection.settle()

    _take_all(steps, keeps)


def _take_all(steps: Steps, keeps: Callable[[], None]) -> None:
    """Sequences, the same in each run, until the program has done so many steps."""
    until = steps.done + STEPS
    for number in count():
        if steps.done >= until:
            return
        seed(number)(keeps)()


def _all_is_kept(steps: Steps, scheme: Scheme, sequence: list[Step]) -> None:
    channel = ChosenChannel(steps, FACTS, scheme)
    for step in sequence:
        take(channel, step)
    channel.settle()


def _any_scheme() -> st.SearchStrategy[Scheme]:
    """A raw link has a large queue: what waits there goes on when the scheme changes, and the model would not know what does."""
    any_scheme = st.sampled_from(sorted(PROMISES)).flatmap(schemes)
    return any_scheme.map(lambda scheme: {**scheme, "queue": LARGE_QUEUE} if scheme["scheme"] == "none" else scheme)


def _changing() -> st.SearchStrategy[list[Step]]:
    return _sequences(sizes("rlp"), st.tuples(st.just("change"), _any_scheme()))
