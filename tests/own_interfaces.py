# SPDX-License-Identifier: GPL-2.0-or-later
"""A network namespace in the role of the host's, with interfaces that lead outside: what tests take and give back."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.host_state import NETWORK, HostState
from tests.namespaces import Namespace, wait_for


@dataclass(frozen=True)
class OwnInterfaces:
    """`host` has interfaces eth2, eth3, …; what each leads to is a namespace of its own, where its other end is `far`."""

    host: Namespace
    outside: dict[str, Namespace]

    def run(self, *argv: str) -> str:
        """On the host."""
        return checked(self.host, *argv)

    def state(self) -> dict[str, list[str]]:
        """The whole network of the host, in no order: the kernel lists multicast addresses and routes as they came.

        The kernel tells of a carrier, and does what follows from it, up to a second after it is there.
        """
        wait_for(lambda: not re.search("NO-CARRIER.*LOWER_UP", self.run("ip", "link")), "what follows from a carrier")
        with self.host.inside():
            return {part: sorted(text.splitlines()) for part, text in HostState.now(NETWORK).parts.items()}

    def becomes(self, before: dict[str, list[str]]) -> None:
        """As it was before, soon."""
        with suppress(AssertionError):
            wait_for(lambda: self.state() == before, "the same settings")
        now = self.state()
        different = [line for part in before for line in {*before[part]} ^ {*now[part]}]
        assert before == now, "\n".join(sorted(different))


@contextmanager
def own_interfaces(names: Sequence[str] = ("eth2", "eth3")) -> Iterator[OwnInterfaces]:
    """IPv6 is on, and probes and asks nothing."""
    with ExitStack() as stack:
        made = OwnInterfaces(stack.enter_context(Namespace("host")), {})
        allow_ipv6(made.host)
        for name in names:
            made.outside[name] = stack.enter_context(Namespace(f"beyond-{name}"))
            made.run("ip", "link", "add", name, "type", "veth", "peer", "name", "far", "netns", made.outside[name].name)
            checked(made.outside[name], "ip", "link", "set", "far", "up")
        yield made


def allow_ipv6(space: Namespace) -> None:
    with space.inside():
        for name, value in {
            "all/disable_ipv6": "0",
            "default/disable_ipv6": "0",
            "default/accept_dad": "0",
            "default/router_solicitations": "0",
        }.items():
            Path("/proc/sys/net/ipv6/conf", name).write_text(value)


def checked(space: Namespace, *argv: str) -> str:
    result: subprocess.CompletedProcess[str] = space.run(*argv)
    assert result.returncode == 0, f"{' '.join(argv)}: {result.stderr}"
    return result.stdout
