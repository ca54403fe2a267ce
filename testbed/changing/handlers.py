# SPDX-License-Identifier: GPL-2.0-or-later
"""The handlers of a Click router in a lab that is up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from contracts.changes import StagesChange
from contracts.errors import WrongInput
from testbed.description.input_errors import nearest
from testbed.labs.lab import Lab
from testbed.nodes.routers import CONTROL, HandlerRefused, Handlers, RouterUnreachable, is_click


class BadHandler(WrongInput):
    """The node has no handlers, or not that one."""


@dataclass(frozen=True)
class Element:
    """An element of a running configuration, and its handlers with what may be done to each: r, w or rw."""

    name: str
    kind: str
    handlers: dict[str, str]


@contextmanager
def of(lab: Lab, name: str, timeout_s: float = 5.0) -> Iterator[Handlers]:
    """The handlers of a router. Raises BadHandler for a node that has none, with what to use instead."""
    node = lab.node(name)
    if not is_click(node):
        instead = {
            "host": f"{name} is a host, which has no handlers; `netboxit exec {name} -- COMMAND` runs a command there",
            "netbox": f"{name} is a netbox, which has parameters; `netboxit set {name} PARAMETER=VALUE` changes one, "
            "`netboxit status` shows what it says",
        }
        by_kernel = (
            f"{name} routes by the kernel, which has no handlers; see `netboxit exec {name} -- ip route`, or vtysh with FRRouting"
        )
        raise BadHandler(instead.get(node.kind, by_kernel))
    if not lab.alive()[name]:
        raise RouterUnreachable(f"router {name} does not run; `netboxit status` shows what does")
    with Handlers(lab.node_folder(name) / CONTROL, timeout_s) as handlers:
        yield handlers


def read(lab: Lab, router: str, handler: str, about: str = "") -> str:
    with of(lab, router) as handlers, _told(handlers, handler):
        return handlers.read(handler, about)


def write(lab: Lab, router: str, handler: str, value: str) -> str:
    """Returns what the handler warned of."""
    with of(lab, router) as handlers, _told(handlers, handler):
        return handlers.write(handler, value)


def set_stages(lab: Lab, change: StagesChange) -> None:
    with of(lab, change.router) as handlers:
        handlers.set_stages(change.interface, change.value)


def elements(lab: Lab, router: str, only: str | None = None) -> list[Element]:
    """All elements with their handlers, or one of them."""
    with of(lab, router) as handlers:
        names = handlers.elements()
        if only is not None and only not in names:
            raise BadHandler(f'router {router} has no element "{only}"; {nearest(only, names)}')
        return [_element(handlers, name) for name in ([only] if only else names)]


def _element(handlers: Handlers, name: str) -> Element:
    allowed = {
        handler: "".join(flag for flag in "rw" if flag in flags)
        for handler, flags in (line.split("\t") for line in handlers.read(f"{name}.handlers").splitlines())
    }
    return Element(name, handlers.read(f"{name}.class").strip(), allowed)


@contextmanager
def _told(handlers: Handlers, address: str) -> Iterator[None]:
    """Adds to a refusal what there is of that name."""
    try:
        yield
    except HandlerRefused as refused:
        element, _, own = address.rpartition(".")
        if refused.code == 510:
            raise BadHandler(f"{refused}; {nearest(element, handlers.elements())}") from refused
        if refused.code == 511:
            there = handlers.read(f"{element}.handlers" if element else "handlers")
            raise BadHandler(f"{refused}; {nearest(own, [line.split()[0] for line in there.splitlines()])}") from refused
        raise
