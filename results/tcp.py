# SPDX-License-Identifier: GPL-2.0-or-later
"""TCP as captures show it: what of each connection's data was sent again, how long it was on its way, what came in what order.

A stream is the data of one direction of a connection. What its sender did is seen at the sender's host, what arrived at the
receiver's. A host whose captures do not have the stream says nothing of it: figures that need it are None. Of a run with a
warm-up, figures are of what was sent after it. docs/measuring.md ("TCP") has the definitions.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from results.segments import ACK, FIN, RST, SYN, Ends, Segments
from results.statistics import Values

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: Streams of a run that are told, those of the most bytes.
MOST: Final = 1000
#: Numbers of a connection that follow each other in a capture are no further apart than the largest window (RFC 7323, 2.3).
_LARGEST_WINDOW: Final = 1 << 30


class Delivered(NamedTuple):
    """When more of a stream had arrived in order, ns, and how many bytes then; each byte counts once."""

    times_ns: Numbers
    bytes: Numbers


@dataclass(frozen=True)
class AtSender:
    """What the sender's host saw."""

    #: When the first byte of data was sent, and from when on the stream counts: later where it began in the warm-up.
    first_ns: int
    since_ns: int
    last_ns: int
    #: Bytes that were sent, each once; those that were sent although no segment with them was captured are in `unseen_bytes`.
    bytes: int
    unseen_bytes: int
    #: Segments with data as captured; with segmentation offload one is several on the wire.
    segments: int
    largest_segment: int
    #: Segments with bytes that had been sent before, and how many such bytes.
    retransmissions: int
    retransmitted_bytes: int
    duplicate_acks: int
    #: From data to its acknowledgement.
    rtt_ms: Values
    #: Unacknowledged bytes at each change, and for how long there were so many, ns.
    in_flight: Numbers
    in_flight_ns: Numbers
    #: The receiver's window, and for how long, ns; None where no SYN told its scale.
    window: Numbers | None
    window_ns: Numbers


@dataclass(frozen=True)
class Reordering:
    """Of the segments that arrived (RFC 4737): each one that came after one which was sent later.

    `extent` is by how many places (4.2.2), `late_ms` by how much (4.2.3).
    """

    segments: int
    extent: Numbers
    late_ms: Values


@dataclass(frozen=True)
class Stream:
    """The data of one direction of a connection."""

    ends: Ends
    #: Connections of the same ends before it in the run.
    earlier: int
    #: None of what has no host in the topology.
    source: str | None
    destination: str | None
    #: How the connection ended, as far as captures show.
    ended: Literal["fin", "reset", "open"]
    #: Of the SYN and its answer, at the host that began; None where they were not captured, sent more than once, or sent in the
    #: warm-up.
    syn_rtt_ms: float | None
    #: That the receiver announced in its SYN.
    mss: int | None
    sender: AtSender | None
    #: None where the receiver's or the sender's host did not see it.
    reordering: Reordering | None
    delivered: Delivered | None
    #: Bytes that arrived more than once.
    repeated_bytes: int | None
    #: The connection, or this data of it, began in the warm-up.
    opened_in_warm_up: bool = False
    begun_in_warm_up: bool = False

    @property
    def goodput_kbps(self) -> float | None:
        """Bytes that arrived in order, per time from when the first one was sent, or since the warm-up."""
        if self.sender is None or self.delivered is None or not self.delivered.bytes.size:
            return None
        took_ns = int(self.delivered.times_ns[-1]) - self.sender.since_ns
        return int(self.delivered.bytes[-1]) * 8e6 / took_ns if took_ns > 0 else None

    @property
    def completion_s(self) -> float | None:
        """From when the first byte was sent until all that were sent had arrived; None where not all did, or in the warm-up."""
        if self.sender is None or self.delivered is None or not self.delivered.bytes.size or self.begun_in_warm_up:
            return None
        took_ns = int(self.delivered.times_ns[-1]) - self.sender.first_ns
        return took_ns / 1e9 if self.delivered.bytes[-1] >= self.sender.bytes else None


