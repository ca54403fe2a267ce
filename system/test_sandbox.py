# SPDX-License-Identifier: GPL-2.0-or-later
"""What a program in the sandbox can reach and use: here they are shells, which try it."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from system import sandbox
from system.sandbox import LimitExceeded, Limits, Outcome

SHORT = Limits(10.0)


def shell(script: str, limits: Limits = SHORT) -> Outcome:
    return sandbox.run(("/bin/sh", "-c", script), limits)


def test_it_is_nobody_has_no_capability_and_can_get_none() -> None:
    told = shell("id -u; grep -E 'Cap(Inh|Prm|Eff|Amb)|NoNewPrivs' /proc/self/status").output.decode().split()
    assert int(told[0]) != 0
    assert {value for name, value in zip(told[1::2], told[2::2], strict=True) if name.startswith("Cap")} == {"0" * 16}
    assert told[-2:] == ["NoNewPrivs:", "1"]


def test_it_sees_what_it_is_given_and_no_other_file_of_the_host(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("of this user")
    given = tmp_path / "folder" / "given"
    told = sandbox.run(("cat", str(given), str(tmp_path / "secret"), "/etc/passwd"), SHORT, reads={given: "hello"})
    assert (told.status, told.output) == (1, b"hello")
    assert told.complaint.count("No such file") == 2


def test_it_can_write_nowhere_but_in_its_own_tmp(tmp_path: Path) -> None:
    tried = ("/", "/dev/shm/", "/usr/", "/etc/", f"{CHECKOUT}/", f"{tmp_path}/", "/tmp/")
    told = shell("".join(f"(: > {folder}nbx-try) 2>/dev/null && echo {folder}; " for folder in tried))
    assert told.output.split() == [b"/tmp/"]
    assert not Path("/tmp/nbx-try").exists()


def test_it_reaches_no_network_and_no_process_of_the_host() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        script = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
        told = sandbox.run(("/usr/bin/python3", "-c", script), SHORT)
    assert told.status != 0 and ("refused" in told.complaint or "unreachable" in told.complaint)
    assert shell(f"[ -e /proc/{os.getpid()}/environ ] && tr '\\0' '\\n' < /proc/{os.getpid()}/environ").output == b""


@pytest.mark.parametrize(
    ("script", "limits", "complaint"),
    [
        ("sleep 60", Limits(0.3), "not over after 0.3 s"),
        ("while :; do :; done", Limits(0.3), "not over after 0.3 s"),
        ("yes", Limits(10.0, output_bytes=1 << 16), "wrote more than 0.0625 MiB"),
        ("exec head -c 100000000 /dev/zero > /tmp/large", SHORT, "wrote a file of more than 16 MiB"),
        ("kill -SEGV $$", SHORT, "SIGSEGV"),
    ],
)
def test_one_that_uses_more_than_it_may_is_ended_and_told(script: str, limits: Limits, complaint: str) -> None:
    with pytest.raises(LimitExceeded, match=complaint):
        shell(script, limits)


def test_memory_and_all_its_files_together_have_a_bound() -> None:
    told = sandbox.run(("/usr/bin/python3", "-c", "bytearray(64 << 20)"), Limits(10.0, memory_bytes=48 << 20))
    assert told.status == 1 and "MemoryError" in told.complaint
    # Eight files of 15 MiB are more than its /tmp holds.
    told = shell("for n in 1 2 3 4 5 6 7 8; do head -c 15728640 /dev/zero > /tmp/$n || exit 9; done")
    assert (told.status, "No space left" in told.complaint) == (9, True)


def test_a_checkout_that_only_root_may_enter_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sandbox, "INSTALLATION", tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    tmp_path.chmod(0o700)
    with pytest.raises(sandbox.SandboxFailed, match="chmod"):
        shell("true")
