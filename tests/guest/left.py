# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest may have of labs when none is up: nothing."""

from __future__ import annotations

from tests.guest.machine import Guest

#: Each of them is a lab's, or all labs' together (docs/architecture.md, "Lab on the host").
_LEFT = """\
ls -d /run/netboxit /dev/shm/netboxit /sys/fs/cgroup/*nbx* /run/netns/* /var/lib/netboxit/labs/* /run/lxc/lock/* 2>/dev/null
ip -oneline link | grep -v ' lo: '
ps -eo pid=,comm=,args= | grep -E '^ *[0-9]+ (lxc-|netbox-|click|ovs)'
grep -E 'nbx|/netboxit/(labs|users|awake)' /proc/self/mounts | grep -v ' /run/netns '
losetup --noheadings --output BACK-FILE
true
"""


def nothing_left(guest: Guest) -> None:
    """Raises AssertionError with what there is."""
    if left := guest.run(_LEFT).output:
        raise AssertionError(f"left in the guest:\n{left}")
