# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian packages for hosts of a lab: a layer over the machine's own /usr. They are never installed in the machine.

The machine's apt finds the missing packages, with the machine's sources and keys, and downloads them. They are installed in an
enclosure: on overlays of /usr and /etc and in a /var of its own, by a root with few capabilities and no network, which runs the
packages' scripts. What is new there is the layer, which later labs use again. Packages that the machine has itself are first
removed there, with their configuration: so hosts get the configuration of the package, and none of the administrator's.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from contracts import durable
from contracts.errors import NetBoxITError, printable
from ownership import locks, state
from system import kernel, machine_packages, strays
from system.machine_packages import Package

#: In the state folder. Users who can enter it read what any mirror of Debian's has. There are no set-user-ID programs: `_clean`.
_STORE: Final = "layers"
_LOCK, _NEW, _LISTS, _MADE_OF = "lock", "new", "lists", "packages.json"
#: A mirror far away and a large package; another command that installs, too.
_DEADLINE_S: Final = 1200.0
_UNUSED_S: Final = 30 * 86400.0
#: How complaints of apt, dpkg, mount and bubblewrap begin.
_COMPLAINTS: Final = ("E: ", "W: ", "dpkg: error", "mount: ", "bwrap: ")
_NOT_IN_OPTIONS: Final = set(":,\\ \t")

#: apt without questions, without the packages that are only recommended, and without locks or caches of the machine's.
_APT: Final = ("apt-get", "-q", "-y", "-o", "APT::Install-Recommends=false", "-o", "Acquire::Languages=none")
#: Scripts of packages ask it before they start a service (invoke-rc.d(8)): nothing starts.
_POLICY: Final = "usr/sbin/policy-rc.d"
#: Lists the files that are in /etc before the installation, each ended by NUL.
_OTHERS: Final = "var/others-in-etc"
#: Capabilities that dpkg and scripts need: for owners and modes of all files, other users, file capabilities.
_CAPABILITIES: Final = ("chown", "dac_override", "fowner", "fsetid", "kill", "setfcap", "setgid", "setuid", "sys_chroot")
#: Files that a machine needs and a host of a lab does not: records of packages, services, accounts' secrets.
_LEFT_OUT: Final = (
    *("var/lib/dpkg", "var/lib/apt", "var/lib/systemd", "var/lib/pam", "var/lib/ucf", "var/cache/apt", "var/cache/debconf"),
    *("var/cache/man", "var/log/apt", "var/log/dpkg.log", "var/log/alternatives.log", "var/tmp"),
    *(
        "etc/systemd",
        "etc/init.d",
        "etc/cron.d",
        "etc/logrotate.d",
        "etc/ufw",
        "etc/apparmor.d",
        "etc/machine-id",
        "etc/.pwd.lock",
    ),
    *(f"etc/rc{level}.d" for level in "0123456S"),
    *(f"etc/{file}{old}" for file in ("shadow", "gshadow", "subuid", "subgid", "passwd", "group") for old in ("", "-")),
    *(_POLICY, _OTHERS),
)
ACCOUNTS: Final = ("passwd", "group")
#: Parts of the machine's /etc that nodes see anyway.
_SEEN_BY_HOSTS: Final = (Path("/etc/alternatives"), Path("/etc/fonts"), Path("/etc/ld.so.cache"))
#: Folders that are overlays during the installation: the machine's below, new files above.
_OVER_THE_MACHINES: Final = ("usr", "etc", "var/lib/dpkg")
_INSTALL: Final = """\
set -e
new=$1; shift
for part in {}; do
    mount -t overlay overlay -o "userxattr,lowerdir=/$part,upperdir=$new/$part,workdir=$new/work/$part" "$new/seen/$part"
done
exec "$@"
"""
#: Runs in the enclosure, in a shell for its wildcard. Its arguments are packages to remove first.
_INSTALL_THERE: Final = f"""\
set -e
[ $# = 0 ] || dpkg --purge -- "$@"
find /etc ! -type d -print0 >/{_OTHERS}
exec {" ".join(_APT)} -o Dpkg::Use-Pty=0 install /archives/*.deb
"""
#: Numbers of the users and groups that packages make for their programs (Debian Policy, 9.2.2).
_ACCOUNTS_OF_PACKAGES: Final = range(100, 1000)


class PackagesNotInstalled(NetBoxITError):
    """There are no such packages, they cannot be downloaded, or they cannot be installed."""


