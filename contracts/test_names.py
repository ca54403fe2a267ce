# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import pytest

from contracts.names import BadLabName, check_name, container_name, lab_name, mac_address, netbox_seed


def test_a_mac_address_is_unicast_locally_administered_and_follows_from_the_names() -> None:
    mac = mac_address("emergency", "fr1", "eth0")
    first = int(mac.split(":")[0], 16)
    assert (first & 1, first & 2) == (0, 2)
    assert mac == mac_address("emergency", "fr1", "eth0")
    others = {
        mac_address("emergency", "fr1", "eth1"),
        mac_address("emergency", "fr2", "eth0"),
        mac_address("other", "fr1", "eth0"),
    }
    assert len({mac, *others}) == 4


def test_a_seed_is_positive_and_fits_31_bits() -> None:
    seeds = {netbox_seed(seed, netbox) for seed in range(100) for netbox in ("field", "longhaul")}
    assert len(seeds) == 200
    assert all(1 <= seed < 2**31 for seed in seeds)


@pytest.mark.parametrize("name", ["a", "fr1", "a-b-c", "a23456789012345"])
def test_names_that_can_be_had(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize(
    "name", ["", "1a", "A", "a_b", "a.b", "a b", "-a", "a234567890123456", "lo", "all", "default", "ä", "a\n"]
)
def test_names_that_cannot_be_had(name: str) -> None:
    with pytest.raises(ValueError):
        check_name(name)
    with pytest.raises(BadLabName, match="lab name: "):
        lab_name(name)


def test_the_longest_names_fit_an_abstract_socket_and_a_file() -> None:
    assert len(container_name("a" * 15, "b" * 15)) == 35
