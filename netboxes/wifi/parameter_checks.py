# SPDX-License-Identifier: GPL-2.0-or-later
"""What must fit together in a cell's parameters. Each check raises ValueError with what is permitted, and by what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from contracts.errors import AtPlaces
from contracts.quantities import FREQUENCY, LENGTH, RATE
from netboxes.roles import the_only
from netboxes.wifi.standards import BANDS, CHANNELS, HIGHEST_MCS, RATES, WIDTHS, default_width, longest_range
from netboxes.wifi.stations import ROLES, Station

#: Of a queue.
_LIMITS = ("packets", "bytes", "buffer", "time", "rate")


def implied(standard: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """What a standard and a mode say of what the user left out."""
    band = BANDS[standard][0]
    try:
        frequency = FREQUENCY.parse(data["band"]) if data.get("band") is not None else band
    except ValueError:
        frequency = band
    return {
        "band": FREQUENCY.write(band),
        "channel_width": FREQUENCY.write(default_width(standard, frequency)),
        "qos": standard not in RATES or data.get("mode") == "mesh",
    }


def check_stations(mode: str, stations: Mapping[str, Station], distance: float | None) -> None:
    roles = ROLES[mode]
    for name, station in stations.items():
        if station.role not in roles:
            message = f"{name} cannot be `role: {station.role}`: with `mode: {mode}` stations are {_list(roles)}"
            raise AtPlaces({("stations", name, "role"): message})
        if mode != "infrastructure" and station.distance is not None:
            raise ValueError(f"{name}: `distance` counts from an access point, which `mode: {mode}` has not; give its `position`")
    placed = [name for name, station in stations.items() if station.distance is not None or station.place() is not None]
    if mode == "infrastructure":
        point = the_only("access-point", stations, "a Wi-Fi cell")
        if stations[point].distance is not None:
            raise ValueError(f"{point} is the access point, from which distances are measured: give `distance` to the others")
        placed.append(point)
    lost = [name for name in stations if name not in placed]
    if lost and distance is None:
        raise ValueError(
            f"nothing says where {_list(lost)} stands: give the netbox a `distance`, or each of them a place of its own"
        )


def check_distance(distance: float | None, coverage_class: int, label: str = "") -> None:
    longest = longest_range(coverage_class)
    if distance is not None and distance > longest:
        raise ValueError(
            f"{label}{LENGTH.write(distance)} is more than {LENGTH.write(int(longest / 10) * 10.0)}, past which nothing is heard "
            f"with `coverage_class: {coverage_class}`; say a shorter one, for two stations at 5 GHz a greater `coverage_class`, "
            "or for a station out of range its `position`"
        )


def check_propagation(
    model: str,
    antenna_height: float,
    stations: Mapping[str, Station],
    nakagami: Sequence[tuple[float, float]],
    hidden: Iterable[tuple[str, str]],
) -> None:
    if model == "two-ray":
        for name, station in stations.items():
            heights = [waypoint.position[2] for waypoint in station.path or []]
            heights += [corner[2] for corner in (station.wander.area if station.wander else ())]
            heights += [station.position[2]] if station.position else []
            if min(heights, default=0.0) + antenna_height <= 0.0:
                raise ValueError(f"{name} would have its antenna in the ground, from which two-ray propagation reflects: raise z")
    if nakagami[0][0] != 0.0 or any(later[0] <= earlier[0] for earlier, later in pairwise(nakagami)):
        raise ValueError(f"`nakagami_m` begins at {LENGTH.write(0.0)} and goes on with rising distances")
    for pair in hidden:
        for name in pair:
            if name not in stations:
                raise ValueError(f"`hidden` names {name}, which is no station; there are {_list(stations)}")
        if pair[0] == pair[1]:
            raise ValueError(f"`hidden` has pairs of two different stations, not {pair[0]} alone")


def check_channel(standard: str, band: float, width: float, channel: int | None) -> None:
    bands, widths = BANDS[standard], WIDTHS[standard]
    if band not in bands:
        message = f"{standard} works at {_list(FREQUENCY.write(b) for b in bands)}, not {FREQUENCY.write(band)}"
        raise AtPlaces({("band",): message})
    if width not in widths or (band, width) not in CHANNELS:
        fitting = [w for w in widths if (band, w) in CHANNELS]
        message = f"channel_width {FREQUENCY.write(width)} does not exist for {standard} at {FREQUENCY.write(band)}"
        raise AtPlaces({("channel_width",): f"{message}; there are {_list(FREQUENCY.write(w) for w in fitting)}"})
    channels = CHANNELS[band, width]
    if channel is not None and channel not in channels:
        message = f"no channel {channel} of {FREQUENCY.write(width)} at {FREQUENCY.write(band)}"
        raise AtPlaces({("channel",): f"{message}; there are {_list(map(str, channels))}"})


def check_rate(standard: str, rate_control: str, rate: float | None, mcs: int | None) -> None:
    legacy = standard in RATES
    rates = {"rate": rate, "mcs": mcs}
    wanted, other = ("rate", "mcs") if legacy else ("mcs", "rate")
    if rates[other] is not None:
        raise ValueError(f"{standard} has no `{other}`; give `{wanted}`")
    if (rate_control == "constant") != (rates[wanted] is not None):
        raise ValueError(f"`rate_control: constant` and `{wanted}` belong together with {standard}")
    if rate is not None and rate not in RATES[standard]:
        raise ValueError(f"{standard} has the rates {_list(RATE.write(r) for r in RATES[standard])}")
    if mcs is not None and mcs > HIGHEST_MCS[standard]:
        raise ValueError(f"{standard} has mcs 0 to {HIGHEST_MCS[standard]}")
    if rate_control in ("arf", "aarf") and not legacy:
        raise ValueError(f"rate_control {rate_control} knows 802.11a, b and g only; use ideal, minstrel or constant")


def check_medium_access(
    standard: str, mode: str, band: float, stations: int, qos: bool, preamble: str, coverage_class: int
) -> None:
    if not qos and (standard not in RATES or mode == "mesh"):
        who = "a mesh" if mode == "mesh" else standard
        raise ValueError(f"{who} cannot do without QoS; leave `qos` out, or set it to true")
    if mode == "mesh" and standard not in RATES:
        raise ValueError(
            f"a mesh is of {_list(RATES)}, not {standard}: ns-3's mesh points do not tell each other of their HT capabilities, "
            "so they would send at 802.11a's rates"
        )
    if preamble == "short" and (standard != "802.11b" or mode != "ad-hoc"):
        raise ValueError("`preamble: short` is for 802.11b with `mode: ad-hoc`; ns-3's access points do not grant it to 802.11b")
    if coverage_class > 0 and (stations > 2 or band < 3e9 or mode == "mesh"):
        raise ValueError(
            "`coverage_class` is for two stations at 5 GHz (the standard has it for OFDM with slots of 9 us; of more than two "
            "stations ns-3 cannot have any farther from each other than 1.19 km)"
        )


def check_queue(mode: str, queue: Mapping[str, Any], has_device_queue: bool = False) -> None:
    """`queue` is in base units."""
    is_of_mac = queue["discipline"] == "fifo" and [key for key in _LIMITS if queue[key] is not None] == ["packets"]
    if mode == "mesh" and not is_of_mac:
        raise ValueError(
            "in a mesh `queue` is a fifo with a limit in packets alone: what mesh points forward goes past any other"
        )
    if has_device_queue and is_of_mac:
        raise ValueError("`device_queue` is for a `queue` above it; a fifo with a limit in packets alone is the MAC's own queue")


def _list(words: Iterable[str]) -> str:
    return ", ".join(words)
