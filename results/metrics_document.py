# SPDX-License-Identifier: GPL-2.0-or-later
"""The shape of metrics.json; docs/measuring.md says what its figures mean, and where the definitions come from."""

from __future__ import annotations

from typing import Final, Literal, NotRequired

from typing_extensions import TypedDict

from contracts import statistics
from contracts.document import Document
from contracts.flow import Direction
from contracts.machines import ClockReading
from contracts.statistics import Details

Status = Literal["valid", "degraded", "invalid"]


class Summary(TypedDict):
    """Statistics of a quantity. A percentile is one of the values that occurred."""

    count: int
    mean: float
    #: Of all values, not of a sample of them.
    deviation: float
    min: float
    max: float
    p50: float
    p99: float
    p99_9: float


class VerdictTold(TypedDict):
    """Whether the run can be trusted."""

    status: Status
    #: Those for the worse come first.
    reasons: list[str]
    #: What would help.
    advice: list[str]
    notes: list[str]


class Loss(TypedDict):
    """Frames that were lost at one place for one reason."""

    at: str | None
    why: str | None
    frames: int


class FlowFigures(TypedDict):
    """A flow in one direction. What cannot be told is null, and `reason` says why."""

    name: str
    kind: str
    direction: Direction
    source: str
    destination: str
    packets: int
    #: Those that were sent in the warm-up, which are not among `packets` nor in any other figure.
    warm_up_packets: int
    received: int
    loss_ratio: float | None
    #: Most frequent first.
    losses: list[Loss]
    goodput_kbps: float | None
    one_way_delay_ms: Summary | None
    jitter_ms: Summary | None
    reason: str | None


class PathTaken(TypedDict):
    """The frames of a flow that arrived by one path. Times count from the beginning of the run's traffic."""

    netboxes: list[str]
    received: int
    first_s: float
    last_s: float
    one_way_delay_ms: Summary | None


PathChange = TypedDict("PathChange", {"time_s": float, "from": list[str], "to": list[str]})


class PathChanges(TypedDict):
    count: int
    #: The first 100.
    list: list[PathChange]


class PathFigures(TypedDict):
    paths: list[PathTaken]
    path_changes: PathChanges


class Seconds(TypedDict):
    """A flow second by second, also in the warm-up: lists of equal length; second n is from n to n + 1 s after the run began."""

    second: list[int]
    sent: list[int]
    loss_ratio: list[float | None]
    delay_ms: list[float | None]
    goodput_kbps: list[float]


class ClockError(TypedDict):
    #: What one-way delays may be wrong by because the two hosts have two clocks; of a run over several machines.
    clock_error_ms: NotRequired[float | None]


class Side(TypedDict):
    """The frames beside an outage."""

    delay_ms: float
    delay_p10_ms: float
    delay_p90_ms: float
    #: The netboxes of their path.
    via: list[str]


class Outage(TypedDict):
    begin_s: float
    duration_ms: float
    lost: int
    #: Frames arrived again.
    ended: bool
    way_changed: bool
    delay_changed: bool
    before: Side | None
    after: Side | None


class Outages(TypedDict):
    #: A pause is an outage from this on.
    threshold_ms: float
    count: int
    total_ms: float
    longest_ms: float
    #: The first 100.
    list: list[Outage]


class Measured(FlowFigures, PathFigures, ClockError):
    """What is told of flows and conversations alike."""

    seconds: Seconds | None


class Flow(Measured):
    """A flow of an application."""

    #: Null of too few frames.
    outages: Outages | None
    #: Why its host could send no frame: the network lost all requests for its next hop's link-layer address. Null otherwise.
    unreached: str | None


class Conversation(Measured):
    """What other programs sent between two hosts, or small conversations of the two together."""

    outages: None
    #: Null of small ones.
    dscp: int | None
    #: How many conversations these are.
    conversations: int


class RoundTrips(Summary):
    p95: float


class OverTime(TypedDict):
    """An amount of bytes, weighted by time."""

    min: int
    mean: float
    max: int


class Reordering(TypedDict):
    """Of segments with data that arrived: how many came after one that was sent later (RFC 4737)."""

    segments: int
    reordered: int
    ratio: float | None
    #: By how many segments; null where none was.
    extent_mean: float | None
    extent_max: int | None
    late_ms_max: float | None


