# SPDX-License-Identifier: GPL-2.0-or-later
"""Everything of a host that a test may have to leave as it was, as lines of text: they are the same byte for byte afterwards.

The network is that of the calling thread's namespace. `NETWORK` is what nobody but the test should touch on a machine where other
things run; `ALL` is for a host of a test's own (tests/own_host.py).
"""

from __future__ import annotations

import difflib
import json
import os
import stat
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyroute2.ethtool.ioctl import IoctlEthtool  # type: ignore[import-untyped]

from system import cores

#: What counts down or is counted, not set.
_VOLATILE_KEYS = ("valid_life_time", "preferred_life_time", "expires", "used", "cache_info", "refcnt", "operstate", "stats")
_VOLATILE_SYSCTLS = ("/proc/sys/net/netfilter/nf_conntrack_count",)
#: Outside net/: what someone who tunes a host for labs would write.
_OTHER_SYSCTLS = (
    *("fs/aio-max-nr", "fs/file-max", "fs/inotify", "fs/nr_open", "fs/pipe-max-size", "kernel/core_pattern", "kernel/pid_max"),
    *("kernel/printk", "kernel/sched_rt_period_us", "kernel/sched_rt_runtime_us", "kernel/threads-max", "user"),
    *("vm/max_map_count", "vm/nr_hugepages", "vm/overcommit_memory", "vm/swappiness"),
)
_GROUP_SETTINGS = ("cpu.rt_runtime_us", "cpu.rt_period_us", "cpuset.cpus", "cpuset.mems", "cgroup.subtree_control")
#: Where programs leave files of which a reboot knows nothing.
_FOLDERS = ("/run", "/dev/shm", "/var/lib/lxc", "/sys/fs/bpf")


@dataclass(frozen=True)
class HostState:
    """What there is, by parts: `links`, `routes`, …; each a text of one line a thing."""

    parts: Mapping[str, str]

    @classmethod
    def now(cls, names: Iterable[str]) -> HostState:
        return cls({name: "".join(f"{line}\n" for line in _PARTS[name]()) for name in names})

    def changes(self) -> str:
        """What is different now, as a diff; empty when all is the same byte for byte."""
        after = HostState.now(self.parts).parts
        differences = (
            difflib.unified_diff(text.splitlines(), after[name].splitlines(), f"{name} before", f"{name} now", "", "", 0, "")
            for name, text in self.parts.items()
        )
        return "\n".join(line for lines in differences for line in lines)


def _links() -> Iterator[str]:
    """Interfaces with all attributes, what is queued and filtered at them, and their offloads."""
    links = _ip("link show")
    yield from _each(links)
    for link in links:
        yield f"{link['ifname']}: {_offloads(link['ifname'])}"
    yield from _run("tc", "-details", "qdisc", "show").splitlines()
    known = json.loads(_run("bridge", "-details", "-json", "fdb", "show"))
    # Not what it learned; and in no order.
    yield from sorted(_each(_settled(entry) for entry in known if entry.get("state") in ("permanent", "static")))


def _addresses() -> Iterator[str]:
    return _each(_ip("address show"))


def _routes() -> Iterator[str]:
    """In no order: the kernel lists them as they came."""
    yield from sorted(_each(_ip("route show table all")))
    yield from sorted(_each(_ip("route show table all", "-6")))


def _rules() -> Iterator[str]:
    yield from _each(_ip("rule show"))
    yield from _each(_ip("rule show", "-6"))


def _neighbours() -> Iterator[str]:
    """Those that somebody entered; in no order."""
    yield from sorted(_each(_ip("neighbour show nud permanent")))
    yield from sorted(_each(_ip("neighbour show proxy")))


def _packet_filters() -> Iterator[str]:
    yield from _run("nft", "--stateless", "list", "ruleset").splitlines()
    for family in ("ip", "ip6", "arp", "eb"):  # tables of the older iptables, where the kernel has it
        with suppress(FileNotFoundError):
            yield f"{family}: {Path(f'/proc/thread-self/net/{family}_tables_names').read_text().split()}"


