# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from campaigns.cluster import BadScheduler, Cluster


@pytest.mark.parametrize("address", ["tcp://192.0.2.1:8786", "tcp://example.org:8786", "tcp://127.0.0.1.example.org:8786"])
def test_another_machine_is_reached_by_tls_alone(address: str) -> None:
    with pytest.raises(BadScheduler, match="without TLS"):
        Cluster(address).security()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:8786", "tcp://localhost:8786", "tcp://[::1]:8786"])
def test_this_machine_is_reached_without(address: str) -> None:
    assert Cluster(address).security() is None


@pytest.mark.parametrize(
    "address",
    ["", "192.0.2.1:8786", "tls://192.0.2.1", "tls://:8786", "tls://x:port", "http://x:1", "tls://a@x:1", "tls://x:1/y"],
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(BadScheduler, match="is not the address of a scheduler"):
        Cluster(address).security()


def test_certificates_are_asked_for_by_name(tmp_path: Path) -> None:
    with pytest.raises(BadScheduler, match="--tls-ca-file is missing"):
        Cluster("tls://192.0.2.1:8786").security()
    ca = tmp_path / "ca.pem"
    ca.touch()
    with pytest.raises(BadScheduler, match="--tls-cert is missing"):
        Cluster("tls://192.0.2.1:8786", ca).security()
    with pytest.raises(BadScheduler, match=r"none\.pem cannot be read: No such file"):
        Cluster("tls://192.0.2.1:8786", ca, tmp_path / "none.pem").security()
    with pytest.raises(BadScheduler, match="--tls-ca-file is for TLS"):
        Cluster("tcp://127.0.0.1:8786", ca).security()