def streams(captures: Mapping[str, Segments], hosts: Mapping[str, str], from_ns: int = 0) -> tuple[list[Stream], int]:
    """Those of a run, by the bytes that they carried, the most first, and how many more there were (`MOST`).

    `captures` are those of the hosts, by name; `hosts` has the host of each address. What was sent before `from_ns`, in the
    warm-up, does not count, and a stream that sent nothing later is none.
    """
    points: dict[tuple[Ends, int], dict[str, _Point]] = {}
    for host, segments in captures.items():
        for point in _points(segments):
            for ends in point.with_data():
                points.setdefault((ends, point.earlier), {})[host] = point
    carried = {
        key: max(point.data_bytes(key[0], from_ns) for point in seen.values())
        for key, seen in points.items()
        if _counts(key[0], seen, hosts, from_ns)
    }
    largest = sorted(carried, key=lambda key: (-carried[key], key))
    found = [
        _stream(ends, earlier, hosts.get(ends.source), hosts.get(ends.destination), points[ends, earlier], from_ns)
        for ends, earlier in largest[:MOST]
    ]
    return found, max(0, len(largest) - MOST)


def _counts(ends: Ends, seen: Mapping[str, _Point], hosts: Mapping[str, str], from_ns: int) -> bool:
    """Whether data was sent after the warm-up: as the sender's host saw it, or another one where that did not."""
    there = seen.get(hosts.get(ends.source, ""))
    return any(point.data_bytes(ends, from_ns) for point in ([there] if there else seen.values()))


def delivered(begin: Numbers, end: Numbers, times_ns: Numbers) -> Delivered:
    """From segments with the bytes from `begin` to `end`, in the order in which they arrived; the stream begins with byte 0."""
    in_order, early = 0, list[tuple[int, int]]()
    times, counts = list[int](), list[int]()
    for first, behind, at_ns in zip(begin.tolist(), end.tolist(), times_ns.tolist(), strict=True):
        if behind <= in_order:
            continue
        if first > in_order:
            heapq.heappush(early, (first, behind))
            continue
        in_order = behind
        while early and early[0][0] <= in_order:
            in_order = max(in_order, heapq.heappop(early)[1])
        times.append(at_ns)
        counts.append(in_order)
    return Delivered(np.array(times, np.int64), np.array(counts, np.int64))


class _Point:
    """The segments of one connection at one host, in the order of their times."""

    def __init__(self, outward: Ends, earlier: int, rows: Mapping[str, NDArray[np.generic]], of_outward: Flags) -> None:
        self.earlier, self._outward, self._of_outward = earlier, outward, of_outward
        self.times_ns = rows["time_ns"].astype(np.int64)
        self.identities = rows["identity"].astype(np.uint64)
        self.sequence = rows["sequence"].astype(np.int64)
        self.acknowledgement = rows["acknowledgement"].astype(np.int64)
        self.flags = rows["flags"].astype(np.int64)
        self.window = rows["window"].astype(np.int64)
        self.payload = rows["payload_bytes"].astype(np.int64)
        self.mss, self.scale = rows["mss"].astype(np.int64), rows["scale"].astype(np.int64)

    def sent_by(self, ends: Ends) -> Flags:
        return self._of_outward if ends == self._outward else ~self._of_outward

    def with_data(self) -> Iterator[Ends]:
        for ends in (self._outward, _back(self._outward)):
            if self.data_bytes(ends):
                yield ends

    def data_bytes(self, ends: Ends, from_ns: int = 0) -> int:
        return int(self.payload[self.sent_by(ends) & (self.times_ns >= from_ns)].sum())

    def has(self, flag: int) -> Flags:
        return (self.flags & flag) > 0

    def syn(self, ends: Ends) -> int | None:
        """The place of the SYN of one end."""
        places = np.flatnonzero(self.has(SYN) & self.sent_by(ends))
        return int(places[0]) if places.size else None

    def scale_of(self, ends: Ends) -> int | None:
        """By which the windows of one end are shifted, if both offer it (RFC 7323, 2.2); None where not both SYNs were seen."""
        own, other = self.syn(ends), self.syn(_back(ends))
        if own is None or other is None:
            return None
        return int(self.scale[own]) if min(self.scale[own], self.scale[other]) >= 0 else 0

    @cached_property
    def ended(self) -> Literal["fin", "reset", "open"]:
        if self.has(RST).any():
            return "reset"
        fins = self.has(FIN)
        both = all((fins & self.sent_by(ends)).any() for ends in (self._outward, _back(self._outward)))
        return "fin" if both else "open"


