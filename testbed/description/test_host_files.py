# SPDX-License-Identifier: GPL-2.0-or-later
"""What a topology may bring into its hosts, and what is told of the rest."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import BadTopology
from contracts.installation import CHECKOUT
from contracts.plan import Plan, RealtimeSupport
from system import file_trees
from testbed.description import host_files
from testbed.description.machines import KnownMachines
from testbed.description.topology_file import load
from testbed.nodes import host_program
from testbed.nodes.host_program import Program
from testbed.plans import resolve
from testbed.plans.planning import plan_topology
from testbed.plans.sites import UnknownMachine

REALTIME = RealtimeSupport(False, None, "")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A topology's, with a folder and a file in it, and what is none of the topology's beside it."""
    (own := tmp_path / "own").mkdir()
    (own / "site/below").mkdir(parents=True)
    (own / "site/index.html").write_text("hello\n")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/key").write_text("not to be seen")
    (own / "out").symlink_to(tmp_path / "secret")
    (own / "alias").symlink_to("site")
    (own / "round").symlink_to("round")
    return own


def planned(folder: Path, known: KnownMachines | None = None, **web: Any) -> Plan:
    topology = {
        "name": "x",
        "hosts": {"web": {"address": "10.0.0.1/24", **web}, "client": {"address": "10.0.0.2/24"}},
        "wires": [["web", "client"]],
    }
    (folder / "x.yaml").write_text(json.dumps(topology))
    return plan_topology(load(folder / "x.yaml", known), realtime=REALTIME, cores=(0, 1))


def complaint(folder: Path, known: KnownMachines | None = None, **web: Any) -> str:
    with pytest.raises(BadTopology) as told:
        planned(folder, known, **web)
    (error,) = told.value.errors
    assert error.line == 1 and error.column > 1, "it is told where"
    assert error.remedy, "and with a remedy"
    return f"{error.cause}; {error.remedy}"


def test_a_folder_beside_the_topology_is_planned_with_what_it_is(folder: Path) -> None:
    copied = planned(folder, files={"/srv/site": "./site", "/root/page": "site/index.html"}).node("web").copied
    assert {place: (one.source, one.entries, one.size) for place, one in copied.items()} == {
        "/srv/site": (str(folder / "site"), 3, 6),
        "/root/page": (str(folder / "site/index.html"), 1, 6),
    }
    assert copied["/srv/site"].digest == file_trees.digest(folder / "site")
    assert planned(folder, files={"/srv": "alias"}).node("web").copied["/srv"].source == str(folder / "site")


def test_a_program_is_told_to_the_host_in_a_file_and_nothing_of_it_is_in_a_command(folder: Path) -> None:
    line = "exec nginx -g 'daemon off;' $(id)\n# and \"more\""
    web = planned(folder, start=line, restart="on-failure").node("web")
    assert web.command == host_program.COMMAND and host_program.of_user(web) == Program(line, "on-failure")
    assert host_program.of_user(planned(folder, start="true").node("web")) == Program("true", "never")
    assert not host_program.programs(planned(folder).node("web"))


@pytest.mark.parametrize(
    "source",
    [
        *("/etc/passwd", "/etc", "..", "../secret", "site/../../secret", "out", "out/key", "//etc", "/proc/self/environ"),
        *("missing", "~/.bashrc", "", " ", ".", "./", "site/..", "round", "a\0b", "site\n", "x" * 5000, "file:///etc/passwd"),
    ],
)
def test_nothing_but_what_is_in_the_topologys_folder_is_copied(folder: Path, source: str) -> None:
    assert "not to be seen" not in complaint(folder, files={"/srv/site": source})


@pytest.mark.parametrize("source", [None, 1, True, ["site"], {"site": "site"}])
def test_what_is_no_text_names_no_file(folder: Path, source: object) -> None:
    assert "is not the name of a file" in complaint(folder, files={"/srv/site": source})


@pytest.mark.parametrize(
    "place",
    [
        *(
            "/",
            "/proc",
            "/proc/self",
            "/sys/x",
            "/dev/null",
            "/usr/bin/sh",
            "/bin/sh",
            "/lib",
            "/etc/passwd",
            "/run/netboxit/log",
        ),
        *(
            "/run/wires",
            "/tmp/x",
            "/var/run/x",
            "/var",
            "/srvx",
            "/srv/../etc/passwd",
            "/srv/./x",
            "/srv//x",
            "/srv/x/",
            "//srv/x",
        ),
        *("srv/x", "./x", "", "~/x", "/srv/a\nb", "/srv/\x1b[31m", "/srv/" + "x" * 256, "/srv" + "/x" * 300, "/opt/x"),
    ],
)
def test_nothing_is_put_where_it_would_hide_what_the_lab_needs(folder: Path, place: str) -> None:
    assert "write" in (told := complaint(folder, files={place: "site"})) or "use shorter names" in told


def test_the_folder_of_netboxit_itself_is_not_hidden(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_files, "INSTALLATION", Path("/home/alice/netboxit"))
    assert "/home has NetBoxIT itself" in (told := complaint(folder, files={"/home/site": "site"}))
    assert told.endswith("write a path in /srv, /root, /var/lib or /var/www")
    assert planned(folder, files={"/srv/site": "site"}).node("web").copied


