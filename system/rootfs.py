# SPDX-License-Identifier: GPL-2.0-or-later
"""The root that all containers of a lab share, read-only: an almost empty folder on which the host's programs are mounted.

A host also sees its packages (system.package_layers): programs over the machine's, and copies of its own below /etc and /var.
"""

from __future__ import annotations

import ipaddress
import os
import shlex
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from contracts import durable
from contracts.installation import INSTALLATION
from contracts.plan import Plan
from system import package_layers
from system.package_layers import Layer

#: A node's own folder as it sees it, the only place where it can write on the host.
NODE_FOLDER = "/run/netboxit"
#: Where it sees its memory wires, each as a folder with the name of its interface.
WIRES_FOLDER = "/run/wires"

#: Folders that are a host's own where its file has something there: it may write in them, and no other node has them.
HOST_FOLDERS = ("/srv", "/home", "/root", "/var/lib", "/var/www")

_LINKS = {
    "bin": "usr/bin",
    "sbin": "usr/sbin",
    "lib": "usr/lib",
    "lib32": "usr/lib32",
    "lib64": "usr/lib64",
    "libx32": "usr/libx32",
    "var/tmp": "../tmp",
    "var/run": "../run",
}
_MOUNT_POINTS = ("usr", "etc", "dev", "proc", "sys", "tmp", "run", "root", "var")
#: What programs look up in /etc and that says nothing about this host: library choices, fonts, well-known ports.
ETC_MOUNTS = ("alternatives", "fonts", "services", "protocols")
_FILES = {
    "passwd": (
        "root:x:0:0:root:/run/netboxit:/bin/sh\n"
        "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
        # Root's tcpdump goes on as that user, which has root's number: most nodes may not become anybody else.
        "tcpdump:x:0:0::/nonexistent:/usr/sbin/nologin\n"
    ),
    "group": "root:x:0:\nnogroup:x:65534:\nfrrvty:x:999:root\n",  # FRRouting's daemons want to be in that group
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n",
    "frr/vtysh.conf": "service integrated-vtysh-config\n",
    "pam.d/frr": "account sufficient pam_rootok.so\nauth sufficient pam_rootok.so\n",  # vtysh asks whether root may use it
}

#: Of /etc: what is the lab's in each node, or the machine's.
ETC_OF_ALL = frozenset({*(name.partition("/")[0] for name in _FILES), *ETC_MOUNTS, "hosts", "ld.so.cache"})

#: Of linux/mount.h: MOUNT_ATTR_RDONLY, _NOSUID, _NODEV and _NOEXEC.
_READ_ONLY, _NO_SUID, _NO_DEVICES, _NO_PROGRAMS = 1, 2, 4, 8
#: Takes the root, then pairs of attributes and a place in the root. Where LXC puts a root together below /usr, the root is in
#: its own /usr, too, unless a layer of packages covers it: first that copy is unmounted (umount2(2), 166 on x86-64,
#: MNT_DETACH). Then mount_setattr(2) (442 everywhere) sets the attributes with AT_RECURSIVE. Perl's `syscall` takes no constants.
_RESTRICT = (
    "my $root = shift; "
    'if ($root =~ m{^/usr/} && -d "$root$root/usr") { syscall(166, "$root$root", 2) == 0 or die "umount $root$root: $!\\n" } '
    'while (my ($set, $at) = splice(@ARGV, 0, 2)) { $at = "$root$at"; $set = pack("Q4", $set, 0, 0, 0); '
    'syscall(442, -100, $at, 0x8000, $set, 32) == 0 or die "mount_setattr $at: $!\\n" }'
)

_LIBRARIES = "etc/ld.so.cache"
_OPTIONS = "ro,nosuid,nodev"
#: In the folder of copies: which layer they are of.
_LAYER = "layer"


def build(root: Path, plan: Plan) -> None:
    """Fills a new folder: mount points, links of a merged /usr, and an /etc of our own."""
    for name in _MOUNT_POINTS:
        (root / name).mkdir(parents=True)
    for name, target in _LINKS.items():
        (root / name).symlink_to(target)
    (root / str(INSTALLATION)[1:]).mkdir(parents=True, exist_ok=True)
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


def own_folders(places: Iterable[str]) -> list[str]:
    """Those of HOST_FOLDERS in which these paths are."""
    within = [place + "/" for place in places]
    return [folder for folder in HOST_FOLDERS if any(place.startswith(folder + "/") for place in within)]


def add_mount_points(root: Path, places: Mapping[str, Path]) -> None:
    """Where folders and files of a node's own are mounted, by where it sees them; for other nodes they are empty."""
    for place, source in places.items():
        if source.is_dir():
            (root / place[1:]).mkdir(parents=True, exist_ok=True)
        else:
            (root / place[1:]).touch()


def copy_packages(layer: Layer, copies: Path, root: Path, first_id: int) -> None:
    """Fills a folder that no node can reach with what a host's packages have below /etc and /var, which it may change.

    `root` is the one that the lab's nodes share. Raises OSError.
    """
    for part in ("etc", "var"):
        package_layers.copy(layer.folder / part, copies / part, first_id)
    etc, var = copies / "etc", copies / "var"
    # What all nodes have is the lab's.
    of_all = [entry for entry in etc.iterdir() if entry.is_symlink() or (root / "etc" / entry.name).exists()]
    of_all += [entry for entry in var.iterdir() if entry.is_symlink() or entry.name in ("run", "tmp")]
    for entry in of_all:
        package_layers.remove(entry)
    for file in package_layers.ACCOUNTS:
        (accounts := etc / file).write_text((root / "etc" / file).read_text() + layer.accounts(file))
        os.chown(accounts, first_id, first_id)
        accounts.chmod(0o644)
    (copies / _LAYER).write_text(str(layer.folder))