@dataclass(frozen=True)
class Layer:
    """The new files of packages, in `usr`, `etc` and `var` of the layer's folder."""

    folder: Path

    def accounts(self, file: str) -> str:
        """Lines of /etc/passwd or /etc/group: accounts of every Debian, and those that the packages have added."""
        return (self.folder / file).read_text()

    def versions(self) -> Mapping[str, str]:
        """The version of each package of the layer. Packages that the machine has itself are not in it."""
        return dict(json.loads((self.folder / _MADE_OF).read_text()))


def layer(names: Sequence[str]) -> Layer:
    """A layer with these packages ("nginx", "nginx=1.22.1-9"), made before or now. Raises PackagesNotInstalled."""
    store = state.state_folder() / _STORE
    if wrong := _NOT_IN_OPTIONS & set(str(store)):
        raise PackagesNotInstalled(
            f"packages cannot be installed below {store}: overlays take no {''.join(sorted(wrong))!r} in a path; "
            "set NETBOXIT_STATE to another folder"
        )
    store.mkdir(mode=0o711, parents=True, exist_ok=True)
    with kernel.closing(os.open(store / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)) as lock:
        if not locks.taken(lock, _DEADLINE_S):
            raise PackagesNotInstalled(f"another command installs packages for a lab: {locks.holder(lock)}; try again")
        package_layer = Layer(store / _key(names))
        if not (package_layer.folder / _MADE_OF).exists():
            _remove_unused(store)
            _make(store, names, package_layer.folder)
        os.utime(package_layer.folder)
        return package_layer


def _key(names: Sequence[str]) -> str:
    """The name of the layer's folder. It changes with the machine's own packages."""
    texts = [*(name.encode() for name in sorted(names)), (machine_packages.DATABASE / "status").read_bytes()]
    return hashlib.blake2b(b"".join(len(text).to_bytes(8, "big") + text for text in texts), digest_size=12).hexdigest()