def _points(segments: Segments) -> Iterator[_Point]:
    """The connections that a host saw. A SYN with another number, on the same ends, begins another connection."""
    if segments.table.is_empty():
        return
    pairs = [min(ends, _back(ends)) for ends in segments.ends]
    numbers = {pair: number for number, pair in enumerate(dict.fromkeys(pairs))}
    pair_of, is_outward = np.array([numbers[pair] for pair in pairs]), np.array([ends <= _back(ends) for ends in segments.ends])
    places_of = {ends: place for place, ends in enumerate(segments.ends)}
    other_way = {place: places_of.get(_back(ends)) for ends, place in places_of.items()}
    table = segments.table.with_columns(pair=pl.Series(pair_of)[segments.table["ends"]])
    table = table.sort("pair", "time_ns", maintain_order=True)
    pair, rows = table["pair"].to_numpy(), {name: table[name].to_numpy() for name in table.columns}
    begins = np.flatnonzero(np.concatenate([[True], pair[1:] != pair[:-1]]))
    is_first = np.zeros(pair.size, bool)
    is_first[begins] = True
    opened, cut = dict[int, int](), is_first.copy()
    for at in np.flatnonzero((rows["flags"] & (SYN | ACK)) == SYN).tolist():
        ends, number = int(rows["ends"][at]), int(rows["sequence"][at])
        # The other end's SYN of a connection that both open at once is not another one.
        cut[at] = is_first[at] or (opened[ends] != number if ends in opened else other_way.get(ends) not in opened)
        opened[ends] = number
    places = np.flatnonzero(cut)
    earlier = 0
    names = list(numbers)
    for first, behind in zip(places.tolist(), [*places[1:].tolist(), pair.size], strict=True):
        earlier = 0 if is_first[first] else earlier + 1
        part = {name: column[first:behind] for name, column in rows.items()}
        if part["payload_bytes"].any():
            yield _Point(names[pair[first]], earlier, part, is_outward[part["ends"]])


def _back(ends: Ends) -> Ends:
    return Ends(ends.destination, ends.destination_port, ends.source, ends.source_port)


def _stream(
    ends: Ends, earlier: int, source: str | None, destination: str | None, seen: Mapping[str, _Point], from_ns: int
) -> Stream:
    there = seen.get(source) if source else None
    here = seen.get(destination) if destination else None
    points = [point for point in (there, here) if point is not None]
    base = None if there is None else _first_byte(there, ends)
    arrived = None if here is None else _data(here, ends, base)
    sent = None if there is None else _data(there, ends, base)
    progress = None if arrived is None else delivered(arrived.begin, arrived.end, here.times_ns[arrived.places])  # type: ignore[union-attr]
    first_ns = min((data.times_ns[0] for data in (sent, arrived) if data is not None), default=from_ns)
    return Stream(
        ends,
        earlier,
        source,
        destination,
        ended=max((point.ended for point in points), key=("open", "fin", "reset").index, default="open"),
        syn_rtt_ms=next(
            (rtt for point in points if (rtt := _syn_rtt_ms(point, ends, point is there, from_ns)) is not None), None
        ),
        mss=next((mss for point in points if (mss := _mss(point, _back(ends))) is not None), None),
        sender=None if there is None or sent is None else _at_sender(there, ends, sent, from_ns),
        reordering=None if sent is None or arrived is None else _reordering(sent, arrived, from_ns),
        delivered=None if arrived is None or progress is None else _sent_later(progress, sent, arrived, from_ns),
        repeated_bytes=None if arrived is None or progress is None else _repeated(arrived, from_ns),
        opened_in_warm_up=any(point.times_ns[0] < from_ns for point in points),
        begun_in_warm_up=bool(first_ns < from_ns),
    )


