# SPDX-License-Identifier: GPL-2.0-or-later
"""What other network software does is told as far as it matters to labs, with what to do; its signs are in a folder here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from testbed.documents.host import Ability
from testbed.probes import other_software

DROPPING = json.dumps(
    {
        "nftables": [
            {"metainfo": {"version": "1.0.6"}},
            {"chain": {"family": "ip", "table": "filter", "name": "FORWARD", "hook": "forward", "policy": "drop"}},
            {"chain": {"family": "ip", "table": "filter", "name": "INPUT", "hook": "input", "policy": "drop"}},
            {"chain": {"family": "ip", "table": "filter", "name": "DOCKER"}},
        ]
    }
)


def made(root: Path, **files: str) -> Path:
    for name, text in files.items():
        (file := root / name.replace("__", "/")).parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def names(findings: list[Ability]) -> dict[str, str]:
    return {finding.name: finding.there for finding in findings}


def test_a_host_with_nobody_else_says_so(tmp_path: Path) -> None:
    assert names(list(other_software.managers(tmp_path))) == {"other network software": "yes"}
    assert names([other_software.filters(tmp_path, str)]) == {"packet filters": "yes"}


@pytest.mark.parametrize(
    ("program", "name", "word"),
    [
        ("NetworkManager", "NetworkManager", "unmanaged-devices"),
        ("systemd-network", "systemd-networkd", "Unmanaged=yes"),
    ],
)
def test_who_configures_interfaces_is_to_be_told_which_to_leave_alone(tmp_path: Path, program: str, name: str, word: str) -> None:
    made(tmp_path, proc__77__comm=f"{program}\n")
    (finding,) = other_software.managers(tmp_path)
    assert (finding.name, finding.there) == (name, "partly")
    assert word in finding.remedy and finding.lost


def test_what_cannot_reach_a_lab_is_no_problem(tmp_path: Path) -> None:
    made(tmp_path, proc__1__comm="init\n", proc__2__comm="dockerd\n", proc__3__comm="firewalld\n", proc__4__comm="libvirtd\n")
    assert names(list(other_software.managers(tmp_path))) == dict.fromkeys(("Docker", "firewalld", "libvirt"), "yes")


def test_a_filter_that_drops_matters_only_when_bridged_frames_pass_it(tmp_path: Path) -> None:
    finding = other_software.filters(tmp_path, lambda: DROPPING)
    assert finding.there == "yes" and "chain FORWARD of table ip filter" in finding.found
    setting = tmp_path / "proc/sys/net/bridge/bridge-nf-call-iptables"
    setting.parent.mkdir(parents=True)
    setting.write_text("1\n")
    finding = other_software.filters(tmp_path, lambda: DROPPING)
    assert finding.there == "partly" and "DOCKER-USER" in finding.remedy
    finding = other_software.filters(tmp_path, str)
    assert finding.there == "yes"


@pytest.mark.parametrize(("limit", "there"), [("1024", "partly"), ("8192", "yes")])
def test_neighbour_tables_are_counted_for_all_labs_together(tmp_path: Path, limit: str, there: str) -> None:
    made(tmp_path, proc__sys__net__ipv4__neigh__default__gc_thresh3=limit)
    made(tmp_path, proc__sys__net__ipv6__neigh__default__gc_thresh3="16384")
    finding = next(iter(other_software.tables(tmp_path)))
    assert finding.there == there and "gc_thresh3=4000" in finding.remedy


def test_a_limit_that_a_large_lab_meets_is_named_with_what_it_needs(tmp_path: Path) -> None:
    made(tmp_path, proc__sys__user__max_net_namespaces="100", proc__sys__fs__inotify__max_user_instances="128")
    (finding,) = other_software.tables(tmp_path)
    assert finding.there == "partly" and finding.found == "user.max_net_namespaces is 100"
    assert finding.remedy == "sysctl user.max_net_namespaces=400"
