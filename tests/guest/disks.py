# SPDX-License-Identifier: GPL-2.0-or-later
"""The disks of a guest: Debian 12 as it is installed with what `make setup` installs, and this checkout as it was built.

`python -m tests.guest.disks` makes the first one (some minutes); `make build/guest/root.ext4` calls it when its contents changed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
import yaml

from contracts.installation import CHECKOUT
from tests.virtual_machine import GUEST, MODULES

_ROOT: Final = GUEST / "root.ext4"
KERNEL: Final = GUEST / "vmlinuz"
INITRD: Final = GUEST / "initrd"
#: What set-up installs on a processor as the guests' besides.
_OLD_PROCESSOR: Final = GUEST / "old-processor"

#: What Debian's installer puts on a machine, or its user, besides what NetBoxIT's own set-up installs.
_OF_THE_MACHINE: Final = (
    *("systemd-sysv", "libpam-systemd", "dbus", "initramfs-tools", "python3", "apparmor", "iptables"),
    "linux-image-cloud-amd64",  # has openvswitch, sch_netem, wireguard, macsec
    "qemu-guest-agent",  # takes commands through a virtio-serial port
    *("network-manager", "docker.io"),  # other software on the machine; their services stay off until a test starts them
)
#: What set-up leaves off at boot (ansible/roles/packages/tasks/install.yml), and what a test starts itself.
_OFF: Final = (
    *("lxc.service", "lxc-net.service", "lxc-monitord.service", "frr.service", "openvswitch-switch.service"),
    *("ovs-record-hostname.service", "ssh.service", "ssh.socket"),
    *("NetworkManager.service", "NetworkManager-wait-online.service", "docker.service", "docker.socket", "containerd.service"),
    # Upkeep that would only make an emulated processor slower.
    *("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "e2scrub_reap.service"),
    *("fstrim.timer", "logrotate.timer", "man-db.timer", "systemd-timesyncd.service", "systemd-pstore.service"),
)
#: What the disks need at boot alone: an emulated processor takes seconds to unpack all that Debian puts there.
_SMALL_INITRAMFS: Final = (
    'mkdir -p "$1/etc/initramfs-tools/conf.d"; '
    'printf "MODULES=list\\nCOMPRESS=lz4\\n" >"$1/etc/initramfs-tools/conf.d/guest"; '
    'printf "virtio_pci\\nvirtio_blk\\next4\\n" >"$1/etc/initramfs-tools/modules"'
)
#: Of the checkout: all but what tests left, and these disks.
_LEFT_OUT: Final = {
    *(CHECKOUT / "results" / name for name in ("runs", "bench", "campaigns", "compared", "latest", "experiments")),
    GUEST.with_name("guest.new"),
}
_CACHES: Final = {".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"}


def make_root() -> None:
    """Makes the disk with Debian, its kernel and initial file system, and the modules for the small virtual machine."""
    new = GUEST.with_name("guest.new")
    shutil.rmtree(new, ignore_errors=True)
    (tree := new / "tree").mkdir(parents=True)
    packages = [*_packages_of_setup(), *_OF_THE_MACHINE]
    _run(
        # In namespaces: what it mounts in the tree is gone with it, also where somebody was looking at it.
        *("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"),
        *("mmdebstrap", "--quiet", "--mode=root", "--variant=important", f"--include={','.join(packages)}"),
        *("--aptopt=APT::Install-Recommends false", "--aptopt=Acquire::Languages none"),
        *("--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-exclude=/usr/share/locale/*"),
        *(f"--essential-hook={_SMALL_INITRAMFS}", "bookworm", str(tree)),
    )
    _configure(tree)
    for link, made in (("vmlinuz", KERNEL), ("initrd.img", INITRD)):
        shutil.copyfile(tree / (tree / link).readlink(), new / made.name)
    for name in MODULES:
        (module,) = tree.glob(f"usr/lib/modules/*/kernel/**/{name}.ko")
        shutil.copyfile(module, new / f"{name}.ko")
    _make_disk(tree, new / _ROOT.name, room_gib=8)
    shutil.rmtree(tree)
    install = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps")
    _run(*install, "--target", str(new / _OLD_PROCESSOR.name), "-r", str(CHECKOUT / "requirements/old-processor.txt"))
    shutil.rmtree(GUEST, ignore_errors=True)
    new.rename(GUEST)


def _packages_of_setup() -> list[str]:
    defaults = yaml.safe_load((CHECKOUT / "ansible/roles/packages/defaults/main.yml").read_text())
    return list(defaults["netboxit_packages"])


def _configure(tree: Path) -> None:
    (tree / "etc/hostname").write_text("guest\n")
    (tree / "etc/hosts").write_text("127.0.0.1 localhost\n127.0.1.1 guest\n::1 localhost\n")
    (tree / "etc/fstab").write_text(f"/dev/vda / ext4 errors=remount-ro 0 1\n/dev/vdb {CHECKOUT} ext4 defaults 0 0\n")
    _run("chroot", str(tree), "passwd", "--quiet", "--delete", "root")  # for whoever looks at it by the serial console
    there = [unit for unit in _OFF if (tree / "usr/lib/systemd/system" / unit).exists()]
    _run("chroot", str(tree), "systemctl", "--quiet", "disable", *there)
    _run("chroot", str(tree), "systemctl", "--quiet", "mask", *(unit for unit in there if unit.endswith(".timer")))


def _make_disk(tree: Path, disk: Path, room_gib: int) -> None:
    """An ext4 file system of that size with what is in a tree; a sparse file, which takes what is in it."""
    disk.unlink(missing_ok=True)
    new = disk.with_suffix(".new")
    new.unlink(missing_ok=True)
    _run("mkfs.ext4", "-q", "-E", "root_owner=0:0", "-d", str(tree), str(new), f"{room_gib}G")
    new.rename(disk)


def check_root() -> None:
    """Fails the test where nobody has made the disk with Debian."""
    if not _ROOT.exists():
        pytest.fail(f"{_ROOT} is missing: run `make build/guest/root.ext4`, which makes it")


@contextmanager
def checkout() -> Iterator[Path]:
    """A disk with this checkout, its build and its virtual environment as they are now, and as set-up completes it there."""
    with tempfile.TemporaryDirectory(dir=GUEST, prefix="checkout-") as place:
        tree, disk = Path(place, "tree"), Path(place, "checkout.ext4")
        _link(CHECKOUT, tree)
        (packages,) = tree.glob(".venv/lib/python3*/site-packages")
        for package in _OLD_PROCESSOR.iterdir():
            _link(package, packages / package.name)
        _make_disk(tree, disk, room_gib=4)
        shutil.rmtree(tree)
        yield disk


def _link(folder: Path, to: Path) -> None:
    """A copy of a folder that takes no room: its files are links to the same ones."""
    to.mkdir()
    shutil.copystat(folder, to)
    for entry in os.scandir(folder):
        path, target = Path(entry.path), to / entry.name
        if path in _LEFT_OUT or entry.name in _CACHES:
            continue
        if path == GUEST:
            target.mkdir()
            for small in (KERNEL, *(GUEST / f"{name}.ko" for name in MODULES)):
                os.link(small, target / small.name)
        elif entry.is_dir(follow_symlinks=False):
            _link(path, target)
        else:
            os.link(path, target, follow_symlinks=False)


@contextmanager
def overlays(*disks: Path) -> Iterator[Sequence[Path]]:
    """Disks of a test's own, root and checkout: what it writes is theirs, and gone with them.

    `disks`: the checkout's, or those of a guest that was saved.
    """
    below = disks if len(disks) == 2 else (_ROOT, *disks)
    with tempfile.TemporaryDirectory(dir=GUEST, prefix="overlay-") as place:
        made = []
        for disk in below:
            made.append(overlay := Path(place, disk.with_suffix(".qcow2").name))
            backing = "qcow2" if disk.suffix == ".qcow2" else "raw"
            _run("qemu-img", "create", "-q", "-f", "qcow2", "-F", backing, "-b", str(disk), str(overlay))
        yield made


def _run(*argv: str) -> None:
    done = subprocess.run(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv)} ended with {done.returncode}:\n{done.stdout}")


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("the disk of the guest has files of root and of others: only root can make it")
    make_root()