def _sent_later(progress: Delivered, sent: _Data | None, arrived: _Data, from_ns: int) -> Delivered:
    """Of the bytes that arrived in order those that were sent after the warm-up; that arrived then, if nobody saw them sent."""
    before = _sent_before(arrived if sent is None else sent, from_ns)
    later = progress.bytes > before
    return Delivered(progress.times_ns[later], progress.bytes[later] - before)


def _sent_before(data: _Data, from_ns: int) -> int:
    """The highest byte that was sent, or arrived, before then."""
    return int(data.end[data.times_ns < from_ns].max(initial=0))


@dataclass(frozen=True)
class _Data:
    """Segments with data of one end at one point: the bytes from `begin` to `end` of its stream."""

    places: Numbers
    begin: Numbers
    end: Numbers
    times_ns: Numbers
    identities: NDArray[np.uint64]


def _first_byte(point: _Point, ends: Ends) -> int:
    """The number of the first byte of data, from which others are counted."""
    if (syn := point.syn(ends)) is not None:
        return int(point.sequence[syn]) + 1
    return int(point.sequence[np.flatnonzero(point.sent_by(ends) & (point.payload > 0))[0]])


def _data(point: _Point, ends: Ends, base: int | None) -> _Data | None:
    """None where there is none. Without `base`, numbers count from the first one that the point saw."""
    places = np.flatnonzero(point.sent_by(ends) & (point.payload > 0) & ~point.has(RST))
    if not places.size:
        return None
    # The data of a SYN comes after it.
    numbers = (point.sequence + point.has(SYN))[places]
    begin, sane = _unwrapped(numbers, _first_byte(point, ends) if base is None else base)
    places, begin = places[sane], begin[sane]
    if not places.size:
        return None
    return _Data(places, begin, begin + point.payload[places], point.times_ns[places], point.identities[places])


def _unwrapped(numbers: Numbers, base: int) -> tuple[Numbers, Flags]:
    """Numbers of 32 bits as distances from `base`, however often they went round; and which of them can be the connection's.

    Each is the one nearest to the one before it. One further from it than any window is nonsense (RFC 9293, 3.10.7.4).
    """
    steps = _nearest(np.diff(numbers, prepend=base))
    if np.abs(steps).max(initial=0) <= _LARGEST_WINDOW:
        return np.cumsum(steps), np.ones(numbers.size, bool)
    sane, distances, latest = np.ones(numbers.size, bool), np.zeros(numbers.size, np.int64), 0
    for at, number in enumerate(numbers.tolist()):
        step = (number - base - latest + 2**31) % 2**32 - 2**31
        sane[at] = abs(step) <= _LARGEST_WINDOW
        latest += step if sane[at] else 0
        distances[at] = latest
    return distances, sane


def _nearest(steps: Numbers) -> Numbers:
    return (steps + 2**31) % 2**32 - 2**31


def _at_sender(point: _Point, ends: Ends, data: _Data, from_ns: int) -> AtSender:
    back = _back(ends)
    base = _first_byte(point, ends)
    acks, ack_numbers = _acknowledgements(point, back, base)
    before = _highest_before(data.end, 0)
    acked_before = _latest_at(acks, ack_numbers, data.places)
    # A byte that was acknowledged is sent again only to ask whether the other end is there (RFC 9293, 3.8.4).
    probes = (data.end <= acked_before) & (data.end - data.begin <= 1)
    again = np.where(probes, 0, np.clip(np.minimum(data.end, before) - data.begin, 0, None))
    is_new = data.end > before
    unseen = np.clip(data.begin - before, 0, None)
    flight, flight_ns, duplicates = _flight(point, data, acks, ack_numbers, back, from_ns)
    window, window_ns = _window(point, back, acks, from_ns)
    counts = data.times_ns >= from_ns
    return AtSender(
        first_ns=int(data.times_ns[0]),
        since_ns=max(int(data.times_ns[0]), from_ns),
        last_ns=int(data.times_ns[-1]),
        bytes=int(data.end.max()) - _sent_before(data, from_ns),
        unseen_bytes=int(unseen[counts].sum()),
        segments=int(counts.sum() - probes[counts].sum()),
        largest_segment=int((data.end - data.begin)[counts].max(initial=0)),
        retransmissions=int((again[counts] > 0).sum()),
        retransmitted_bytes=int(again[counts].sum()),
        duplicate_acks=duplicates,
        rtt_ms=_rtt_ms(data, is_new, again, point.times_ns[acks], ack_numbers, from_ns),
        in_flight=flight,
        in_flight_ns=flight_ns,
        window=window,
        window_ns=window_ns,
    )


