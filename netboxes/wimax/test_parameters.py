# SPDX-License-Identifier: GPL-2.0-or-later
"""What a user may write, and what is said when it is wrong."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from pydantic import ValidationError

from netboxes.engine.virtual import EmulationFailed
from netboxes.wimax.cell_under_test import BYTES_PER_SYMBOL, PROFILES, cell, link, run
from netboxes.wimax.parameters import BurstProfile, Parameters

UGS = {"class": "video", "direction": "uplink", "scheduling": "UGS", "reserved_rate": "440 kbit/s"}


def test_quantities_become_base_units_and_flows_keep_their_yaml_names() -> None:
    values = Parameters.model_validate(cell(service_flows=[UGS])).model_dump(mode="json")
    assert (values["distance"], values["frequency"], values["frame"]) == (2500.0, 5e9, 0.01)
    assert values["service_flows"][0]["class"] == "video"
    assert values["service_flows"][0]["reserved_rate"] == 440e3


def test_burst_profiles_carry_what_the_standard_says() -> None:
    """In 10 MHz with a guard of 1/4 a symbol takes 256 / (8/7 10 MHz) 5/4 = 28 us (8.3.2.4); bytes: Table 215 of 2004."""
    assert get_args(BurstProfile) == PROFILES
    for name, carried in zip(PROFILES, BYTES_PER_SYMBOL, strict=True):
        parameters = Parameters.model_validate(cell(burst_profile=name, bandwidth="10 MHz", guard="1/4"))
        assert parameters.gross_rate() == pytest.approx(carried * 8 / 28e-6)
    assert Parameters.model_validate(cell()).gross_rate() == pytest.approx(108 * 8 / 28e-6)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_cell_has_the_burst_profile_that_is_said(profile: str) -> None:
    assert link(run(cell(burst_profile=profile), {}, duration_s=1.0))["downlink_profile"] == profile


def test_a_queue_is_a_mapping_with_64_kb_where_no_room_is_said() -> None:
    def limits(**changes: Any) -> tuple[Any, ...]:
        queue = Parameters.model_validate(cell(**changes)).model_dump(mode="json")["queue"]
        return queue["discipline"], queue["packets"], queue["bytes"], queue["time"]

    assert limits() == limits(queue={"bytes": "64 kB"}) == limits(queue="fifo") == ("fifo", None, 64e3, None)
    assert limits(queue={"discipline": "codel", "time": "1 s"}) == ("codel", None, 64e3, 1.0)
    assert limits(queue=100) == ("fifo", 100, None, None)


def test_a_service_flow_has_the_queue_of_the_cell_unless_it_says_its_own() -> None:
    flows = [UGS, UGS | {"direction": "downlink", "queue": "codel"}]
    values = Parameters.model_validate(cell(service_flows=flows, queue=5)).model_dump(mode="json")
    assert values["service_flows"][0]["queue"] is None
    own = values["service_flows"][1]["queue"]
    assert (own["discipline"], own["packets"], own["bytes"]) == ("codel", None, 64e3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stations": {"a": {"role": "base"}, "b": {"role": "base"}}}, r"exactly one station with `role: base` \(found: a, b\)"),
        ({"stations": {"a": {"role": "subscriber"}, "b": {"role": "subscriber"}}}, r"\(found: none\)"),
        ({"stations": {"a": {"role": "base", "distance": "1 km"}, "b": {"role": "subscriber"}}}, "give `distance` to the others"),
        ({"frame": "7 ms"}, "not a frame duration of WirelessMAN-OFDM; there are 2.5 ms, 4 ms"),
        ({"distance": "20 km"}, "ss1 is 20 km away: its round trip does not fit into `ttg` 100 us; set it to at least 133 us"),
        ({"distance": "2500"}, "has no unit"),
        ({"backoff_start": 5, "backoff_end": 3}, "`backoff_end` 3 is below `backoff_start` 5"),
        ({"queue": "64 kB"}, "'fifo'"),
        ({"queue": {"bytes": "1 kB"}}, "outside 1514 B"),
        ({"service_flows": [UGS | {"queue": "64 kB"}]}, "'fifo'"),
        ({"service_flows": [UGS, UGS]}, "2 uplink flows for class 'video' and all subscribers"),
        ({"service_flows": [UGS | {"station": "bs"}]}, "'bs', which is no subscriber; subscribers: ss1"),
        ({"service_flows": [UGS | {"reserved_rate": None}]}, "needs `reserved_rate`"),
        ({"service_flows": [UGS | {"polling_interval": "10 ms"}]}, "has no `polling_interval`; only rtPS and nrtPS have"),
        ({"service_flows": [UGS | {"scheduling": "BE"}]}, "has no `reserved_rate`"),
        ({"service_flows": [UGS | {"maximum_rate": "100 kbit/s"}]}, "a `maximum_rate` below its `reserved_rate`"),
        ({"service_flows": [UGS | {"scheduling": "GBR"}]}, "'UGS', 'ertPS', 'rtPS', 'nrtPS' or 'BE'"),
    ],
)
def test_mistakes_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Parameters.model_validate(cell(**changes))


def test_flow_for_a_class_that_the_netbox_does_not_declare() -> None:
    with pytest.raises(
        EmulationFailed, match="class 'maps', which the netbox does not declare; its classes are voice, video, default"
    ):
        run(cell(service_flows=[UGS | {"class": "maps"}]), {})


def test_frame_too_short_for_its_own_overhead() -> None:
    with pytest.raises(EmulationFailed, match="lengthen `frame`, widen `bandwidth`"):
        run(cell(frame="2.5 ms", bandwidth="1.25 MHz"), {})