def _sysctls() -> Iterator[str]:
    waiting = [f"/proc/sys/{name}" for name in ("net", *_OTHER_SYSCTLS)]
    while waiting:
        path = waiting.pop()
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except OSError:  # some are for writing only, some kernels lack some
            continue
        try:
            if stat.S_ISDIR(os.fstat(descriptor).st_mode):
                waiting += sorted(f"{path}/{entry.name}" for entry in os.scandir(descriptor))
            elif path not in _VOLATILE_SYSCTLS:
                with suppress(OSError):
                    yield f"{path} = {os.read(descriptor, 1 << 16)!r}"
        finally:
            os.close(descriptor)


def _mounts() -> Iterator[str]:
    return iter(Path("/proc/thread-self/mountinfo").read_text().splitlines())


def _groups() -> Iterator[str]:
    for hierarchy in cores.hierarchies():
        for folder, inner, files in os.walk(hierarchy.folder):
            inner.sort()
            settings = {name: Path(folder, name).read_text() for name in _GROUP_SETTINGS if name in files}
            yield f"{folder} {settings}"


def _files() -> Iterator[str]:
    """Which there are, what kind they are, and the text of the small ones."""
    for top in _FOLDERS:
        for folder, inner, files in os.walk(top):
            inner.sort()
            for path in map(Path(folder).joinpath, sorted([*inner, *files])):
                with suppress(FileNotFoundError):
                    status = path.lstat()
                    text = path.read_bytes()[:200] if path.is_file() and not path.is_symlink() else b""
                    yield f"{path} {status.st_mode:o} {status.st_uid} {status.st_gid} {text!r}"


def _processes() -> Iterator[str]:
    """Programs; a kernel's thread has no command line."""
    for process in sorted(Path("/proc").glob("[0-9]*"), key=lambda path: int(path.name)):
        with suppress(OSError):
            if line := (process / "cmdline").read_bytes():
                yield f"{process.name} {line!r}"


def _sockets() -> Iterator[str]:
    """Those that listen or are bound; not connections, which come and go."""
    for kind, bound in (("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07"), ("raw", "07"), ("raw6", "07")):
        lines = [line.split() for line in Path(f"/proc/thread-self/net/{kind}").read_text().splitlines()[1:]]
        yield from sorted(f"{kind} {words[1]}" for words in lines if words[3] == bound)
    for kind in ("unix", "packet"):
        lines = [line.split() for line in Path(f"/proc/thread-self/net/{kind}").read_text().splitlines()[1:]]
        if kind == "unix":
            yield from sorted(f"unix {' '.join(words[7:])}" for words in lines if words[3] == "00010000")
        else:
            yield from sorted(f"packet {words[3]} {words[4]}" for words in lines)


_PARTS: Mapping[str, Callable[[], Iterator[str]]] = {
    "links": _links,
    "addresses": _addresses,
    "routes": _routes,
    "rules": _rules,
    "neighbours": _neighbours,
    "packet filters": _packet_filters,
    "sysctls": _sysctls,
    "mounts": _mounts,
    "groups": _groups,
    "files": _files,
    "processes": _processes,
    "sockets": _sockets,
}

#: The host's own network.
NETWORK = ("links", "addresses", "routes", "rules", "neighbours", "packet filters", "sysctls")
ALL = tuple(_PARTS)


def _ip(command: str, *options: str) -> list[dict[str, Any]]:
    output = _run("ip", "-details", "-json", *options, *command.split())
    return [_settled(entry) for entry in json.loads(output or "[]") if entry]


def _settled(entry: Any) -> Any:
    """Without what changes by itself."""
    if isinstance(entry, dict):
        return {k: _settled(v) for k, v in entry.items() if k not in _VOLATILE_KEYS and not k.endswith("_timer")}
    if isinstance(entry, list):
        # The kernel tells the end of NO-CARRIER, and of a route's linkdown, up to a second after the carrier is there, as it does
        # of `operstate`.
        return [_settled(one) for one in entry if one != "linkdown" and (one != "NO-CARRIER" or "LOWER_UP" not in entry)]
    return entry


def _each(entries: Iterable[dict[str, Any]]) -> Iterator[str]:
    return (json.dumps(entry) for entry in entries)


def _offloads(interface: str) -> str:
    ethtool = IoctlEthtool(interface)
    try:
        return " ".join(f"{name}={'on' if active else 'off'}" for name, active, *_ in ethtool.get_features())
    except OSError as error:
        return f"{error.strerror}"
    finally:
        ethtool.close()


def _run(*argv: str) -> str:
    result = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{' '.join(argv)}: {result.stderr}"
    return result.stdout
