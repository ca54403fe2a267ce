# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that change a lab that is up: its netboxes, its wires, its routers."""

from __future__ import annotations

from typing import Annotated

import typer

from contracts.plan import EquipmentKind, MacvlanMode
from ownership import operators
from testbed.commands.options import CHANGE, Json, Take, WhichLab, opened
from testbed.views import change_view, console

app = typer.Typer()


@app.command("set", rich_help_panel=CHANGE)
def set_now(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="A netbox, a wire (meoc--backhaul), a router, a host or a managed link.")
    ],
    change: Annotated[
        str,
        typer.Argument(
            metavar="KEY=VALUE",
            help="As in the topology file. Of a netbox: 'distance=7.5 km', 'fr1.position=[10 m, 20 m]', 'freeze=300 ms'. Wires: "
            "state=down, state=up. Routers and hosts: 'reboot=10 s'; Click routers: configuration=FILE, HANDLER=VALUE, "
            "'lan.stages=[{stage: police, rate: 1 Mbit/s}]'. Managed links: 'rate=1 Mbit/s', of a member "
            "'fr1.access=500 kbit/s'.",
        ),
    ],
    lab: WhichLab = None,
    json: Json = False,
) -> None:
    """Change something in a lab that is up, now."""
    up = opened(lab)
    with console.progress(json) as progress:
        changes = up.change(target, change, progress)
    change_view.show_made(changes, json)


@app.command(rich_help_panel=CHANGE)
def drill(
    name: Annotated[str | None, typer.Argument(metavar="DRILL", show_default=False)] = None,
    options: Annotated[
        list[str] | None, typer.Argument(metavar="[OPTION=VALUE]…", help="Say 'depth=10 dB'.", show_default=False)
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="All drills, and their options.")] = False,
    end: Annotated[bool, typer.Option("--end", help="Put back what a drill changed whose command was killed.")] = False,
    lab: WhichLab = None,
    json: Json = False,
) -> None:
    """Let something go wrong in a lab that is up, and put it back: at its end, or upon Ctrl-C."""
    from testbed.changing import apply_now, set_command

    if listed:
        return change_view.show_drills(json)
    up = opened(lab)
    if end:
        return change_view.show_put_back(up.put_back(), json)
    sequence = set_command.drill(apply_now.targets_of(up.plan), name or "", options or [])
    verb = ["drill", "--lab", up.name, *(["--json"] if json else []), "--", name or "", *(options or [])]
    up.continue_at(apply_now.nodes_of(sequence), verb)
    with console.progress(json) as progress:
        changes = apply_now.carry_out(up.here, f"drill {name}", sequence, progress)
    change_view.show_made(changes, json)


@app.command(rich_help_panel=CHANGE)
def handler(
    router: Annotated[str, typer.Argument(metavar="ROUTER")],
    name: Annotated[
        str | None, typer.Argument(metavar="HANDLER", help="Say jan_be.drops; with --list an element.", show_default=False)
    ] = None,
    value: Annotated[str | None, typer.Argument(metavar="[VALUE]", help="Write this.", show_default=False)] = None,
    about: Annotated[
        str, typer.Option("--about", metavar="TEXT", help="What a read handler is asked about, say an address of rt.lookup.")
    ] = "",
    listed: Annotated[bool, typer.Option("--list", help="Elements and their handlers.")] = False,
    lab: WhichLab = None,
    json: Json = False,
) -> None:
    """Read a handler of a Click router, or write it."""
    up = opened(lab)
    from testbed.changing import handlers

    options = [*(["--list"] if listed else []), *(["--about", about] if about else []), *(["--json"] if json else [])]
    words = [word for word in (name, value) if word is not None]
    up.continue_at([router], ["handler", "--lab", up.name, *options, "--", router, *words])
    if listed:
        return change_view.show_handlers(handlers.elements(up.here, router, name), json)
    if name is None:
        raise handlers.BadHandler("name a handler, like jan_be.drops, or give --list")
    if value is not None:
        return change_view.show_written(router, name, handlers.write(up.here, router, name, value), json)
    change_view.show_read(router, name, handlers.read(up.here, router, name, about), json)


@app.command(rich_help_panel=CHANGE)
def attach(
    device: Annotated[
        str,
        typer.Argument(
            metavar="NIC", help="An interface of this machine, or with --tap the tap that is made.", show_default=False
        ),
    ],
    port: Annotated[
        str,
        typer.Argument(metavar="NODE[.PORT]", help="A host, or a port of a netbox, router or switch.", show_default=False),
    ],
    addresses: Annotated[
        list[str] | None,
        typer.Option("--address", metavar="ADDRESS/LENGTH", help="Of a host's new interface.", show_default=False),
    ] = None,
    vlan: Annotated[int | None, typer.Option("--vlan", min=1, max=4094, help="A VLAN of the NIC instead.")] = None,
    macvlan: Annotated[
        MacvlanMode | None, typer.Option("--macvlan", metavar="MODE", help="A macvlan of the NIC instead: bridge, private, …")
    ] = None,
    tap: Annotated[bool, typer.Option("--tap", help="Make a tap for a virtual machine.")] = False,
    user: Annotated[str | None, typer.Option("--user", help="Who may open the tap; root alone by default.")] = None,
    take: Take = None,
    lab: WhichLab = None,
    json: Json = False,
) -> None:
    """Attach real equipment to a lab that is up: a NIC becomes an interface of a node, in the place of a wire or a new one."""
    operators.as_root()
    from testbed.changing import attaching

    if sum((tap, vlan is not None, macvlan is not None)) > 1:
        raise attaching.BadAttachment("--tap, --vlan and --macvlan are different things; give one of them")
    kind: EquipmentKind = "tap" if tap else "vlan" if vlan else "macvlan" if macvlan else "nic"
    up = opened(lab)
    up.check_here([port.partition(".")[0]], "netboxit attach")
    if take and take != [device]:
        raise attaching.BadAttachment(f"--take names what is attached: --take {device}")
    wanted = attaching.Wanted(kind, device, vlan, macvlan, user, bool(take), tuple(addresses or ()))
    change_view.show_attached(*attaching.attach(up.here, wanted, port), json)


@app.command(rich_help_panel=CHANGE)
def detach(
    name: Annotated[
        str, typer.Argument(metavar="NIC", help="As it was attached, or as the topology calls it.", show_default=False)
    ],
    lab: WhichLab = None,
    json: Json = False,
) -> None:
    """Give equipment back to this machine as it was; the wire in whose place it was is plugged in again."""
    up = opened(lab)
    from testbed.changing import attaching

    change_view.show_detached(*attaching.detach(up.here, name), json)
