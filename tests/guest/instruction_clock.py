# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a Python program on Debian's kernel with a clock that counts instructions: how busy this machine is makes no difference.

QEMU's processor takes 1 ns for each instruction. While it has nothing to do its clock goes on to the next timer at once
(`-icount`: QEMU documentation, "TCG Instruction Counting"). Nothing is started but the program, as process
1; it only reads its disk.
"""

from __future__ import annotations

import json
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

from tests.guest import disks
from tests.guest.machine import GuestFailed

_SECTOR: Final = 512
#: For what the program answers.
_ROOM: Final = 64 << 20
_LENGTH: Final = struct.Struct("!Q")
#: Without spaces, which the kernel's command line does not keep.
_START: Final = "exec(open('/dev/vdb').read().split(chr(0))[0])"
_KERNEL: Final = (
    f"root=/dev/vda ro console=ttyS0 quiet panic=-1 mitigations=off ipv6.disable=1 init=/usr/bin/python3 -- -c {_START}"
)


def run(program: Path, given: Any, *, within_s: float = 1500) -> Any:
    """What `program` answers to `given`.

    The program finds JSON on /dev/vdc and writes JSON to /dev/vdd, each behind its length (64 bits, big-endian), and ends the
    guest. Raises GuestFailed when it has not answered by then.
    """
    disks.check_root()
    text = json.dumps(given).encode()
    with disks.overlays() as (root,), tempfile.TemporaryDirectory(dir=root.parent) as place:
        code, question, answer = (Path(place, name) for name in ("program", "question", "answer"))
        _write(code, program.read_bytes())
        _write(question, _LENGTH.pack(len(text)) + text)
        with answer.open("wb") as empty:
            empty.truncate(_ROOM)
        console = Path(place, "console")
        argv = (
            *("qemu-system-x86_64", "-nodefaults", "-display", "none", "-no-reboot", "-icount", "shift=0,sleep=off"),
            *("-cpu", "Nehalem", "-m", "1024", "-kernel", str(disks.KERNEL), "-initrd", str(disks.INITRD), "-append", _KERNEL),
            *("-serial", f"file:{console}", "-drive", f"file={root},format=qcow2,if=virtio"),
            *(word for disk in (code, question, answer) for word in ("-drive", f"file={disk},format=raw,if=virtio")),
        )
        try:
            log = subprocess.run(
                argv, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=within_s, check=False
            ).stderr
        except subprocess.TimeoutExpired:
            log = f"it has not ended after {within_s:g} s"
        with answer.open("rb") as told:
            (length,) = _LENGTH.unpack(told.read(_LENGTH.size))
            if not length:
                raise GuestFailed(f"{program.name} has not answered: {log}\n{console.read_text(errors='replace')[-4000:]}")
            return json.loads(told.read(length))


def _write(disk: Path, content: bytes) -> None:
    """With zeros behind it, to the end of a sector and one more: at least one zero."""
    disk.write_bytes(content + bytes(2 * _SECTOR - len(content) % _SECTOR))