@pytest.mark.parametrize(
    ("web", "message"),
    [
        ({"files": {"/srv": "site", "/srv/site/a": "site"}}, "/srv/site/a is in /srv, which is copied, too"),
        ({"files": {"/srv": "site/index.html"}}, "write /srv/index.html"),
        (
            {"files": {f"/srv/{n}": "site" for n in range(33)}},
            "33 files and folders are to be copied, and 32 are the most; copy one folder",
        ),
        ({"restart": "always"}, "no program that could be started again; add start"),
        ({"start": ""}, "start"),
        ({"start": "a\0b"}, "number 0"),
        ({"start": "x" * 4097}, "start"),
        ({"start": ["nginx"]}, "a list stands where text is needed"),
        *(
            ({"packages": [name]}, f'"{name}" is no name of a Debian package')
            for name in ("Nginx", "nginx ", "../x", "--help", "-o", "x", "./x.deb", "nginx/stable", "nginx^", "nginx=", "a=1 b")
        ),
        ({"packages": "nginx"}, "'nginx' stands where a list is needed"),
        ({"packages": [f"a{n}" for n in range(65)]}, "packages"),
        ({"start": "true", "restart": "sometimes"}, "use never, on-failure or always|never"),
    ],
)
def test_what_does_not_hold_together_is_told(folder: Path, web: dict[str, Any], message: str) -> None:
    with pytest.raises(BadTopology) as told:
        planned(folder, **web)
    assert any(part in str(told.value) for part in message.split("|"))


def test_a_folder_with_something_hostile_in_it_is_refused_when_the_file_is_checked(folder: Path) -> None:
    os.mkfifo(folder / "site/below/pipe")
    assert "pipe is neither a file nor a folder" in complaint(folder, files={"/srv/site": "site"})
    (folder / "site/below/pipe").unlink()
    (folder / "site/below/link").symlink_to("/etc/shadow")
    assert "leads out of the folder that is copied" in complaint(folder, files={"/srv/site": "site"})


def test_files_go_to_etc_of_a_host_with_packages_alone(folder: Path) -> None:
    files = {"/etc/nginx/nginx.conf": "site/index.html", "/etc/own": "site"}
    assert list(planned(folder, files=files, packages=["nginx"]).node("web").copied) == list(files)
    (one,) = ({place: source} for place, source in files.items() if place == "/etc/own")
    assert "only a host with packages has an /etc of its own; add packages" in complaint(folder, files=one)
    for place in ("/etc/hosts", "/etc/passwd", "/etc/alternatives/x", "/etc/frr/frr.conf"):
        told = complaint(folder, files={place: "site/index.html"}, packages=["nginx"])
        assert "is the lab's, or the machine's, in each node; write another path" in told
    assert "write" in complaint(folder, files={"/etc": "site"}, packages=["nginx"])


def test_packages_are_planned_each_once_in_one_order(folder: Path) -> None:
    plan = planned(folder, packages=["nginx=1.22.1-9+deb12u4", "g++", "nginx=1.22.1-9+deb12u4", "libc6.1"])
    assert plan.node("web").packages == ("g++", "libc6.1", "nginx=1.22.1-9+deb12u4") and plan.node("client").packages == ()


def test_files_have_to_fit_on_the_disk_of_their_host(folder: Path) -> None:
    with (folder / "site/large").open("wb") as file:
        file.truncate(15_000_000)
    told = complaint(folder, files={"/srv/site": "site"}, limits={"disk": "16 MB"})
    assert "its files need a disk of 17 MB, and it has one of 16 MB" in told
    assert planned(folder, files={"/srv/site": "site"}, limits={"disk": "20 MB"})


def test_files_go_to_hosts_on_this_machine_only(folder: Path) -> None:
    known = KnownMachines("alpha", ("alpha", "beta"))
    files = {"/srv/site": "site"}
    for place in ("beta", "auto"):
        with pytest.raises(BadTopology, match="the files of web are on this machine"):
            planned(folder, known, files=files, host=place)
    with pytest.raises(BadTopology, match="it may be on any"):
        planned(folder, files=files, host="auto")
    with pytest.raises(UnknownMachine):  # that far it is sound; the machines are asked by whoever plans over several
        planned(folder, known, files=files, host="alpha")


def test_the_web_server_of_the_documentation_can_be_planned(folder: Path) -> None:
    (example,) = re.findall(r"```yaml\n(name: web\n.*?)```", (CHECKOUT / "docs/applications.md").read_text(), flags=re.DOTALL)
    (folder / "web.yaml").write_text(example)
    web = plan_topology(load(folder / "web.yaml"), realtime=REALTIME, cores=(0, 1)).node("web")
    assert list(web.copied) == ["/srv/site"] and host_program.of_user(web)


def test_what_all_hosts_get_together_is_bounded_before_it_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolve, "MOST_COPIED", 15)
    assert planned(folder, files={"/srv/a": "site", "/srv/b": "site"})
    with pytest.raises(file_trees.NotToBeCopied, match="the files of all hosts together are more than 15 B; copy less"):
        planned(folder, files={"/srv/a": "site", "/srv/b": "site", "/srv/c": "site"})
