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


def profile(capabilities: Collection[str]) -> str:
    """The text of the profile of a node with these: `bpf` for a netbox whose ports are AF_XDP's, which loads a program."""
    refused = _REFUSED if "bpf" in capabilities else (*_REFUSED, "bpf")
    lines = [
        *("2", "denylist", "[all]"),
        *(f"{name} errno 1" for name in refused),
        # A program that goes on as the user that it is already (tcpdump) sets its groups, too. Where it may not, it has none to
        # give up, and the call succeeds without effect.
        *([] if "setgid" in capabilities else ["setgroups errno 0"]),
        # In a new user namespace a program could do all that root may not do in a node (clone(2), CLONE_NEWUSER).
        "clone errno 1 [0,268435456,SCMP_CMP_MASKED_EQ,268435456]",
        # The flags of clone3 are in memory, where a filter cannot look. When the call is missing, the C library takes clone.
        "clone3 errno 38",
    ]
    return "\n".join(lines) + "\n"