#: The data of one direction of a TCP connection. What captures do not show is null, and `reasons` say why.
TcpStream = TypedDict(
    "TcpStream",
    {
        #: Of `flows` or `conversations`; null where none of them has it.
        "flow": str | None,
        #: The entry of the topology's traffic, if it is one's.
        "traffic": str | None,
        "direction": Direction | None,
        #: Hosts, or addresses that no host has.
        "from": str,
        "to": str,
        "source_port": int,
        "destination_port": int,
        #: When the first byte was sent.
        "began_s": float | None,
        #: Bytes that arrived in order, each once.
        "bytes": int | None,
        "goodput_kbps": float | None,
        #: From the first byte's sending until all that were sent had arrived; null also where not all did.
        "completion_s": float | None,
        "ended": Literal["fin", "reset", "open"],
        "syn_rtt_ms": float | None,
        "rtt_ms": RoundTrips | None,
        #: Segments with data, as captured at the sender.
        "segments": int | None,
        "mss": int | None,
        #: Bytes of data. Above `mss`: the sender's captures have segments before they are cut (segmentation offload).
        "largest_segment": int | None,
        "retransmissions": int | None,
        "retransmitted_bytes": int | None,
        "retransmission_ratio": float | None,
        #: That arrived more than once.
        "repeated_bytes": int | None,
        "duplicate_acks": int | None,
        "reordering": Reordering | None,
        "window_bytes": OverTime | None,
        #: While any were.
        "in_flight_bytes": OverTime | None,
        #: Sent, and not captured at the sender.
        "unseen_bytes": int | None,
        "reasons": list[str],
    },
)


class FairnessOverTime(TypedDict):
    """Jain's index of the bytes that arrived in each interval, of streams that were active in all of it."""

    interval_s: float
    #: Intervals with two such streams at least.
    count: int
    mean: float
    worst: float
    #: When the worst interval began.
    worst_s: float


class Fairness(TypedDict):
    """How streams of TCP shared the netboxes that they crossed together in one direction."""

    netboxes: list[str]
    direction: Direction
    #: Names of flows or conversations, once for each stream.
    flows: list[str]
    #: Jain's index of their goodput over the run; null where one is not known.
    index: float | None
    intervals: FairnessOverTime | None


class Queue(TypedDict):
    """How many packets waited in a queue of a netbox, over time; `empty` is a share of the time.

    Packets that it dropped, and marked as having experienced congestion (RFC 3168), are counted by the cause.

    What cannot be told is null, and `reason` says why.
    """

    netbox: str
    station: str | None
    queue: str
    mean: float | None
    p50: int | None
    p90: int | None
    p99: int | None
    max: int | None
    empty: float | None
    dropped: dict[str, int] | None
    marked: dict[str, int] | None
    reason: str | None


class Segment(TypedDict):
    """All flows of one direction through one netbox."""

    netbox: str
    direction: Direction
    packets: int
    lost: int
    one_way_delay_ms: Summary | None
    flows: dict[str, Summary | None]
    reason: str | None


#: The time between two points of measurement.
GapFigures = TypedDict(
    "GapFigures",
    {
        "name": str,
        "direction": Direction,
        "from": str,
        "to": str,
        "routers": list[str],
        "switches": list[str],
        "us": Summary | None,
        "tunnels": NotRequired[list[str]],
    },
)


class Lateness(TypedDict):
    """How late frames left, or events were done; null where there were none."""

    count: int
    p50: float | None
    p90: float | None
    p99: float | None
    p99_9: float | None
    max: float | None


class LatenessOfNetbox(Lateness):
    """Of departing frames, and of the simulator's events."""

    event: Lateness
    missed: int


class Miss(TypedDict):
    #: Since the traffic began; null where nobody took down when it did.
    after_s: float | None
    what: str
    lateness_us: float


class Freeze(TypedDict):
    at_s: float
    for_s: float


class Timekeeping(TypedDict):
    """How a netbox kept its time."""

    limit_us: float
    policy: str
    received: int
    overload_drops: int
    send_drops: int
    #: At ports whose wires an event of the run takes down.
    unplugged_drops: int
    missed: int
    #: The first ones.
    misses: list[Miss]
    #: The largest share of time that other guests of its machine took on one of its cores.
    steal_ratio: float | None
    cpu_s: float | None
    stepped_back: int | None
    #: When the run itself kept it from computing.
    freezes: list[Freeze]


class SwitchPort(statistics.SwitchPort):
    """A port of a switch, during the traffic."""

    #: Of a port whose wire an event of the run takes down.
    unplugged_drops: int


class Switch(TypedDict):
    datapath: str
    ports: dict[str, SwitchPort]
    unserved: int | None


