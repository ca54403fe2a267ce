# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that change a lab that is up: its netboxes, its wires, its routers."""

from __future__ import annotations

from typing import Annotated

import typer

from testbed import change_view
from testbed.commands.options import Json, WhichLab

app = typer.Typer()


@app.command("set")
def set_parameter(
    netbox: Annotated[str, typer.Argument(metavar="NETBOX")],
    change: Annotated[
        str,
        typer.Argument(
            metavar="PARAMETER=VALUE", help="As in the topology file, say 'distance=7.5 km' or 'fr1.position=[10 m, 20 m]'."
        ),
    ],
    lab: WhichLab = None,
    json: Json = False,
) -> None:
    """Change a parameter of a running netbox, or of one of its stations."""
    from testbed.lab import Lab
    from testbed.live import change_parameter

    change_view.show_change(netbox, change_parameter(Lab.one(lab), netbox, change), json)


@app.command()
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
    from testbed import handlers
    from testbed.lab import Lab

    if listed:
        return change_view.show_handlers(handlers.elements(Lab.one(lab), router, name), json)
    if name is None:
        raise handlers.BadHandler("name a handler, like jan_be.drops, or give --list")
    if value is not None:
        return change_view.show_written(router, name, handlers.write(Lab.one(lab), router, name, value), json)
    change_view.show_read(router, name, handlers.read(Lab.one(lab), router, name, about), json)
