# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that read what others wrote, a colleague's file or a node's recording: shut in by bubblewrap, with limits.

Such a program sees the host's programs and this checkout, both read-only, writes nowhere but in a small /tmp of its own, and
reaches no network. For root it runs as an unused user of the host; for all others as themselves, in a user namespace.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from contracts.errors import NetBoxITError, printable_lines
from contracts.installation import INSTALLATION, SETUP
from system import strays, users

PROGRAM: Final = "bwrap"

#: Of a merged /usr; programs of the host find their loader and libraries by them.
_LINKS: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
#: Some of Debian's libraries are found by these only (libblas, for ffmpeg).
_LIBRARIES: Final = ("/etc/alternatives", "/etc/ld.so.cache")
#: The user of a program that root runs: no account has this number, the next after those of nodes' users (system/users.py).
_NOBODY: Final = users.FIRST_ID + users.IDS
_AS_NOBODY: Final = (
    *("/usr/bin/setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}"),
    *("--clear-groups", "--inh-caps=-all"),
)

_TMP_BYTES: Final = 64 << 20
_OPEN_FILES: Final = 256
#: Of one user on this host, so for all sandboxes of root's together.
_PROCESSES: Final = 256
#: Of what it writes on its standard error.
_COMPLAINT_BYTES: Final = 64 << 10
#: A shell, and bubblewrap, give 128 and the number of the signal that ended a program.
_BY_SIGNAL: Final = 128


class SandboxFailed(NetBoxITError):
    """A program could not be shut in, and was not run."""


class LimitExceeded(NetBoxITError):
    """A program used more than it may, and was ended. The cause is in what it read; `what` says which limit it was."""

    def __init__(self, program: str, what: str, complaint: str) -> None:
        super().__init__(f"{program} was ended: {what}" + (f"; it said: {complaint}" if complaint else ""))
        self.what = what


@dataclass(frozen=True)
class Limits:
    """What a program may use. The time is the clock's and, for each of its processes, the processor's."""

    time_s: float
    #: Address space of each of its processes.
    memory_bytes: int = 1 << 30
    #: What it may write on its standard output.
    output_bytes: int = 16 << 20
    #: Of each file that it writes.
    file_bytes: int = 16 << 20


@dataclass(frozen=True)
class Outcome:
    """How a program ended, and what it wrote on its standard output and error."""

    status: int
    output: bytes
    complaint: str


def run(
    command: Sequence[str], limits: Limits, *, reads: Mapping[Path, str] | None = None, stdin: BinaryIO | None = None
) -> Outcome:
    """Runs a program to its end. Raises SandboxFailed, LimitExceeded.

    It sees what it `reads` (absolute paths, and the text there: files are read by who may read them) and `stdin`, from where
    that stands.
    """
    with running(command, limits, reads=reads, stdin=stdin) as program:
        output = program.read(limits.output_bytes + 1)
        return Outcome(program.wait(), output, program.complaint())


@contextmanager
def running(
    command: Sequence[str],
    limits: Limits,
    *,
    reads: Mapping[Path, str] | None = None,
    stdin: BinaryIO | None = None,
    writes: Path | None = None,
) -> Iterator[Program]:
    """The same for one whose output is read while it runs; it is ended afterwards. Raises SandboxFailed.

    It may do whatever it likes in the folder that it `writes`, which `share` has given it; what it leaves there is a stranger's.
    """
    if os.geteuid() == 0 and not INSTALLATION.stat().st_mode & 0o001:
        raise SandboxFailed(
            f"{command[0]} runs in a sandbox only, as a user that nobody is, and only its owner may enter {INSTALLATION}; "
            f"let others pass: chmod o+x {INSTALLATION}"
        )
    with ExitStack() as opened:
        texts = {path: opened.enter_context(in_memory(text.encode())) for path, text in (reads or {}).items()}
        complaints = opened.enter_context(in_memory(b""))
        try:
            process = subprocess.Popen(
                [*_enclosure(texts, writes), "--", *_limiting(limits), *command],
                stdin=stdin or subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
                pass_fds=[text.fileno() for text in texts.values()],
                # bubblewrap's second process waits for ever when its first one is killed too early.
                env=strays.marked_environment(),
            )
        except FileNotFoundError:
            raise SandboxFailed(f"{command[0]} runs in a sandbox only, and {PROGRAM} is not installed; run `{SETUP}`") from None
        with process:  # at its end it waits for bubblewrap, which is killed by then
            try:
                yield Program(command[0], process, complaints, limits)
            finally:
                process.kill()


