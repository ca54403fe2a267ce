# SPDX-License-Identifier: GPL-2.0-or-later
"""A small virtual machine as somebody would run it beside a lab: Debian's kernel and BusyBox, in QEMU at a tap."""

from __future__ import annotations

import gzip
import io
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from contracts.installation import CHECKOUT
from tests.namespaces import Namespace, wait_for

#: Made by `make test`: a kernel, and the modules that it needs for a network card, in the order in which they are loaded.
GUEST = CHECKOUT / "build" / "guest"
MODULES = (
    "virtio_ring",
    "virtio",
    "virtio_pci_modern_dev",
    "virtio_pci_legacy_dev",
    "virtio_pci",
    "failover",
    "net_failover",
    "virtio_net",
)

_INIT = """\
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t devtmpfs dev /dev
for module in {modules}; do insmod /$module.ko; done
{script}
"""


class VirtualMachine:
    """Runs `script` (BusyBox's shell) after its network card eth0 is there; `console` is the file that it writes to."""

    def __init__(self, folder: Path, host: Namespace, tap: str, script: str) -> None:
        if not (GUEST / "vmlinuz").exists():
            pytest.fail(
                f"{GUEST} is missing: run `make build/guest/root.ext4` as root, which gets the kernel of the virtual machine"
            )
        self.console = folder / "console"
        image = folder / "initramfs"
        image.write_bytes(initramfs(_INIT.format(modules=" ".join(MODULES), script=script)))
        self._argv = [
            # Without KVM, which many virtual machines offer and do not have: three seconds instead of one.
            *("qemu-system-x86_64", "-nodefaults", "-no-reboot", "-display", "none", "-m", "128", "-accel", "tcg"),
            *("-serial", f"file:{self.console}"),
            *("-kernel", str(GUEST / "vmlinuz"), "-initrd", str(image), "-append", "console=ttyS0 quiet panic=-1"),
            *("-netdev", f"tap,id=lab,ifname={tap},script=no,downscript=no", "-device", "virtio-net-pci,netdev=lab,romfile="),
        ]
        self._host, self._log = host, folder / "qemu.log"

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(self._host.command(*self._argv), stdout=log, stderr=log)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()

    def says(self, words: str) -> None:
        """Waits for it."""
        wait_for(lambda: self._process.poll() is not None or words in self._text(), f"{words!r} of the virtual machine")
        assert words in self._text(), f"{self._log.read_text()}\n{self._text()}"

    def _text(self) -> str:
        return self.console.read_text(errors="replace") if self.console.exists() else ""


def initramfs(init: str) -> bytes:
    """A root with BusyBox, the modules and what runs first, as the kernel takes it (gzip over cpio "newc")."""
    archive = io.BytesIO()
    for folder in ("bin", "proc", "dev"):
        _add(archive, folder, b"", 0o040755)
    _add(archive, "bin/busybox", Path("/bin/busybox").read_bytes(), 0o100755)
    _add(archive, "init", init.encode(), 0o100755)
    for module in MODULES:
        _add(archive, f"{module}.ko", (GUEST / f"{module}.ko").read_bytes(), 0o100644)
    _add(archive, "TRAILER!!!", b"", 0)
    return gzip.compress(archive.getvalue(), 1)


def _add(archive: io.BytesIO, name: str, content: bytes, mode: int) -> None:
    """The kernel's Documentation/driver-api/early-userspace/buffer-format.rst."""
    fields = (archive.tell() + 1, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
    archive.write(b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0")
    archive.write(b"\0" * (-archive.tell() % 4))
    archive.write(content)
    archive.write(b"\0" * (-archive.tell() % 4))
