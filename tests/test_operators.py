# SPDX-License-Identifier: GPL-2.0-or-later
"""People who are not root use labs by the one sudo rule, made and undone by its playbook, and get nothing else by it.

All in one machine of the test's own, whose users, sudoers and programs are thrown away with it.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from contracts.installation import CHECKOUT
from ownership.operators import PROGRAM, SETTINGS
from tests.documents import result
from tests.member_hosts import MemberHosts, run_in_member_hosts

pytestmark = [
    pytest.mark.lab,
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("sudo") is None, reason="sudo is not installed"),
]

NETBOXIT = str(CHECKOUT / "netboxit.py")
LAB = """\
name: x
hosts:
  a: {address: 10.1.0.1/24, gateway: 10.1.0.254}
  b: {address: 10.2.0.1/24, gateway: 10.2.0.254}
routers:
  r: {configuration: click/ip-router.click, interfaces: {a: 10.1.0.254/24, b: 10.2.0.254/24}}
wires:
  - [a, r.a]
  - [r.b, b]
"""
#: The same with copies of a folder of the operator's own.
WITH_FILES = LAB.replace("name: x", "name: y").replace("gateway: 10.1.0.254}", "gateway: 10.1.0.254, files: {/srv/site: site}}")
#: For the lab of the first one.
TRAFFIC = """\
name: x
centre: b
traffic:
  readings: {application: udp-flow, from: a, to: b, rate: 40 kbit/s, payload: 72 B, duration: 1 s}
