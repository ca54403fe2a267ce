# SPDX-License-Identifier: GPL-2.0-or-later
"""Real equipment at a lab that is changed while it is up: taken and given back as the file says, left alone where attached."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from system.wires import WireFailed
from testbed.changing import rewiring
from testbed.changing.alteration import Applied, StillAttached
from testbed.changing.attaching import Wanted, attach, detach
from tests.altered_network import apply, touched
from tests.own_interfaces import OwnInterfaces, checked, own_interfaces

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]

NETWORK: dict[str, Any] = {
    "name": f"equipped{os.getpid()}",
    "hosts": {"a": {"interfaces": {"wire": "10.0.0.1/24"}}, "b": {"interfaces": {"wire": "10.0.0.2/24"}}},
    "wires": [["a.wire", "b.wire"]],
}


@pytest.fixture
def interfaces() -> Iterator[OwnInterfaces]:
    with own_interfaces(("eth2", "eth3")) as made:
        for number, name in enumerate(("eth2", "eth3"), start=1):
            checked(made.outside[name], "ip", "address", "add", f"10.{number}.0.9/24", "dev", "far")
        yield made


def reaches(applied: Applied, host: str, address: str) -> bool:
    return applied.lab.run(host, ["ping", "-c", "1", "-W", "5", address]).returncode == 0


#: The modem was at one host, and may be at another.
MOVED = {"a.out--modem.port": "replaced", "b.out--modem.port": "removed"}


def fail(*_: object) -> None:
    raise WireFailed("no more netlink today")


def test_equipment_comes_and_goes_with_the_file_and_what_was_attached_stays(
    interfaces: OwnInterfaces, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_modem = copy.deepcopy(NETWORK)
    with_modem["equipment"] = {"modem": {"nic": "eth2"}}
    with_modem["hosts"]["a"]["interfaces"]["out"] = "10.1.0.1/24"
    with_modem["wires"].append(["a.out", "modem"])
    moved = copy.deepcopy(NETWORK)
    moved["equipment"] = with_modem["equipment"]
    moved["hosts"]["b"]["interfaces"]["out"] = "10.1.0.2/24"
    moved["wires"].append(["b.out", "modem"])
    before = interfaces.state()
    with interfaces.host.inside():
        lab = apply(NETWORK, tmp_path).lab
        try:
            applied = apply(with_modem, tmp_path)
            assert touched(applied) == {"a": "changed", "a.out--modem.port": "created"}
            assert reaches(applied, "a", "10.1.0.9")

            with monkeypatch.context() as patched:
                patched.setattr(rewiring, "settle", fail)
                with pytest.raises(WireFailed):
                    apply(moved, tmp_path)
            assert touched(apply(with_modem, tmp_path)) == {"a": "changed", "b": "changed", **MOVED}
            assert reaches(applied, "a", "10.1.0.9")

            attach(applied.lab, Wanted("nic", "eth3", addresses=("10.2.0.1/24",)), "b")
            assert touched(apply(with_modem, tmp_path)) == {}
            without = apply(NETWORK, tmp_path)
            assert touched(without) == {"a": "changed", "a.out--modem.port": "removed"}
            assert reaches(without, "b", "10.2.0.9")
            assert "eth2" in interfaces.run("ip", "-br", "link")

            alone = {**NETWORK, "hosts": {**NETWORK["hosts"], "c": {"address": "10.0.0.3/24"}}, "wires": [["a.wire", "c"]]}
            del alone["hosts"]["b"]
            with pytest.raises(StillAttached, match="netboxit detach eth3"):
                apply(alone, tmp_path)
            detach(without.lab, "eth3")
            assert touched(apply(alone, tmp_path))["b"] == "removed"
        finally:
            lab.down()
    interfaces.becomes(before)
