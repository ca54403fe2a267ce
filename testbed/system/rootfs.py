# SPDX-License-Identifier: GPL-2.0-or-later
"""The root that all containers of a lab share, read-only: an almost empty folder on which the host's programs are mounted."""

from __future__ import annotations

import ipaddress
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from testbed import durable
from testbed.files import CHECKOUT
from testbed.plan import Plan

#: A node's own folder as it sees it, the only place where it can write on the host.
NODE_FOLDER = "/run/netboxit"
#: Where it sees its memory wires, each as a folder with the name of its interface.
WIRES_FOLDER = "/run/wires"

_LINKS = {
    "bin": "usr/bin",
    "sbin": "usr/sbin",
    "lib": "usr/lib",
    "lib32": "usr/lib32",
    "lib64": "usr/lib64",
    "libx32": "usr/libx32",
}
_MOUNT_POINTS = ("usr", "etc", "dev", "proc", "sys", "tmp", "run", "root", "var")
#: What programs look up in /etc and that says nothing about this host: library choices, fonts, well-known ports.
ETC_MOUNTS = ("alternatives", "fonts", "services", "protocols")
_FILES = {
    "passwd": "root:x:0:0:root:/run/netboxit:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "group": "root:x:0:\nnogroup:x:65534:\nfrrvty:x:999:root\n",  # FRRouting's daemons want to be in that group
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n",
    "frr/vtysh.conf": "service integrated-vtysh-config\n",
    "pam.d/frr": "account sufficient pam_rootok.so\nauth sufficient pam_rootok.so\n",  # vtysh asks whether root may use it
}


def build(root: Path, plan: Plan) -> None:
    """Fills a new folder: mount points, links of a merged /usr, and an /etc of our own."""
    for name in _MOUNT_POINTS:
        (root / name).mkdir(parents=True)
    for name, target in _LINKS.items():
        (root / name).symlink_to(target)
    (root / "var/tmp").symlink_to("../tmp")
    (root / "var/run").symlink_to("../run")
    (root / str(CHECKOUT)[1:]).mkdir(parents=True, exist_ok=True)
    for name, text in _FILES.items():
        (root / "etc" / name).parent.mkdir(exist_ok=True)
        durable.write(root / "etc" / name, text)
    write_hosts(root, plan)
    shutil.copy("/etc/ld.so.cache", root / "etc/ld.so.cache")
    for name in ETC_MOUNTS:
        host, inside = Path("/etc", name), root / "etc" / name
        if host.is_dir():
            inside.mkdir()
        elif host.exists():
            inside.touch()


def mounts(root: Path, folder: Path, memory: Mapping[str, Path], temporary: int) -> list[str]:
    """What a container sees, as lines of fstab(5) with targets relative to its root, in the order of mounting.

    `memory` are the folders of its memory wires by interface, `temporary` is the most that each folder in RAM may hold, in bytes.
    What is mounted below /usr (/usr/local on a disk of its own, say) comes with it: a user namespace may not show a part of what
    mounts cover (mount_namespaces(7), "locked together as a single unit").
    Without set-uid, file capabilities count as little: ping runs without CAP_NET_RAW instead of being refused.
    """
    lines = [
        f"tmpfs tmp tmpfs nosuid,nodev,mode=1777,size={temporary} 0 0",
        f"tmpfs run tmpfs nosuid,nodev,mode=755,size={temporary} 0 0",
        "/usr usr none rbind,ro,nosuid,nodev 0 0",
        f"{_escape(CHECKOUT)} {_escape(CHECKOUT)[1:]} none rbind,ro,nosuid,nodev,create=dir 0 0",
        f"{_escape(folder)} {NODE_FOLDER[1:]} none bind,rw,create=dir 0 0",
        f"tmpfs dev/shm tmpfs nosuid,nodev,noexec,mode=1777,size={temporary},create=dir 0 0",
    ]
    lines += [f"{_escape(wire)} {WIRES_FOLDER[1:]}/{name} none bind,rw,create=dir 0 0" for name, wire in memory.items()]
    return lines + [
        f"/etc/{name} etc/{name} none bind,ro,nosuid,nodev 0 0" for name in ETC_MOUNTS if (root / "etc" / name).exists()
    ]


def restrictions(memory: Mapping[str, Path]) -> list[str]:
    """Commands that keep programs from being run from the folders of the host in which a container writes.

    LXC sets such options of a mount (lxc.mount.entry) only where it is read-only; these are for its mount hook. Nor does it set
    any of mounts below another one: those in /usr and the checkout are made read-only here.
    """
    folders = (NODE_FOLDER, *(f"{WIRES_FOLDER}/{interface}" for interface in memory))
    below = " | ".join(f'"$LXC_ROOTFS_MOUNT"{shlex.quote(str(folder))}/*' for folder in ("/usr", CHECKOUT))
    # A user namespace has to leave options on that a mount has. The kernel writes a space as \040; only what has a backslash is
    # decoded, since each decoding is a process, and a host may have hundreds of mounts.
    options = (
        # Where LXC puts a root together below /usr, the root is in its own /usr, too.
        'case $LXC_ROOTFS_MOUNT in /usr/*) umount --lazy "$LXC_ROOTFS_MOUNT$LXC_ROOTFS_MOUNT" || exit ;; esac; '
        'while read -r _ _ _ _ at has _; do case $at in *\\\\*) at=$(printf %b "$at") ;; esac; case $at in '
        f"{below}) case $has in *noexec*) more=,noexec ;; *) more= ;; esac; "
        'mount -o "remount,bind,ro,nosuid,nodev$more" "$at" || exit ;; esac; done </proc/self/mountinfo'
    )
    return [
        f"sh -c {shlex.quote(options)}",
        *(f'mount -o remount,bind,rw,nosuid,nodev,noexec "$LXC_ROOTFS_MOUNT{folder}"' for folder in folders),
    ]


def write_hosts(root: Path, plan: Plan) -> None:
    """Who is who, also for containers that run: they see the new file as soon as it is there."""
    durable.put(root / "etc/hosts", hosts_file(plan))


def hosts_file(plan: Plan) -> str:
    """Every node that has addresses, by name: the first is the one that its name means."""
    lines = ["127.0.0.1 localhost", "::1 localhost"]
    for node in plan.nodes:
        for interface in node.interfaces:
            lines += [f"{ipaddress.ip_interface(address).ip} {node.name}" for address in interface.addresses]
    lines += [f"{ipaddress.ip_interface(one).ip} {name}" for name, addresses in plan.elsewhere.items() for one in addresses]
    return "\n".join(lines) + "\n"


def _escape(path: Path) -> str:
    return str(path).replace(" ", "\\040")