"""
#: Of the machine's; whoever reads it elsewhere has seen it by root's rights.
SECRET = "TheSecretOfThisMachine"

Done = subprocess.CompletedProcess[str]


def as_user(name: str, *words: str | Path, **environment: str) -> Done:
    user = pwd.getpwnam(name)
    return subprocess.run(
        list(map(str, words)),
        user=user.pw_uid,
        group=user.pw_gid,
        extra_groups=os.getgrouplist(name, user.pw_gid),
        cwd=user.pw_dir,
        env={"PATH": "/usr/bin:/bin", "HOME": user.pw_dir} | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def playbook(expected: int = 0, **variables: str) -> str:
    extra = [word for name, value in variables.items() for word in ("-e", f"netboxit_operators{name}={value}")]
    argv = [str(CHECKOUT / ".venv/bin/ansible-playbook"), "-i", "localhost,", str(CHECKOUT / "ansible/operators.yml"), *extra]
    environment = os.environ | {"ANSIBLE_PIPELINING": "true"}  # half the processes
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout


def in_a_machine(hosts: MemberHosts) -> dict[str, Any]:
    os.environ.pop("NETBOXIT_STATE")
    for name in ("alice", "bob", "carol"):
        subprocess.run(["useradd", "--create-home", "--shell", "/bin/sh", name], check=True)
    with Path("/etc/hosts").open("a") as file:
        file.write(f"127.0.1.1 {hosts.names[0]}\n")
    secret = Path("/etc/secret.click")
    secret.write_text(SECRET)
    secret.chmod(0o600)
    found: dict[str, Any] = {"before": as_user("alice", NETBOXIT, "up", "x.yaml")}
    subprocess.run(["groupadd", "netboxit"], check=True)
    found["somebody's group"] = playbook(expected=2, **{"": "alice,bob"})
    subprocess.run(["groupdel", "netboxit"], check=True)
    playbook(**{"": "alice,bob"})
    home = Path("/home/alice")
    for folder in (home, Path("/home/bob"), Path("/home/carol")):
        (folder / "x.yaml").write_text(LAB)
    found |= ordinary(home) | of_others() | attacks(home, secret)
    found["taken down"] = as_user("alice", NETBOXIT, "down", "--all", "--json")
    found["up again"] = as_user("alice", NETBOXIT, "up", "x.yaml")
    found["undone"] = playbook(_state="absent")
    found["down by root"] = subprocess.run([NETBOXIT, "down", "x"], capture_output=True, text=True, check=False)
    found["after"] = as_user("alice", NETBOXIT, "up", "x.yaml")
    found["left"] = [str(path) for path in (PROGRAM, SETTINGS.parent, Path("/etc/sudoers.d/netboxit")) if path.exists()]
    found["left"] += [
        path for path in hosts.changes(hosts.names[0]) if path.startswith("/var/lib/netboxit/") and "labs" not in path
    ]
    return found


def ordinary(home: Path) -> dict[str, Any]:
    """What operators are for."""
    found: dict[str, Any] = {
        "run": as_user("alice", NETBOXIT, "run", "x.yaml", "--duration", "1 s"),
    }
    found["run's files"] = {file.lstat().st_uid for file in (home / "results").rglob("*")} == {pwd.getpwnam("alice").pw_uid}
    found["up"] = as_user("alice", NETBOXIT, "up", "x.yaml")
    found["plan"] = as_user("alice", NETBOXIT, "plan", "x.yaml")
    found["exec"] = as_user("alice", NETBOXIT, "exec", "--lab", "x", "a", "--", "ping", "-c", "1", "b")
    found["capture"] = as_user("alice", NETBOXIT, "capture", "--lab", "x", "--duration", "0.2", "a", "a.pcapng")
    found["capture's owner"] = (home / "a.pcapng").owner()
    (home / "traffic.yaml").write_text(TRAFFIC)
    found["traffic"] = as_user("alice", NETBOXIT, "traffic", "traffic.yaml", "--results", "sent")
    found["traffic's files"] = {file.lstat().st_uid for file in (home / "sent").rglob("*")} == {pwd.getpwnam("alice").pw_uid}
    found["copy"] = as_user("alice", NETBOXIT, "copy", "--lab", "x", "traffic.yaml", "a:/run/netboxit/there")
    found["copy back"] = as_user("alice", NETBOXIT, "copy", "--lab", "x", "a:/run/netboxit/there", "back")
    found["copy's owner"] = (home / "back").owner()
    (home / "y.yaml").write_text(WITH_FILES)
    (home / "site").mkdir()
    (page := home / "site/page").write_text("alice's own\n")
    for mine in (home / "site", page):
        shutil.chown(mine, "alice")
        mine.chmod(0o700)
    found["up with files"] = as_user("alice", NETBOXIT, "up", "y.yaml")
    found["files"] = as_user("alice", NETBOXIT, "exec", "--lab", "y", "a", "--", "cat", "/srv/site/page")
    found["down with files"] = as_user("alice", NETBOXIT, "down", "y")
    return found


def of_others() -> dict[str, Any]:
    return {
        "not in the group": as_user("carol", NETBOXIT, "status"),
        "not in the group, by sudo": as_user("carol", "sudo", "-n", PROGRAM, "status"),
        "another's status": as_user("bob", NETBOXIT, "status", "--json"),
        "another's down": as_user("bob", NETBOXIT, "down", "x"),
        "another's apply": as_user("bob", NETBOXIT, "apply", "x.yaml"),
        "another's plan": as_user("bob", NETBOXIT, "plan", "x.yaml"),
        "a stranger's plan": as_user("carol", NETBOXIT, "plan", "/home/carol/x.yaml"),
    }


def attacks(home: Path, secret: Path) -> dict[str, Any]:
    """What must not be had by it, each tried by the program itself, past what `netboxit` does on the way to it."""

    def tried(*words: str | Path, **environment: str) -> Done:
        return as_user("alice", "sudo", "-n", PROGRAM, *words, **environment)

    evil = home / "evil"
    (evil / "testbed").mkdir(parents=True)
    for file in ("sitecustomize.py", "testbed/__init__.py", "typer.py"):
        (evil / file).write_text(f"open({str(evil / 'has-run')!r}, 'a')\n")
    (evil / "python3").write_text(f"#!/bin/sh\ntouch {evil}/has-run\n")
    (evil / "python3").chmod(0o755)
    lab = Path("/var/lib/netboxit/labs/x")
    tried("exec", "--lab", "x", "a", "--", "sh", "-c", "cp /usr/bin/id /run/netboxit/id; chmod 4755 /run/netboxit/id")
    subprocess.run(["ip", "link", "add", "nic7", "type", "veth", "peer", "far7"], check=True)
    (closed := home / "site/closed").write_text(SECRET)
    closed.chmod(0o600)
    found: dict[str, Any] = {
        "root's file in a folder": tried("up", home / "y.yaml"),
        "a secret copied": tried("copy", "--lab", "x", secret, "a:/run/netboxit/secret"),
        "a copy to root": tried("copy", "--lab", "x", "a:/etc/hosts", secret, "--overwrite"),
        "a secret set": tried("set", "--lab", "x", "r", f"configuration={secret}"),
        "python's path": tried("drill", "--list", PYTHONPATH=str(evil), PYTHONHOME=str(evil), PATH=f"{evil}:/usr/bin"),
        "a state given": as_user("alice", "sudo", "-n", "NETBOXIT_STATE=/home/alice", PROGRAM, "down", "--all"),
        "a path given": as_user("alice", "sudo", "-n", f"PYTHONPATH={evil}", PROGRAM, "status"),
        "another program": as_user("alice", "sudo", "-n", NETBOXIT, "status"),
        "bench": tried("bench"),
        "a NIC": tried("attach", "--lab", "x", "nic7", "a"),
        "what a node leaves": as_user("alice", "stat", lab / "nodes/a/id"),
        "a small limit": as_user("alice", "sh", "-c", f"ulimit -f 1; exec sudo -n {PROGRAM} up x.yaml --name limited"),
    }
    found["evil has run"] = (evil / "has-run").exists()
    unconfined = "root of node r is the host's own"
    told = tried("exec", "--lab", "x", "r", "--", "id", "-u")
    found["exec is confined or refused"] = told.stdout == "0\n" if told.returncode == 0 else unconfined in told.stderr
    os.chown(CHECKOUT / "testbed/views", pwd.getpwnam("alice").pw_uid, -1)
    found["a checkout of the operator's"] = tried("status")
    os.chown(CHECKOUT / "testbed/views", 0, -1)
    return found


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    return run_in_member_hosts(in_a_machine, names=("alpha",))


def test_a_member_of_the_group_uses_labs_without_being_root(found: dict[str, Any]) -> None:
    for what in ("run", "traffic", "up", "exec", "capture", "copy", "copy back", "up with files", "files", "down with files"):
        assert found[what].returncode in (0, 3 if what in ("run", "traffic") else 0), (what, found[what].stderr)
    assert "with root's rights, by sudo /usr/local/sbin/netboxit-operator" in found["up"].stderr
    assert found["run's files"], "also what was written with root's rights"
    assert found["traffic's files"], "also what was written with root's rights"
    assert found["capture's owner"] == found["copy's owner"] == "alice"
    assert found["files"].stdout == "alice's own\n"
    assert result(found["taken down"].stdout, "down")["removed"] == ["x"], found["taken down"].stderr


def test_who_is_no_operator_is_told_how_to_become_one(found: dict[str, Any]) -> None:
    assert "ansible/operators.yml" in found["before"].stderr
    assert "root adds you" in found["not in the group"].stderr
    assert found["not in the group, by sudo"].returncode == 1
    assert "ansible/operators.yml" in found["after"].stderr, "it is undone"
    assert found["left"] == []


def test_a_group_that_is_there_already_makes_nobody_an_operator(found: dict[str, Any]) -> None:
    assert "There is a group netboxit already" in found["somebody's group"]


def test_whoever_undoes_it_is_told_which_labs_are_left_and_can_end_them(found: dict[str, Any]) -> None:
    assert found["up again"].returncode == 0, found["up again"].stderr
    assert "lab x is up, of user" in found["undone"]
    assert found["down by root"].returncode == 0, found["down by root"].stderr


def test_labs_of_others_are_seen_and_left_alone(found: dict[str, Any]) -> None:
    # The machine may have labs of its own.
    assert "x" in {lab["lab"] for lab in result(found["another's status"].stdout, "status")["labs"]}
    for what in ("down", "apply"):
        told = found[f"another's {what}"]
        assert (told.returncode, "lab x is alice's" in told.stderr) == (1, True), (what, told.stderr)


def test_what_apply_would_change_is_for_the_labs_owner_to_see(found: dict[str, Any]) -> None:
    for whose, words in (
        ("plan", "lab x is up; it is what the file says"),
        ("another's plan", "lab x is alice's"),
        ("a stranger's plan", "ask as root"),
    ):
        told = found[whose]
        assert told.returncode == 0, told.stderr
        assert words in " ".join(told.stdout.split()), told.stdout


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("a secret set", "Permission denied"),
        ("a secret copied", "Permission denied"),
        ("a copy to root", "Permission denied"),
        ("root's file in a folder", "site/closed cannot be read: Permission denied"),
        ("a state given", "not allowed to set the following environment variables"),
        ("a path given", "not allowed to set the following environment variables"),
        ("another program", "password is required"),
        ("bench", "operators may use plan, up, apply"),
        ("a NIC", "operators may not have nic7"),
        ("what a node leaves", "Permission denied"),
        ("a checkout of the operator's", "testbed/views is not root's alone"),
    ],
)
def test_more_than_labs_is_not_to_be_had(what: str, words: str, found: dict[str, Any]) -> None:
    told = found[what]
    assert told.returncode != 0, told.stdout
    assert words in told.stderr, told.stderr
    assert SECRET not in told.stdout + told.stderr
    assert "defect" not in told.stderr


def test_nothing_of_the_operators_own_runs_as_root(found: dict[str, Any]) -> None:
    assert found["python's path"].returncode == 0, found["python's path"].stderr
    assert not found["evil has run"]
    assert found["exec is confined or refused"]
    limited = found["a small limit"]
    assert limited.returncode == 0 or "limits" in limited.stderr, limited.stderr
