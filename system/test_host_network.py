# SPDX-License-Identifier: GPL-2.0-or-later
"""The host's network is found again, and never another one that has come to its number."""

from __future__ import annotations

import time
from contextlib import ExitStack

import pytest

from system import host_network, namespaces
from system.host_network import HostNetworkGone
from tests.namespaces import Namespace

pytestmark = pytest.mark.lab


def test_a_network_is_found_again_from_another_one() -> None:
    with Namespace("one") as one, Namespace("two") as two:
        with one.inside():
            identity = host_network.identity()
        with two.inside():
            assert host_network.identity() != identity
            with host_network.entered(identity):
                assert host_network.identity() == identity
            assert host_network.identity() != identity


def test_another_network_that_has_the_inode_of_one_that_is_gone_is_not_taken_for_it() -> None:
    with ExitStack() as made:
        identity = _identity_of_one_whose_inode_is_another_s(made)
        with pytest.raises(HostNetworkGone), host_network.entered(identity):
            pass


def _identity_of_one_whose_inode_is_another_s(made: ExitStack) -> str:
    """The kernel gives the lowest number that is free, soon after; now and then somebody else on this machine takes it first."""
    for _ in range(20):
        with Namespace("gone") as gone, gone.inside():
            inode = namespaces.path(gone.name).stat().st_ino
            identity = host_network.identity()
        for number in range(10):
            again = made.enter_context(Namespace(f"again{number}"))
            if namespaces.path(again.name).stat().st_ino == inode:
                return identity
            time.sleep(0.02)
    pytest.skip("others on this machine took each number that became free")
