# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames that nobody ought to send, from a seed, into every port of every kind of node (`make fuzz` sends ten million)."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from ownership.state import state_folder
from testbed.labs import switch_statistics
from tests.fuzzed_network import DEADLINE_S, Fuzzed
from tests.traces import traces

pytestmark = pytest.mark.lab

FRAMES_EACH, RATE = 250, 20_000
#: Their queues take half a minute to be worked off.
NARROW = ("pan", "pmr")


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzed]:
    folder = tmp_path_factory.mktemp("fuzz")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NETBOXIT_STATE", str(folder))
        before = traces(state_folder())
        with Fuzzed.up(f"fuzz{os.getpid()}", folder) as network:
            yield network
        assert traces(state_folder()) == before


def test_hostile_frames_do_no_harm_and_each_is_accounted_for(fuzzed: Fuzzed) -> None:
    before = fuzzed.resources()
    taken = fuzzed.send(1, FRAMES_EACH, RATE)
    assert taken > 0.99 * FRAMES_EACH * len(fuzzed.hosts)
    assert fuzzed.complaints() == []
    after = fuzzed.resources()
    assert {name: node.memory_kib.keys() for name, node in after.items()} == {
        name: node.memory_kib.keys() for name, node in before.items()
    }
    assert fuzzed.unreached(DEADLINE_S, besides=NARROW) == []


#: Said inside a switch to each of its sockets, by whatever else may run there.
_SAYS = r"""
import random, socket, stat, sys
from contextlib import suppress
from pathlib import Path
chance, said = random.Random(7), 0
for path in sorted(Path("/run/openvswitch").rglob("*")):
    if not stat.S_ISSOCK(path.lstat().st_mode):
        continue
    for number in range(60):
        text = [
            chance.randbytes(chance.randrange(2000)),
            b'{"method": "' + chance.randbytes(20).hex().encode() + b'", "params": [], "id": 1}',
            b'{"method": "transact", "params": ["Open_vSwitch", {"op": "delete"}], "id": null}',
            b'{"method": "echo", "params": ' + b"[" * chance.randrange(5000),
            b"\4\16\377\377" + chance.randbytes(400),
            b"",
        ][number % 6]
        with socket.socket(socket.AF_UNIX) as client, suppress(OSError):
            client.settimeout(1)
            client.connect(str(path))
            said += 1
            client.sendall(text)
            client.shutdown(socket.SHUT_WR)
            while number % 2 and client.recv(65536):
                pass
print(said)
"""


def test_nothing_that_is_said_to_a_switchs_sockets_ends_it(fuzzed: Fuzzed) -> None:
    before = fuzzed.resources()["switch"]
    said = fuzzed.lab.run("switch", ["/usr/bin/python3", "-c", _SAYS])
    assert int(said.stdout) >= 100, said.stderr
    after = fuzzed.resources()["switch"]
    assert after.memory_kib.keys() == before.memory_kib.keys()
    assert switch_statistics.of(fuzzed.lab, "switch") is not None
    assert all(count <= before.files[process] for process, count in after.files.items())
    assert fuzzed.unreached(DEADLINE_S, besides=[node.name for node in fuzzed.targets if node.name != "switch"]) == []