class Program:
    """A program that runs in a sandbox."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], complaints: BinaryIO, limits: Limits) -> None:
        assert process.stdout is not None, "it was asked for"
        self._name, self._process, self._output, self._complaints = name, process, process.stdout.fileno(), complaints
        self._limits, self._deadline, self._came = limits, time.monotonic() + limits.time_s, 0

    def read(self, count: int) -> bytes:
        """So many bytes of what it writes on its standard output; fewer only at its end. Raises LimitExceeded."""
        parts: list[bytes] = []
        while count > 0:
            if not select.select([self._output], [], [], max(0.0, self._deadline - time.monotonic()))[0]:
                raise self._exceeded_time()
            part = os.read(self._output, min(count, 1 << 20))
            if not part:
                break
            count -= len(part)
            self._came += len(part)
            if self._came > self._limits.output_bytes:
                raise self._exceeded(f"it wrote more than {_mebibytes(self._limits.output_bytes)}")
            parts.append(part)
        return b"".join(parts)

    def wait(self) -> int:
        """Its status, once it has ended: 128 and more for a signal. Raises LimitExceeded, SandboxFailed."""
        try:
            status = self._process.wait(max(0.0, self._deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise self._exceeded_time() from None
        if self.complaint().startswith(f"{PROGRAM}: "):
            raise SandboxFailed(
                f"{self._name} runs in a sandbox only, and none could be made: {self.complaint().strip()}; "
                "this host lets only root make user namespaces, or nobody"
            )
        if status == _BY_SIGNAL + signal.SIGXCPU:
            raise self._exceeded_time()
        if status == _BY_SIGNAL + signal.SIGXFSZ:
            raise self._exceeded(f"it wrote a file of more than {_mebibytes(self._limits.file_bytes)}")
        if status in (_BY_SIGNAL + signal.SIGABRT, _BY_SIGNAL + signal.SIGSEGV, _BY_SIGNAL + signal.SIGKILL):
            name, memory = signal.Signals(status - _BY_SIGNAL).name, _mebibytes(self._limits.memory_bytes)
            raise self._exceeded(f"it ended by {name}; it may use {memory} of memory")
        return status

    def complaint(self) -> str:
        """What it wrote on its standard error, up to now."""
        return os.pread(self._complaints.fileno(), _COMPLAINT_BYTES, 0).decode(errors="replace")

    def _exceeded_time(self) -> LimitExceeded:
        return self._exceeded(f"it was not over after {self._limits.time_s:g} s")

    def _exceeded(self, what: str) -> LimitExceeded:
        complaint = printable_lines(self.complaint().strip())[-500:]
        return LimitExceeded(Path(self._name).name, what, complaint)


@contextmanager
def in_memory(content: bytes) -> Iterator[BinaryIO]:
    """A file with that content, to be read from its beginning, in memory alone."""
    with os.fdopen(os.memfd_create("content"), "w+b") as file:
        file.write(content)
        file.seek(0)
        yield file


def share(folder: Path) -> None:
    """Gives a folder, with all in it, to the user that programs in sandboxes have: root's have another one than whoever calls."""
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, _NOBODY, _NOBODY, follow_symlinks=False)


def _enclosure(texts: Mapping[Path, BinaryIO], writes: Path | None) -> list[str]:
    return [
        PROGRAM,
        *("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"),
        *("--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"),
        # Of root's it needs no user namespace, which would map no other user; it gives these two up with its user.
        *(("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID") if os.geteuid() == 0 else ("--unshare-user",)),
        *("--ro-bind", "/usr", "/usr"),
        *(part for name in _LINKS for part in ("--symlink", f"usr/{name}", f"/{name}")),
        *_made(_open_folders(texts)),
        *(part for path in _LIBRARIES for part in ("--ro-bind-try", path, path)),
        *("--dev", "/dev", "--remount-ro", "/dev", "--proc", "/proc"),
        *("--size", str(_TMP_BYTES), "--perms", "1777", "--tmpfs", "/tmp"),  # the sandbox's own
        *("--ro-bind", str(INSTALLATION), str(INSTALLATION)),
        *(part for path, text in texts.items() for part in ("--perms", "0444", "--ro-bind-data", str(text.fileno()), str(path))),
        *(() if writes is None else (*_made(_open_folders([writes])), "--bind", str(writes), str(writes))),
        *("--remount-ro", "/", "--chdir", "/tmp", "--setenv", "PATH", "/usr/sbin:/usr/bin"),
    ]


def _made(folders: Iterable[Path]) -> Iterator[str]:
    return (part for folder in folders for part in ("--perms", "0755", "--dir", str(folder)))


def _open_folders(paths: Iterable[Path]) -> list[Path]:
    """Those above what is put there: bubblewrap would make them for its own user alone."""
    above = {parent for path in (Path("/etc/x"), INSTALLATION, *paths) for parent in path.parents if parent != Path("/")}
    return sorted(folder for folder in above if not folder.is_relative_to(INSTALLATION) and not folder.is_relative_to("/usr"))


def _limiting(limits: Limits) -> list[str]:
    """What sets the limits, and gives root's rights up (prlimit(1), setpriv(1))."""
    cpu_s = int(limits.time_s) + 1
    bounds = {
        "as": (resource.RLIMIT_AS, limits.memory_bytes, limits.memory_bytes),
        # Where the soft one is the hard one the kernel ends a process by SIGKILL, which says nothing.
        "cpu": (resource.RLIMIT_CPU, cpu_s, cpu_s + 1),
        "fsize": (resource.RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes),
        "nofile": (resource.RLIMIT_NOFILE, _OPEN_FILES, _OPEN_FILES),
        "nproc": (resource.RLIMIT_NPROC, _PROCESSES, _PROCESSES),
        "core": (resource.RLIMIT_CORE, 0, 0),
    }
    return [
        "/usr/bin/prlimit",
        *(f"--{name}={_allowed(kind, soft)}:{_allowed(kind, hard)}" for name, (kind, soft, hard) in bounds.items()),
        *(() if os.geteuid() else _AS_NOBODY),
    ]


def _allowed(kind: int, wanted: int) -> int:
    """No more than this process has itself: nobody without CAP_SYS_RESOURCE may raise a limit."""
    hard = resource.getrlimit(kind)[1]
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)


def _mebibytes(count: int) -> str:
    return f"{count / (1 << 20):g} MiB"
