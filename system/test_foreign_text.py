# SPDX-License-Identifier: GPL-2.0-or-later
"""Names and environments of processes and mount points that are any bytes: anybody on the machine may choose them."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from system import foreign_text, processes, strays
from system.processes import ProcessIdentity
from testbed.probes import other_software
from tests.waiting import until

_PR_SET_NAME = 15
_PR_SET_NO_NEW_PRIVS = 38
#: Not UTF-8; with all that Python takes for the end of a line; as if other fields followed.
NAMES = (b"\xff\xfe\xe2\x82", b"a\x0cNSpid:\t1", b") Z 1 1 1", b"\xc2\x85Uid:\t0")


@contextmanager
def process(name: bytes = b"x", environment: Mapping[bytes, bytes] | None = None) -> Iterator[int]:
    """A process of that name, which sleeps."""
    program = f"import ctypes, signal; ctypes.CDLL(None).prctl({_PR_SET_NAME}, {name!r}, 0, 0, 0); signal.pause()"
    child = subprocess.Popen([sys.executable, "-S", "-c", program], env=environment)
    try:
        until(lambda: Path(f"/proc/{child.pid}/comm").read_bytes() == name[:15] + b"\n")
        yield child.pid
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize("name", NAMES)
def test_a_process_is_known_whatever_it_is_called(name: bytes) -> None:
    with process(name) as pid:
        identity = ProcessIdentity.of(pid)
        assert identity is not None and identity.alive()
        assert ProcessIdentity.read(str(identity)) == identity
        assert processes.is_own_users(pid)
        assert not processes.is_init(pid)
        assert not processes.has_no_new_privileges(pid)


def test_other_software_is_found_beside_a_process_of_any_name() -> None:
    with process(b"\xff\xfe"), process(b"NetworkManager"):
        assert "NetworkManager" in other_software._running(Path("/"))


@pytest.mark.parametrize(
    "text", ["", "x", "1", "1-", "-1", "1-2-3", "1-x", "١-٢", "+1-2", "1-2\n", "1" * 5000 + "-1", "\udcff-1", "0x1-1", "1_0-1"]
)
def test_a_text_that_is_no_identity_is_none(text: str) -> None:
    assert ProcessIdentity.read(text) is None


def test_an_environment_that_only_looks_like_a_mark_is_nobodys() -> None:
    numbering = strays._numbering().encode()
    values = (b"x", b"", b"\xff", b":", numbering + b":x", numbering + b":\xff", numbering + b":" + b"9" * 5000 + b"-1")
    for value in values:
        with process(environment={b"NETBOXIT_MAKER": value, b"LANG": b"\xff"}) as pid:
            strays.remove()
            assert ProcessIdentity.of(pid) is not None, value


def test_a_program_whose_maker_is_gone_ends_beside_such_environments() -> None:
    gone = subprocess.Popen(["true"])
    identity = f"{gone.pid}-1"
    gone.wait()
    with process(environment={b"NETBOXIT_MAKER": b"\xff"}):
        left = subprocess.Popen(["sleep", "60"], env={"NETBOXIT_MAKER": f"{strays._numbering()}:{identity}"})
        until(lambda: b"NETBOXIT_MAKER" in Path(f"/proc/{left.pid}/environ").read_bytes())
        strays.remove()
        assert left.wait(10) == -signal.SIGKILL


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"a\x0bb\x0cc\xc2\x85d\r\ne\xff\n\n")
    assert foreign_text.lines(tmp_path / "text") == ["a\x0bb\x0cc\x85d\r", "e\udcff", ""]
    assert os.fsencode(foreign_text.read(tmp_path / "text")) == (tmp_path / "text").read_bytes()


@pytest.mark.lab
def test_control_groups_are_found_beside_a_mount_point_of_any_name(tmp_path: Path) -> None:
    """As any user can make one by FUSE."""
    child = os.fork()
    if child == 0:  # pragma: no cover, another process
        try:
            libc = ctypes.CDLL(None, use_errno=True)
            place = bytes(tmp_path) + b"/\xff \x85cgroup"
            Path(os.fsdecode(place)).mkdir()
            private = libc.unshare(0x00020000) or libc.mount(b"none", b"/", None, 1 << 18 | 1 << 14, None)
            failed = private or libc.mount(b"any\xffthing", place, b"tmpfs", 0, None)
            os.execv(sys.executable, [sys.executable, "-c", _FINDS_CPUSET if not failed else "exit(2)"])
        finally:
            os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


_FINDS_CPUSET = "from system import cores; exit(0 if cores.hierarchy_of('cpuset') else 1)"
