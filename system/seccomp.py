# SPDX-License-Identifier: GPL-2.0-or-later
"""System calls that no node has a use for, each refused with EPERM: LXC's seccomp profile (lxc.container.conf(5), version 2).

They are those with which a program would leave its container or change the host (the kernel's code, its clock and mounts, other
namespaces, other processes' memory), and some large ones that are known for holes and that nothing here needs.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

_KERNEL: Final = ("kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot", "syslog", "acct")
_MEMORY: Final = ("swapon", "swapoff")
_CLOCK: Final = ("settimeofday", "clock_settime", "clock_adjtime", "adjtimex")
_FILES: Final = ("open_by_handle_at", "name_to_handle_at", "quotactl", "fanotify_init", "chroot", "pivot_root")
_MOUNTS: Final = (
    *("mount", "umount2", "mount_setattr", "move_mount", "open_tree"),
    *("fsopen", "fsconfig", "fsmount", "fspick"),
)
_NAMESPACES: Final = ("setns", "unshare")
_PROCESSES: Final = ("ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd")
_PORTS: Final = ("iopl", "ioperm")
_KEYS: Final = ("add_key", "keyctl", "request_key")
_LARGE: Final = ("perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register")

#: A program that goes on as the user that it is already (tcpdump) sets its groups, too; where it may not, it has none to give up,
#: and is told that it did.
_GROUPS: Final = "setgroups errno 0"
#: A new user namespace would be a way round all that root may not do in a node (clone(2), CLONE_NEWUSER).
_NEW_USER: Final = "clone errno 1 [0,268435456,SCMP_CMP_MASKED_EQ,268435456]"
#: Its flags are in memory, where a filter cannot look; told that there is none, the C library takes clone.
_CLONE3: Final = "clone3 errno 38"


def profile(capabilities: Collection[str]) -> str:
    """The text of the profile of a node with these: `bpf` for a netbox whose ports are AF_XDP's, which loads a program."""
    refused = [*_KERNEL, *_MEMORY, *_CLOCK, *_FILES, *_MOUNTS, *_NAMESPACES, *_PROCESSES, *_PORTS, *_KEYS, *_LARGE]
    refused += [] if "bpf" in capabilities else ["bpf"]
    more = [_NEW_USER, _CLONE3] if "setgid" in capabilities else [_GROUPS, _NEW_USER, _CLONE3]
    return "\n".join(("2", "denylist", "[all]", *(f"{name} errno 1" for name in refused), *more)) + "\n"