def layer_of(copies: Path) -> Layer | None:
    """The layer of the host with these copies; None where it has no packages."""
    file = copies / _LAYER
    return Layer(Path(file.read_text())) if file.exists() else None


def places_of_packages(copies: Path) -> list[str]:
    """Where a host sees its copies."""
    return [f"/{part}/{entry.name}" for part in ("etc", "var") for entry in sorted((copies / part).glob("*"))]


def mounts(
    root: Path, folder: Path, memory: Mapping[str, Path], temporary: int, own: Mapping[str, Path], layer: Layer | None = None
) -> list[str]:
    """What a container sees, as lines of fstab(5) with targets relative to its root, in the order of mounting.

    `memory` are the folders of its memory wires by interface, `temporary` is the most that each folder in RAM may hold, in bytes,
    `own` are folders of the host by where it sees them (HOST_FOLDERS), `layer` is what its packages are in.
    What is mounted below /usr (/usr/local on a disk of its own, say) comes with it: a user namespace may not show a part of what
    mounts cover (mount_namespaces(7), "locked together as a single unit").
    Without set-uid, file capabilities count as little: ping runs without CAP_NET_RAW instead of being refused.
    """
    return [
        f"tmpfs tmp tmpfs nosuid,nodev,mode=1777,size={temporary} 0 0",
        f"tmpfs run tmpfs nosuid,nodev,mode=755,size={temporary} 0 0",
        *(_over_usr(layer) if layer else ("/usr usr none rbind,ro,nosuid,nodev 0 0",)),
        f"{_escape(INSTALLATION)} {_escape(INSTALLATION)[1:]} none rbind,ro,nosuid,nodev,create=dir 0 0",
        f"{_escape(folder)} {NODE_FOLDER[1:]} none bind,rw,create=dir 0 0",
        f"tmpfs dev/shm tmpfs nosuid,nodev,noexec,mode=1777,size={temporary},create=dir 0 0",
        *(f"{_escape(wire)} {WIRES_FOLDER[1:]}/{name} none bind,rw,create=dir 0 0" for name, wire in memory.items()),
        *(f"{_escape(source)} {place[1:]} none bind,rw 0 0" for place, source in own.items()),
        *(f"/etc/{name} etc/{name} none bind,ro,nosuid,nodev 0 0" for name in ETC_MOUNTS if (root / "etc" / name).exists()),
        *(_over_etc(layer, root) if layer else []),
    ]


def _over_usr(layer: Layer) -> list[str]:
    """Lines of fstab(5). What is mounted below the machine's /usr is mounted again: an overlay does not show it."""
    table = Path("/proc/self/mountinfo").read_text().splitlines()
    mounted = sorted({Path(line.split()[4]) for line in table if line.split()[4].startswith("/usr/")})
    first = [place for place in mounted if not set(mounted) & set(place.parents)]
    return [_overlay(layer, "usr"), *(f"{place} {str(place)[1:]} none rbind,{_OPTIONS} 0 0" for place in first)]


def _over_etc(layer: Layer, root: Path) -> list[str]:
    """The same for what the machine shows all nodes of its /etc: folders that lie over the machine's, as programs do."""
    over = [place for place in ("etc/alternatives", "etc/fonts") if (layer.folder / place).is_dir() and (root / place).is_dir()]
    libraries = layer.folder / _LIBRARIES
    return [
        *(_overlay(layer, place) for place in over),
        *([f"{libraries} {_LIBRARIES} none bind,{_OPTIONS} 0 0"] if libraries.is_file() else []),
    ]


def _overlay(layer: Layer, place: str) -> str:
    return f"overlay {place} overlay {_OPTIONS},lowerdir={layer.folder / place}:/{place} 0 0"


def restriction(memory: Mapping[str, Path], own: Iterable[str] = ()) -> str:
    """The command of LXC's mount hook: no program runs from the folders of the host in which a container writes, and all that is
    mounted below /usr and the checkout is read-only.

    LXC sets such options of a mount (lxc.mount.entry) only where it is read-only, and of none below another one. Perl is part of
    each Debian, starts in a millisecond, and can call the kernel: mount_setattr(2) needs no list of mounts, which has hundreds of
    lines in a large lab. Attributes are added to those that a mount has: a user namespace has to leave them on.
    """
    folders = (NODE_FOLDER, *(f"{WIRES_FOLDER}/{interface}" for interface in memory), *own)
    attributes = {str(place): _READ_ONLY | _NO_SUID | _NO_DEVICES for place in ("/usr", INSTALLATION)}
    attributes |= dict.fromkeys(folders, _NO_SUID | _NO_DEVICES | _NO_PROGRAMS)
    words = " ".join(f"{attribute} {shlex.quote(place)}" for place, attribute in attributes.items())
    return f'perl -e {shlex.quote(_RESTRICT)} "$LXC_ROOTFS_MOUNT" {words}'


def write_hosts(root: Path, plan: Plan) -> None:
    """Who is who, also for containers that run: they see the new file as soon as it is there."""
    durable.put(root / "etc/hosts", hosts_file(plan))


def hosts_file(plan: Plan) -> str:
    """Every node that has addresses, by name: the first is the one that its name means."""
    here = [(address, node.name) for node in plan.nodes for interface in node.interfaces for address in interface.addresses]
    elsewhere = [(address, name) for name, addresses in plan.elsewhere.items() for address in addresses]
    named = (f"{ipaddress.ip_interface(address).ip} {name}" for address, name in here + elsewhere)
    return "\n".join(["127.0.0.1 localhost", "::1 localhost", *named]) + "\n"


def _escape(path: Path) -> str:
    return str(path).replace(" ", "\\040")
