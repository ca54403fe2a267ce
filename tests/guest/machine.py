# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest: Debian 12 as users have it (systemd, cgroup v2 alone, its kernel, AppArmor), in QEMU without a network.

Commands go in, and their output comes out, by the QEMU guest agent at a virtio-serial port.
"""

from __future__ import annotations

import base64
import json
import shlex
import socket
import subprocess
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import pytest

from contracts.installation import CHECKOUT
from tests.guest.disks import INITRD, KERNEL

#: Half a minute on two quiet cores; there is nothing to be gained by less patience with busy ones.
_BOOT_S: Final = 600.0
#: A processor that QEMU 7.2 emulates may get no timer interrupt any more after it is brought up: what waits for time on it waits
#: for ever. Linux says so whenever its RCU has stalled for 21 s (kernel/rcu/tree_stall.h). It was seen once, and not in 30 boots,
#: three at a time on two cores, that looked for it. There is nothing of ours in a guest that boots: it is booted again.
_TIMER_LOST: Final = "kthread timer wakeup didn't happen"
_BOOTS: Final = 3
_ANSWER_S: Final = 60.0
#: What a guest needs for a command that waits for a second.
_AWAKE_S: Final = 60.0
_SAVED_S: Final = 300.0
_ENVIRONMENT: Final = (
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME=/root",
    "LANG=C.UTF-8",
    # Where a program crashes is said by what it wrote.
    "PYTHONFAULTHANDLER=1",
    "USER=root",
)


class GuestFailed(AssertionError):
    """A guest did not boot, a command in it took too long, or it ended."""


class _TimerLost(GuestFailed):
    """QEMU's fault, at which the guest is booted again (`_TIMER_LOST`)."""


@dataclass(frozen=True)
class Done:
    """A command that has ended, what it wrote to standard output and error, and what the kernel said meanwhile."""

    command: str
    status: int
    output: str
    console: str

    def checked(self, *statuses: int) -> str:
        """Its output. Raises GuestFailed when it ended with another status than these (by default 0)."""
        if self.status not in (statuses or (0,)):
            if _TIMER_LOST in self.console:
                pytest.skip(f"QEMU lost a timer interrupt of the guest during {self.command}, which ended with {self.status}")
            raise GuestFailed(f"in the guest: {self.command}\nended with {self.status}:\n{self.output}\n{self.console}")
        return self.output