def _acknowledgements(point: _Point, back: Ends, base: int) -> tuple[Numbers, Numbers]:
    """The places of segments with the other end's acknowledgements, and up to which byte each acknowledges."""
    places = np.flatnonzero(point.sent_by(back) & point.has(ACK) & ~point.has(RST))
    numbers, sane = _unwrapped(point.acknowledgement[places], base)
    return places[sane], numbers[sane]


def _highest_before(values: Numbers, least: int) -> Numbers:
    """Of each value the highest of those before it."""
    return np.maximum.accumulate(np.concatenate([[least], values]))[:-1]


def _latest_at(places: Numbers, values: Numbers, at: Numbers) -> Numbers:
    """The highest of the values whose places come before each of `at`; 0 before the first."""
    highest = np.concatenate([[0], np.maximum.accumulate(values)]) if values.size else np.zeros(1, np.int64)
    return highest[np.searchsorted(places, at)]


def _rtt_ms(data: _Data, is_new: Flags, again: Numbers, acked_ns: Numbers, ack_numbers: Numbers, from_ns: int) -> Values:
    """One for each acknowledgement of data, of the latest segment that it acknowledges, if that was sent after the warm-up.

    None where a part of what it acknowledges was sent more than once: which of them arrived is not known (Karn and Partridge,
    "Improving Round-Trip Time Estimates in Reliable Transport Protocols", 1987; RFC 6298, 3).
    """
    before = _highest_before(ack_numbers, 0)
    further = np.flatnonzero(ack_numbers > before)
    low, high, now_ns = before[further], ack_numbers[further], acked_ns[further]
    begin, end, sent_ns = data.begin[is_new], data.end[is_new], data.times_ns[is_new]
    latest = np.searchsorted(begin, high - 1, side="right") - 1
    sound = latest >= 0
    low, high, now_ns, latest = low[sound], high[sound], now_ns[sound], latest[sound]
    starts, stops = _merged(data.begin[again > 0], (data.begin + again)[again > 0])
    doubtful = np.searchsorted(starts, high) > np.searchsorted(stops, low, side="right")
    # Beyond the last byte only a FIN is acknowledged.
    sound = ~doubtful & (end[latest] > low) & (sent_ns[latest] <= now_ns) & (sent_ns[latest] >= from_ns)
    return (now_ns - sent_ns[latest])[sound] / 1e6


def _merged(begin: Numbers, end: Numbers) -> tuple[Numbers, Numbers]:
    """The parts that intervals cover together, none touching another."""
    order = np.argsort(begin, kind="stable")
    begin, reach = begin[order], np.maximum.accumulate(end[order])
    if not begin.size:
        return begin, reach
    apart = np.flatnonzero(begin[1:] > reach[:-1])
    return begin[np.concatenate([[0], apart + 1])], reach[np.concatenate([apart, [begin.size - 1]])]


def _flight(
    point: _Point, data: _Data, acks: Numbers, ack_numbers: Numbers, back: Ends, from_ns: int
) -> tuple[Numbers, Numbers, int]:
    """Unacknowledged bytes from the first data on, the time of each amount, and how many acknowledgements were duplicates."""
    size = point.times_ns.size
    sent, acked = np.zeros(size, np.int64), np.zeros(size, np.int64)
    sent[data.places], acked[acks] = data.end, ack_numbers
    sent, acked = np.maximum.accumulate(sent), np.maximum.accumulate(acked)
    flight = np.clip(sent - acked, 0, None)
    # RFC 5681, 2: no data, no SYN or FIN, the highest number and the window of the one before, while data is outstanding.
    highest = _highest_before(ack_numbers, -1)
    same_window = np.diff(point.window[acks], prepend=-1) == 0
    bare = (point.payload[acks] == 0) & ~point.has(SYN)[acks] & ~point.has(FIN)[acks]
    duplicates = bare & same_window & (ack_numbers == highest) & (flight[acks] > 0) & (point.times_ns[acks] >= from_ns)
    begun = int(data.places[0])
    amounts, spans_ns = _since(from_ns, flight[begun:], point.times_ns[begun:], point.times_ns[-1])
    return amounts, spans_ns, int(duplicates.sum())


