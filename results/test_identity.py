# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netboxes.engine import virtual
from results.identity import identity

VECTORS = json.loads((Path(__file__).parent / "identity_vectors.json").read_text())


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["what"])
def test_identity_is_that_of_the_vector(vector: dict[str, str]) -> None:
    assert f"{identity(bytes.fromhex(vector['frame'])):016x}" == vector["identity"]


def routed(frame: bytes) -> bytes:
    """What a router makes of an IPv4 frame: other MAC addresses, TTL one less, another DSCP and checksum."""
    return (
        virtual.mac(77)
        + virtual.mac(78)
        + frame[12:15]
        + b"\xb8"
        + frame[16:22]
        + b"\x3f"
        + frame[23:24]
        + b"\x12\x34"
        + frame[26:]
    )


def test_a_router_does_not_change_the_identity() -> None:
    frame = virtual.udp(1, 2, 300, identification=5)
    assert identity(routed(frame)) == identity(frame)


def test_a_vlan_tag_does_not_change_the_identity() -> None:
    frame = virtual.udp(1, 2, 300)
    assert identity(virtual.vlan(frame, 7)) == identity(frame)


def test_padding_does_not_change_the_identity_of_an_ip_packet() -> None:
    frame = virtual.udp(1, 2, 1)
    assert identity(frame + bytes(4)) == identity(frame)


def test_different_frames_have_different_identities() -> None:
    frames = [virtual.udp(1, 2, 300, identification=number) for number in range(1000)]
    assert len({identity(frame) for frame in frames}) == len(frames)


@given(st.binary(min_size=14, max_size=300), st.sampled_from([0x0800, 0x86DD, 0x8100, 0x88A8]))
def test_any_bytes_have_an_identity(data: bytes, kind: int) -> None:
    assert 0 <= identity(data[:12] + struct.pack(">H", kind) + data[14:]) < 2**64


def test_less_than_a_header_has_none() -> None:
    with pytest.raises(ValueError, match="13 bytes"):
        identity(bytes(13))
