# SPDX-License-Identifier: GPL-2.0-or-later
"""Linux's own address resolution across a network that has none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from tests.switched_labs import clean_lab

EXAMPLE = CHECKOUT / "topologies" / "pmr.yaml"
#: A host that does not know a neighbour asks three times, 1 s apart; within these the answer and the first echo must have come.
PATIENCE_S = "4"


@pytest.mark.lab
def test_an_officer_reaches_the_dispatcher_by_ipv4_and_by_ipv6(tmp_path: Path) -> None:
    with clean_lab(tmp_path, EXAMPLE.read_text(), "pmr") as lab:
        officer, dispatcher = lab.node("officer"), lab.node("dispatcher")
        addresses = [address.partition("/")[0] for address in dispatcher.interfaces[0].addresses]
        assert [":" in address for address in addresses] == [False, True]
        for hang_time_s in (None, 10.0):
            with lab.control("trunk") as control:
                # A call that is held for longer than a host asks for its neighbour.
                if hang_time_s is not None:
                    control.set("hang_time", hang_time_s)
            for address in addresses:
                ended = lab.run("officer", ["ping", "-c", "1", "-W", PATIENCE_S, address])
                assert ended.returncode == 0, f"{address}, hang_time {hang_time_s}: {ended.stdout}"
            for host in (officer, dispatcher):
                subprocess.run(["ip", "-n", host.namespace, "neigh", "flush", "all"], check=True, capture_output=True)
        with lab.control("trunk") as control:
            # What the first pings have taught is enough for the others, in both directions.
            assert control.statistics()["neighbours"]["answered"] >= 2
