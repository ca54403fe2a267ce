# SPDX-License-Identifier: GPL-2.0-or-later
"""System calls that no node has a use for, each refused with EPERM: LXC's seccomp profile (lxc.container.conf(5), version 2).

They are those with which a program would leave its container or change the host (the kernel's code, its clock and mounts, other
namespaces, other processes' memory), and some large ones that are known for holes and that nothing here needs.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

#: By what they act on: the kernel itself, swap, the clock, files by other ways than their names, mounts, namespaces, other
#: processes, hardware ports, keys; and the large ones.
_REFUSED: Final = (
    *("kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot", "syslog", "acct"),
    *("swapon", "swapoff"),
    *("settimeofday", "clock_settime", "clock_adjtime", "adjtimex"),
    *("open_by_handle_at", "name_to_handle_at", "quotactl", "fanotify_init", "chroot", "pivot_root"),
    *("mount", "umount2", "mount_setattr", "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "fspick"),
    *("setns", "unshare"),
    *("ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd"),
    *("iopl", "ioperm"),
    *("add_key", "keyctl", "request_key"),
    *("perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register"),
)

#: A program that goes on as the user that it is already (tcpdump) sets its groups, too; where it may not, it has none to give up,
#: and is told that it did.
_GROUPS: Final = "setgroups errno 0"
#: A new user namespace would be a way round all that root may not do in a node (clone(2), CLONE_NEWUSER).
_NEW_USER: Final = "clone errno 1 [0,268435456,SCMP_CMP_MASKED_EQ,268435456]"
#: Its flags are in memory, where a filter cannot look; told that there is none, the C library takes clone.
_CLONE3: Final = "clone3 errno 38"


def profile(capabilities: Collection[str]) -> str:
    """The text of the profile of a node with these: `bpf` for a netbox whose ports are AF_XDP's, which loads a program."""
    refused = _REFUSED if "bpf" in capabilities else (*_REFUSED, "bpf")
    groups = () if "setgid" in capabilities else (_GROUPS,)
    lines = ("2", "denylist", "[all]", *(f"{name} errno 1" for name in refused), *groups, _NEW_USER, _CLONE3)
    return "\n".join(lines) + "\n"
