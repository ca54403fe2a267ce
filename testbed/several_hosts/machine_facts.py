# SPDX-License-Identifier: GPL-2.0-or-later
"""What a machine says of itself for a run over several, and how its clock is asked by another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testbed.several_hosts import clocks
from testbed.several_hosts.synchronisation import synchronisation

if TYPE_CHECKING:
    from contracts.machines import MachineFacts


def environment_and_clock() -> MachineFacts:
    """`environment` as in environment.json, and by what its clock is kept at the right time."""
    # And what it asks for versions, which other commands do without. Only the controller needs applications of other packages.
    from applications.application import programs_of
    from applications.registry import applications
    from results.environment import environment

    return {"environment": environment(programs_of(applications().ours.values())), "synchronised": synchronisation()}


class ClockAnswers:
    """Answers the controller's questions for this machine's clock, between two of its requests."""

    def __init__(self) -> None:
        self._answering: clocks.Answering | None = None

    def answer(self, address: str, token: str) -> int:
        """Returns the UDP port at which it answers."""
        self.close()
        self._answering = clocks.answer(address, bytes.fromhex(token))
        return self._answering.port

    def close(self) -> None:
        if self._answering is not None:
            self._answering.close()
            self._answering = None