class Event(TypedDict):
    """What the run changed, or what a node announced."""

    time_s: float
    kind: str
    #: The node, if it is one's.
    netbox: str | None
    station: str | None
    words: str
    #: What else is known of it, by its kind.
    details: Details
    by_run: bool


class ManagedMember(TypedDict):
    """A host's budget of a managed link: `time_s` and `budget_bps` are of equal length, from when on each applied; null: none."""

    host: str
    #: The first 10,000; none where no budget ever applied.
    time_s: list[float]
    #: Of IP packets.
    budget_bps: list[int | None]
    #: Over the time in which one applied; null where none did, or the run's end is not known.
    mean_bps: float | None
    #: How long it was not in force, and what its host said of it last.
    unenforced_s: float | None
    unenforced: str | None
    #: How often its lease ended without an answer, another allocator announced budgets, and the allocator did not answer.
    leases_lost: int
    other_allocators: int
    unreachable: int


class ManagedLink(TypedDict):
    link: str
    members: list[ManagedMember]


class SeriesTold(TypedDict):
    netbox: str
    station: str | None
    name: str
    kind: Literal["gauge", "counter", "constant"]


class Constant(SeriesTold):
    """A number of a netbox that never changed."""

    value: float


class Gauge(SeriesTold):
    """A state of a netbox over the run."""

    min: float
    mean: float
    max: float


class Counter(SeriesTold):
    """What a netbox counted in the run."""

    total: float
    per_s: float
    most_per_s: float


class MachineClock(TypedDict):
    """A machine of the run. What is null is not known, and `problem` says why."""

    address: str | None
    synchronised: str | None
    before: ClockReading | None
    after: ClockReading | None
    drift_ppm: float | None
    problem: str | None
    error_us: float | None


class MachinesOfRun(TypedDict):
    #: The controller's.
    here: str
    hosts: dict[str, MachineClock]


class TunnelDelay(Summary):
    p90: float


class Place(TypedDict):
    host: str
    node: str


TunnelDirection = TypedDict(
    "TunnelDirection",
    {
        "from": Place,
        "to": Place,
        "frames": int,
        "lost": int,
        "unseen": int,
        "delay_us": TunnelDelay | None,
        "clock_error_us": float | None,
        "reason": str | None,
    },
)


class BothWays(TypedDict):
    mean: float
    min: float
    p50: float


class Tunnel(TypedDict):
    """A wire between two machines."""

    wire: str
    kind: str
    mtu: int
    directions: list[TunnelDirection]
    #: The sum of both directions, in which the difference of the clocks is not.
    both_ways_us: BothWays | None
    probe_us: float | None
    #: An event of the run takes it down.
    switched: bool


class SeveralMachines(TypedDict):
    """What a run over several machines has besides."""

    machines: NotRequired[MachinesOfRun]
    tunnels: NotRequired[list[Tunnel]]
    overhead_tunnels_us: NotRequired[Summary | None]
    overhead_without_tunnels_us: NotRequired[Summary | None]


class Metrics(SeveralMachines):
    """metrics.json of a run folder. Times ending in `_s` count from `began_ns`."""

    # Besides, as its last keys, a list for each application that has an analysis (results.application_analysis).

    lab: str
    #: In whose time it ran: the machine's, or in virtual time.
    clock: Literal["real", "virtual"]
    verdict: VerdictTold
    flows: list[Flow]
    conversations: list[Conversation]
    #: Of hosts, that belong to no flow and no conversation.
    packets_left_out: int
    #: Those that carried the most bytes first.
    tcp: list[TcpStream]
    #: Streams beyond the 1000 largest.
    tcp_left_out: int
    fairness: list[Fairness]
    segments: list[Segment]
    queues: list[Queue]
    managed_links: list[ManagedLink]
    gaps: list[GapFigures]
    #: Of each frame, the time from host to host that was spent outside of netboxes.
    overhead_us: Summary | None
    overhead_without_routers_us: Summary | None
    #: By netbox.
    lateness_us: dict[str, LatenessOfNetbox]
    netboxes: dict[str, Timekeeping]
    switches: dict[str, Switch]
    lateness_limit_us: float
    #: CLOCK_REALTIME.
    began_ns: int
    #: Seconds since then: what was sent in them is in no figure, but those of the testbed (docs/measuring.md, "Warm-up").
    warm_up_s: float
    events: list[Event]
    series: list[Constant | Gauge | Counter]


METRICS: Final[Document[Metrics]] = Document("metrics", version=2)
