# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether frames cross a lab in a guest, whose netboxes are late: a node may give up asking for an address."""

from __future__ import annotations

from tests.guest.machine import Guest

#: ping ends at the first word that a host is unreachable (ping(8), `-w`); this one asks again.
_UNTIL_ANSWERED = 'timeout {within_s} sh -c "until ping -c 1 -W 5 {to}; do sleep 1; done"'


def until_answered(to: str, within_s: int = 90) -> str:
    """A shell's command that ends when a host has answered a ping, and fails when none came."""
    return _UNTIL_ANSWERED.format(to=to, within_s=within_s)


def reaches(guest: Guest, node: str, to: str, lab: str | None = None) -> None:
    """Raises GuestFailed when no ping of a node is answered."""
    of_lab = f"--lab {lab} " if lab else ""
    guest.run(f"./netboxit.py exec {of_lab}{node} -- {until_answered(to)}").checked()
