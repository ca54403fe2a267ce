# SPDX-License-Identifier: GPL-2.0-or-later
"""What a worker gets of a run in real time, and whether it can make labs: without any."""

from __future__ import annotations

import fcntl
import io
import os
import re
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from campaigns import lab_worker
from campaigns.campaign import Campaign
from campaigns.conftest import TOPOLOGY, Write
from campaigns.design import numbered
from campaigns.engine import Done
from campaigns.lab_parcel import LabParcel
from campaigns.lab_runs import digest_of
from campaigns.order import Order
from campaigns.parcel import unpack
from contracts.errors import BadTopology

TEXT = """\
campaign: c
topology: x.yaml
duration: 10 s
parameters: {p: {path: netboxes.net.delay, values: [1 ms, 2 ms]}}
"""


def ordered(write: Write, topology: str = TOPOLOGY) -> Order:
    file = write(TEXT)
    (file.parent / "x.yaml").write_text(topology)
    campaign = Campaign.load(file)
    return Order.of(campaign, list(numbered(campaign.points(), ()))[1], 2)


class Recorder:
    """A slot that says of what it is to run what the run would follow from."""

    def perform(self, order: Order, folder: Path, heed: Callable[[], None]) -> Done:
        self.digest, self.name = digest_of(order), order.name
        (folder / "plan.json").write_text(f'{{"topology": "{order.topology}"}}')
        return Done("valid", 1.0, None)


def test_a_worker_gets_the_run_that_is_meant_with_the_files_that_it_names(
    campaign_file: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (trace := tmp_path / "trace.csv").write_text("time_s,rate_bit_s\n0,1000000\n1,2000000\n2,0\n")
    order = ordered(campaign_file, TOPOLOGY.replace("b: {rate: 10 Mbit/s}", "b: {trace: trace.csv}"))
    sent = LabParcel.of(order)
    there = Recorder()

    @contextmanager
    def lab() -> Iterator[tuple[Recorder, Path]]:
        (place := tmp_path / "there").mkdir()
        yield there, place

    monkeypatch.setattr(lab_worker, "lab", lab)
    meant = digest_of(order)
    order.topology.unlink()
    trace.unlink()
    (folder := tmp_path / "home").mkdir()
    assert unpack(sent.carry_out(lambda: None), folder) == Done("valid", 1.0, None)
    assert (there.digest, there.name) == (meant, "0001-02")
    assert (folder / "plan.json").read_text() == f'{{"topology": "{order.topology}"}}'


def test_what_only_this_machine_has_is_refused(campaign_file: Write) -> None:
    joined = r"equipment: {vm: {tap: vm1}}\nhosts: {c: {address: 10.1.0.1/24}, \1wires:\n  - [c, vm]"
    with pytest.raises(BadTopology, match=r"equipment of this machine \(tap vm1\)"):
        LabParcel.of(ordered(campaign_file, re.sub(r"(?s)hosts: \{(.*)wires:", joined, TOPOLOGY)))


def test_files_of_hosts_go_with_the_run(campaign_file: Write) -> None:
    with_files = TOPOLOGY.replace("a: {address: 10.0.0.1/24}", "a: {address: 10.0.0.1/24, files: {/srv/x: y.yaml}}")
    sent = LabParcel.of(ordered(campaign_file, with_files))
    (kept,) = [name for name in sent.files if name.endswith("y.yaml.tar")]
    with tarfile.open(fileobj=io.BytesIO(sent.files[kept])) as packed:
        assert [member.isfile() for member in packed] == [True]


def test_who_is_not_root_makes_no_labs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert lab_worker.why_none() == "it is not root"


def test_cores_that_another_worker_has_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(lab_worker, "_LOCKS", tmp_path / "netboxit" / "workers")
    monkeypatch.setattr(lab_worker, "available_cores", lambda: (2, 3))
    monkeypatch.setattr("testbed.probes.doctor.without_lab", lambda: {"able": True, "findings": []})
    (tmp_path / "netboxit" / "workers").mkdir(parents=True)
    with (tmp_path / "netboxit" / "workers" / "cpu3").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert "core 3 is another worker's" in (lab_worker.why_none() or "")
        fcntl.flock(other, fcntl.LOCK_UN)
        try:
            assert lab_worker.why_none() is None
            with pytest.raises(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            lab_worker._release_cores()