class Guest:
    """A guest on two disks, as long as the block lasts; what it writes stays on them.

    `kernel` are more words of its command line, `apparmor=0` say; `devices` are more words for QEMU, an interface say. `saved` is
    the file of a guest that was saved (`save`), whose disks are below these: this one continues it, and does not boot. `ready` is
    how many seconds either took.
    """

    def __init__(
        self,
        disks: Sequence[Path],
        *,
        kernel: Sequence[str] = (),
        devices: Sequence[str] = (),
        memory_mib: int = 3072,
        saved: Path | None = None,
    ) -> None:
        self._folder, self._saved = disks[0].parent, saved
        words = ["root=/dev/vda", "console=ttyS0", "quiet", "panic=-1", "mitigations=off", *kernel]
        self._argv = [
            # Without KVM, which many virtual machines offer and do not have. A processor of 2008: QEMU 7.2 computes wrongly with
            # AVX2 (NumPy sorts wrongly or crashes, Polars crashes), and is slower with it. Nor has it `rep stosb`, of which TCG
            # makes a step for each byte: Linux would clear pages by it, seven times slower.
            *("qemu-system-x86_64", "-nodefaults", "-display", "none", "-accel", "tcg,thread=multi"),
            *("-cpu", "Nehalem", "-smp", "2"),
            *("-m", str(memory_mib), "-kernel", str(KERNEL), "-initrd", str(INITRD), "-append", " ".join(words)),
            *("-serial", f"file:{self._folder / 'console'}", "-device", "virtio-serial", "-device", "virtio-rng-pci"),
            *("-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0"),
            # What the guest has flushed to its disk is there after its power was cut (`cache=unsafe` would spoil the overlay).
            *(word for disk in disks for word in ("-drive", f"file={disk},format=qcow2,if=virtio,cache=writeback,discard=unmap")),
            *("-mon", "chardev=monitor,mode=control"),
            *devices,
        ]

    def __enter__(self) -> Self:
        if self._saved is None:
            self.boot()
        else:
            self._start(("-incoming", f"exec:cat {shlex.quote(str(self._saved))}"))
        return self

    def boot(self) -> None:
        """Boots it, also after its power was cut."""
        for left in reversed(range(_BOOTS)):
            try:
                return self._start(())
            except _TimerLost:
                if not left:
                    raise
                warnings.warn("QEMU lost a timer interrupt of a guest, which is booted again", stacklevel=2)

    def save(self, file: Path) -> None:
        """Writes its memory and devices to a file and ends it: what is on its disks goes with that from now on.

        It is QEMU's migration to another process, later (QEMU documentation, "Migration framework").
        """
        with self._monitor.makefile("rw", buffering=1) as monitor:

            def ask(command: str, **arguments: Any) -> Any:
                monitor.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
                while "return" not in (answer := json.loads(monitor.readline())):
                    if "error" in answer:
                        raise GuestFailed(f"QEMU refused {command}: {answer['error']}")
                return answer["return"]

            monitor.readline()  # its greeting
            ask("qmp_capabilities")
            ask("migrate-set-parameters", **{"max-bandwidth": 1 << 40})
            ask("migrate", uri=f"exec:cat >{shlex.quote(str(file))}")
            deadline = time.monotonic() + _SAVED_S
            while (state := ask("query-migrate"))["status"] != "completed":
                if state["status"] == "failed" or time.monotonic() > deadline:
                    raise GuestFailed(f"QEMU has not saved the guest: {state}")
                time.sleep(0.2)
            ask("quit")
        self._process.wait()

    def _start(self, more: Sequence[str]) -> None:
        begun = time.monotonic()
        (self._socket, agent), (self._monitor, monitor) = socket.socketpair(), socket.socketpair()
        self._monitor.settimeout(_SAVED_S)
        self._asked, self._received = 0, b""
        self._hangs = ""
        with (self._folder / "qemu.log").open("wb") as log, agent, monitor:
            fds = {"agent": agent.fileno(), "monitor": monitor.fileno()}
            argv = [*self._argv, *(word for name, fd in fds.items() for word in ("-chardev", f"socket,id={name},fd={fd}")), *more]
            self._process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[*fds.values()])
        try:
            self._wait_booted(begun + _BOOT_S)
        except BaseException:
            self.cut_power()
            raise
        self.ready = time.monotonic() - begun

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.cut_power()

    def cut_power(self) -> None:
        """Ends it at once. What its kernel has not written to its disks is lost."""
        self._process.kill()
        self._process.wait()
        self._socket.close()
        self._monitor.close()

    def run(self, command: str, *, within_s: float = 400, stdin: str = "") -> Done:
        """Runs a shell's command as root in the checkout. Raises GuestFailed when it takes longer.

        Where the guest itself hangs, further commands fail at once: each would have its whole time.
        """
        if self._hangs:
            raise GuestFailed(f"the guest hangs since {self._hangs}")
        with suppress(TimeoutError):  # of its agent
            if done := self._within(within_s, command, stdin):
                return done
        raise GuestFailed(f"in the guest: {command}\nhas not ended after {within_s:g} s\n{self._state_after(command)}")

    def _within(self, seconds: float, command: str, stdin: str = "") -> Done | None:
        """Runs it. None when it takes longer."""
        console = self._folder / "console"
        said = console.stat().st_size if console.exists() else 0
        started = self.start(command, stdin=stdin)
        deadline, pause = time.monotonic() + seconds, 0.02
        while not (state := self._call("guest-exec-status", pid=started))["exited"]:
            if time.monotonic() > deadline:
                return None
            time.sleep(pause)
            pause = min(0.5, pause * 1.3)
        output = base64.b64decode(state.get("out-data", "")).decode(errors="replace")
        # As a shell counts it, when it was a signal's.
        with console.open(errors="replace") as file:
            file.seek(said)
            return Done(command, state.get("exitcode", 128 + state.get("signal", 0)), output, file.read())

    def _state_after(self, command: str) -> str:
        """What runs in it when a command has not ended. It hangs where no time passes, which is QEMU's fault if it says so."""
        with suppress(TimeoutError):
            if processes := self._within(_AWAKE_S, "sleep 1; ps -eo pid,stat,wchan:20,args --sort pid | grep -v ']$'"):
                return processes.output
        self._hangs = command
        if _TIMER_LOST in (told := self._told()):
            pytest.skip(f"QEMU lost a timer interrupt of the guest, which hangs since {command}")
        return f"the guest hangs\n{told}"

    def start(self, command: str, *, stdin: str = "") -> int:
        """Starts one like `run` does and returns its process number, without waiting for its end."""
        words = ["-c", f"exec 2>&1; cd {shlex.quote(str(CHECKOUT))}; {command}"]
        arguments: dict[str, Any] = {"path": "/bin/bash", "arg": words, "env": list(_ENVIRONMENT), "capture-output": True}
        return int(self._call("guest-exec", **arguments, **{"input-data": base64.b64encode(stdin.encode()).decode()})["pid"])

    def _wait_booted(self, deadline: float) -> None:
        """Until the agent answers and systemd has started all that is to be started."""
        while True:
            with suppress(TimeoutError):
                self._call("guest-ping", within_s=1)
                break
            if _TIMER_LOST in (told := self._told()):
                raise _TimerLost(f"the guest's kernel waits for a timer for ever\n{told}")
            if time.monotonic() > deadline:
                raise GuestFailed(f"the guest did not boot in {_BOOT_S:g} s\n{told}")
        state = self.run("systemctl is-system-running --wait", within_s=max(1.0, deadline - time.monotonic()))
        if state.status:
            raise GuestFailed(f"the guest is {state.output}\n" + self.run("systemctl --failed; journalctl -b -p warning").output)

    def _call(self, method: str, *, within_s: float = _ANSWER_S, **arguments: Any) -> Any:
        """Asks the agent (QEMU Guest Agent Protocol Reference). Raises TimeoutError; an answer that comes later is ignored."""
        self._asked += 1
        request = {"execute": method, "id": self._asked, **({"arguments": arguments} if arguments else {})}
        said: dict[str, Any] = {}
        try:
            self._socket.settimeout(_ANSWER_S)
            self._socket.sendall(json.dumps(request).encode() + b"\n")
            self._socket.settimeout(within_s)
            while said.get("id") != self._asked:
                while b"\n" not in self._received:
                    if not (more := self._socket.recv(1 << 20)):
                        raise GuestFailed(f"the guest ended\n{self._told()}")
                    self._received += more
                line, self._received = self._received.split(b"\n", 1)
                said = json.loads(line)
        except (BrokenPipeError, ConnectionResetError):
            raise GuestFailed(f"the guest ended\n{self._told()}") from None
        if "error" in said:
            raise GuestFailed(f"the guest's agent refused {method}: {said['error']}")
        return said["return"]

    def _told(self) -> str:
        """The end of what QEMU and the guest's console said."""
        files = (self._folder / "qemu.log", self._folder / "console")
        return "\n".join(line for file in files if file.exists() for line in file.read_text(errors="replace").splitlines()[-40:])