def _make(store: Path, names: Sequence[str], folder: Path) -> None:
    new = store / _NEW
    shutil.rmtree(new, ignore_errors=True)  # of a command that was killed
    try:
        with durable.told(store):
            empty = ("usr/sbin", "opt", "var/cache", "var/log", "var/spool", "var/tmp", "archives/partial")
            for place in (*empty, *(f"{top}/{part}" for part in _OVER_THE_MACHINES for top in (".", "work", "seen"))):
                (new / place).mkdir(parents=True, exist_ok=True)
            for new_folder in (new, *(new.glob("*"))):
                new_folder.chmod(0o755)  # whatever root's umask is: nodes' root is another user here
            (store / _LISTS / "partial").mkdir(parents=True, exist_ok=True)
        before = machine_packages.known()
        anew = machine_packages.made_anew(names)
        _download(store / _LISTS, new, names, anew, before)
        archives = sorted((new / "archives").glob("*.deb"))
        if archives:
            anew += machine_packages.left_behind(archives, before)
            _install(new, names, anew)
            if elsewhere := sorted(entry.name for entry in (new / "opt").iterdir()):
                raise PackagesNotInstalled(
                    f"{', '.join(names)}: hosts do not see /opt, where it puts {elsewhere[0]}; leave it out"
                )
            for part in ("usr", "etc"):
                _hide(new / part, Path("/", part))
        with durable.told(store):
            after = machine_packages.known(new / "var/lib/dpkg") if archives else before
            scripts = _scripts(archives, new / "scripts")
            accounts = {file: _of_debian(file) + _added(Path("/etc", file), new / "etc" / file, scripts) for file in ACCOUNTS}
            _clean(new)
            for file, lines in accounts.items():
                durable.write(new / file, lines)
            versions = {
                name: package.version
                for name, package in after.items()
                if package.installed and (name in anew or before.get(name) != package)
            }
            durable.write(new / _MADE_OF, json.dumps(versions, indent=1) + "\n")
            shutil.rmtree(folder, ignore_errors=True)
            new.rename(folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _download(lists: Path, new: Path, names: Sequence[str], anew: Sequence[str], before: Mapping[str, Package]) -> None:
    """Downloads the named packages that are missing, and those that the machine has and that hosts get anew (`anew`)."""
    places = {"State::Lists": lists, "Cache": new, "Cache::archives": new / "archives"}
    apart = ["-o", "Debug::NoLocking=1", *(word for name, place in places.items() for word in ("-o", f"Dir::{name}={place}"))]
    what = f"{', '.join(names)} cannot be downloaded"
    # apt would get all anew that are named: so those that stay the machine's are not, but in another version.
    there = {name for name, package in before.items() if package.installed}
    named = {machine_packages.name_of(word): word for word in names if "=" in word or machine_packages.name_of(word) not in there}
    wanted = ["install", "--reinstall", "--", *({name: name for name in anew} | named).values()]
    # A source that does not answer is no hindrance while the packages are in others, or its list is known from before.
    update = _run("its lists cannot be had", [*_APT, *apart, "update"], check=False)
    try:
        _run(what, [*_APT, *apart, "--download-only", *wanted])
    except PackagesNotInstalled as error:
        raise PackagesNotInstalled(f"{error}{_quoted(_complaints(update))}") from None
    for line in _run(what, [*_APT, *apart, "--print-uris", *wanted]).splitlines():
        if line.startswith("'file:"):  # of a folder of this machine, from which apt copies nothing
            address, name = line.split()[:2]
            with durable.told(new):
                shutil.copyfile(unquote(address.strip("'").removeprefix("file:")), new / "archives" / name)


def _install(new: Path, names: Sequence[str], anew: Sequence[str]) -> None:
    with durable.told(new):
        policy = new / _POLICY
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
    argv = [
        *("unshare", "--mount", "--propagation", "private"),
        *("sh", "-c", _INSTALL.format(" ".join(_OVER_THE_MACHINES)), "sh", str(new)),
        *("bwrap", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--die-with-parent", "--new-session"),
        *("--clearenv", "--cap-drop", "ALL"),
        *(word for name in _CAPABILITIES for word in ("--cap-add", f"CAP_{name.upper()}")),
        *("--bind", str(new / "seen/usr"), "/usr", "--bind", str(new / "seen/etc"), "/etc"),
        *("--bind", str(new / "var"), "/var", "--bind", str(new / "seen/var/lib/dpkg"), "/var/lib/dpkg"),
        *("--bind", str(new / "opt"), "/opt"),
        *(word for name in ("bin", "sbin", "lib", "lib32", "lib64") for word in ("--symlink", f"usr/{name}", f"/{name}")),
        *("--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc", "--tmpfs", "/run", "--tmpfs", "/tmp"),
        *("--ro-bind", str(new / "archives"), "/archives"),
        *(word for name in ("root", "home", "srv", "mnt", "boot") for word in ("--dir", f"/{name}")),
        *("--chdir", "/", "--setenv", "PATH", "/usr/sbin:/usr/bin:/sbin:/bin", "--setenv", "HOME", "/root"),
        *("--setenv", "LANG", "C.UTF-8", "--setenv", "DEBIAN_FRONTEND", "noninteractive", "--"),
        *("sh", "-c", _INSTALL_THERE, "sh", *anew),
    ]
    _run(f"{', '.join(names)} cannot be installed", argv)


def _run(what: str, argv: Sequence[str], *, check: bool = True) -> str:
    """Returns what the program wrote. Raises PackagesNotInstalled with the end of that; not for its status without `check`."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=_DEADLINE_S,
            check=False,
            env={**strays.marked_environment(), "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"},
        )
    except FileNotFoundError:
        raise PackagesNotInstalled(
            f"{what}: {argv[0]} is not installed; packages are for Debian and what is made of it"
        ) from None
    except subprocess.TimeoutExpired:
        raise PackagesNotInstalled(f"{what}: it was not over after {_DEADLINE_S:g} s; see `apt-get update`") from None
    if check and done.returncode:
        raise PackagesNotInstalled(f"{what}:{_quoted(_complaints(done.stdout) or done.stdout.splitlines())}")
    return done.stdout


def _complaints(output: str) -> list[str]:
    """The complaints in what apt and dpkg wrote, each with the indented lines that explain it."""
    complaints: list[str] = []
    before = ""
    for line in output.splitlines():
        goes_on = line.startswith(" ") and (before in complaints or before.endswith("unmet dependencies:"))
        if goes_on or (line.startswith(_COMPLAINTS) and "Download is performed unsandboxed" not in line):
            complaints.append(line)
        before = line
    return complaints


def _quoted(lines: Sequence[str]) -> str:
    return "".join(f"\n    {printable(line)}" for line in lines[-4:])


def _hide(folder: Path, below: Path) -> None:
    """Hides what a folder of the machine has where scripts have put a new folder in its place.

    Linux marks such a folder by an extended attribute, which an overlay reads only with `userxattr`; and LXC takes that option
    for `user`, which mount(2) does not know, and drops it. A character device 0:0 hides what is below it without (Linux,
    Documentation/filesystems/overlayfs.rst, "whiteouts and opaque directories").
    """
    for entry in list(folder.iterdir()):
        if entry.is_symlink() or not entry.is_dir() or not (machines := below / entry.name).is_dir():
            continue
        if "user.overlay.opaque" in os.listxattr(entry):
            for name in {inside.name for inside in machines.iterdir()} - {inside.name for inside in entry.iterdir()}:
                os.mknod(entry / name, stat.S_IFCHR, os.makedev(0, 0))
        _hide(entry, machines)


def _of_debian(file: str) -> str:
    """Lines of the accounts with the same number on every Debian (base-passwd), without those that nodes have anyway."""
    lines = Path("/usr/share/base-passwd", f"{file}.master").read_text().splitlines()
    return "".join(f"{line}\n" for line in lines if line.partition(":")[0] not in ("root", "nobody", "nogroup"))


def _scripts(archives: Sequence[Path], folder: Path) -> str:
    """The text of the scripts that run before and after the packages are unpacked."""
    folder.mkdir()
    for number, file in enumerate(archives):
        subprocess.run(["dpkg-deb", "--control", str(file), str(folder / str(number))], check=True)
    return "".join(file.read_text(errors="replace") for name in ("preinst", "postinst") for file in folder.glob(f"*/{name}"))


def _added(before: Path, after: Path, scripts: str) -> str:
    """Lines of the accounts that scripts have made. Accounts that the machine has already count when the scripts name them."""
    lines_before = set(before.read_text().splitlines())
    named = set(re.findall(r"[a-z_][a-z0-9_-]*", scripts))
    added = []
    for line in (after if after.is_file() else before).read_text().splitlines():
        name, _, number = line.split(":")[:3]
        if line not in lines_before or (name in named and number.isdecimal() and int(number) in _ACCOUNTS_OF_PACKAGES):
            added.append(f"{line}\n")
    return "".join(added)


def _clean(new: Path) -> None:
    others = set((new / _OTHERS).read_bytes().decode(errors="surrogateescape").split("\0")) if (new / _OTHERS).exists() else set()
    for place in (*_LEFT_OUT, "opt", "work", "seen", "archives", "scripts", "pkgcache.bin", "srcpkgcache.bin"):
        remove(new / place)
    _leave_out_the_machines(new / "etc", Path("/etc"), others)
    for folder, folders, files in os.walk(new):
        for name in (*folders, *files):
            status = (entry := Path(folder, name)).lstat()
            if not stat.S_ISLNK(status.st_mode) and status.st_mode & (stat.S_ISUID | stat.S_ISGID):
                entry.chmod(stat.S_IMODE(status.st_mode) & 0o1777)


def remove(entry: Path) -> None:
    """Whatever it is, also when there is nothing."""
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry)
    else:
        entry.unlink(missing_ok=True)


def _leave_out_the_machines(folder: Path, below: Path, others: Set[str]) -> None:
    """Removes files of the machine's /etc that scripts have changed, since the rest of them is not for hosts, and whiteouts."""
    for entry in list(folder.iterdir()):
        if (place := below / entry.name) in _SEEN_BY_HOSTS:
            continue
        if entry.is_dir() and not entry.is_symlink():
            _leave_out_the_machines(entry, place, others)
        elif str(place) in others or entry.is_char_device():
            entry.unlink()


def copy(source: Path, target: Path, first_id: int) -> None:
    """Copies a part of a layer to where no node gets; user 0 becomes `first_id`. Raises OSError."""
    status = source.lstat()
    if stat.S_ISLNK(status.st_mode):
        target.symlink_to(source.readlink())
    elif stat.S_ISDIR(status.st_mode):
        target.mkdir(exist_ok=True)
        for entry in source.iterdir():
            copy(entry, target / entry.name, first_id)
    elif stat.S_ISREG(status.st_mode):
        shutil.copyfile(source, target)
    else:  # an overlay's whiteout, which hides a removed file
        return
    os.chown(target, first_id + status.st_uid, first_id + status.st_gid, follow_symlinks=False)
    if not stat.S_ISLNK(status.st_mode):
        target.chmod(stat.S_IMODE(status.st_mode))


def _remove_unused(store: Path) -> None:
    """Removes layers that no lab has, and that no lab has asked for in a month."""
    used = "".join(file.read_text() for file in state.labs_folder().glob("*/containers/*/config"))
    for versions_file in store.glob(f"*/{_MADE_OF}"):
        folder = versions_file.parent
        if folder.name not in used and time.time() - folder.stat().st_mtime > _UNUSED_S:
            shutil.rmtree(folder)