def _window(point: _Point, back: Ends, acks: Numbers, from_ns: int) -> tuple[Numbers | None, Numbers]:
    """What the other end was ready to take, with its scale, after its SYN (whose window has none), and for how long."""
    told = acks[~point.has(SYN)[acks]]
    windows, spans_ns = _since(from_ns, point.window[told], point.times_ns[told], point.times_ns[-1])
    scale = point.scale_of(back)
    return None if scale is None else windows << scale, spans_ns


def _since(from_ns: int, amounts: Numbers, times_ns: Numbers, end_ns: int) -> tuple[Numbers, Numbers]:
    """Of amounts that hold from their times on: those that hold after the warm-up, and how long each does then."""
    begun = max(0, int(np.searchsorted(times_ns, from_ns, side="right")) - 1)
    return amounts[begun:], np.diff(np.maximum(times_ns[begun:], from_ns), append=end_ns)


def _syn_rtt_ms(point: _Point, ends: Ends, is_source: bool, from_ns: int) -> float | None:
    """At the host that began, which is the one that sent a SYN without ACK, where this is that host."""
    own = ends if is_source else _back(ends)
    syns = np.flatnonzero(point.has(SYN) & ~point.has(ACK) & point.sent_by(own))
    answers = np.flatnonzero(point.has(SYN) & point.has(ACK) & point.sent_by(_back(own)))
    if syns.size != 1 or not answers.size or answers[0] < syns[0] or point.times_ns[syns[0]] < from_ns:
        return None
    return float(point.times_ns[answers[0]] - point.times_ns[syns[0]]) / 1e6


def _mss(point: _Point, ends: Ends) -> int | None:
    syn = point.syn(ends)
    return int(point.mss[syn]) if syn is not None and point.mss[syn] > 0 else None


def _reordering(sent: _Data, arrived: _Data, from_ns: int) -> Reordering:
    """By frames, so that a segment which was sent again is another one. Of frames that look alike nobody knows which came."""
    unique, first, counts = np.unique(sent.identities, return_index=True, return_counts=True)
    known_later = (counts == 1) & (sent.times_ns[first] >= from_ns)
    unique, order = unique[known_later], first[known_later]
    _, firsts = np.unique(arrived.identities, return_index=True)
    firsts.sort()
    came, times_ns = arrived.identities[firsts], arrived.times_ns[firsts]
    places = np.clip(np.searchsorted(unique, came), 0, max(unique.size - 1, 0))
    known = unique[places] == came if unique.size else np.zeros(came.size, bool)
    numbers, times_ns = order[places[known]] if unique.size else np.empty(0, np.int64), times_ns[known]
    latest = np.maximum.accumulate(numbers) if numbers.size else numbers
    late = np.flatnonzero(numbers < latest)
    ahead = np.searchsorted(latest, numbers[late], side="right")
    return Reordering(int(numbers.size), late - ahead, (times_ns[late] - times_ns[ahead]) / 1e6)


def _repeated(arrived: _Data, from_ns: int) -> int:
    """Bytes that arrived after the warm-up, and not for the first time."""
    counts = arrived.times_ns >= from_ns
    new = _bytes(arrived.begin, arrived.end) - _bytes(arrived.begin[~counts], arrived.end[~counts])
    return int((arrived.end - arrived.begin)[counts].sum()) - new


def _bytes(begin: Numbers, end: Numbers) -> int:
    """How many there are in these intervals together."""
    starts, stops = _merged(begin, end)
    return int((stops - starts).sum())
