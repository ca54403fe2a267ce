# SPDX-License-Identifier: GPL-2.0-or-later
"""What several commands take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from ownership import operators, state

if TYPE_CHECKING:
    from testbed.back_ends.back_end import BackEnd
    from testbed.description.settings import Setting


class OfAnotherCommand(TyperCommand):
    """A command whose last arguments are another command: all that follows the first argument is that one's, also its options.

    With `--` in between, this command's own options may stand after that argument, too.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.allow_interspersed_args = "--" in args
        return super().parse_args(ctx, args)


Json = Annotated[bool, typer.Option("--json", help="Print data instead of text: docs/json.md.")]
Topology = Annotated[Path, typer.Argument(metavar="FILE", help="A topology file.", readable=False, show_default=False)]
LabName = Annotated[str | None, typer.Option("--name", help="Name the lab; the file's name for it by default.")]


def labs_up(incomplete: str) -> list[str]:
    """What the shell may complete the name of a lab to: those that this user may see."""
    return [name for name in state.seen_lab_names() or () if name.startswith(incomplete)]


WhichLab = Annotated[str | None, typer.Option("--lab", help="Which lab, when several are up.", autocompletion=labs_up)]
LabUp = Annotated[str | None, typer.Argument(metavar="LAB", autocompletion=labs_up)]


def opened(lab: str | None) -> BackEnd:
    """The lab that `--lab` names, for a command that needs root's rights. Raises NoPrivilege, NoSuchLab, SomebodyElses."""
    operators.as_root()
    from testbed import where

    return where.opened(lab)


Inventory = Annotated[
    Path | None,
    typer.Option(
        "--inventory",
        metavar="FILE",
        help="An Ansible inventory of the machines that the topology names; $NETBOXIT_INVENTORY, or netboxit/inventory.yml in "
        "$XDG_CONFIG_HOME, by default.",
    ),
]

Take = Annotated[
    list[str] | None,
    typer.Option(
        "--take",
        metavar="NIC",
        help="Take this interface (of another machine MACHINE:NIC) though it is in use; it comes back with all that it has. "
        "May be given again.",
        show_default=False,
    ),
]

SetValues = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="A value in place of the file's, as traffic.call.codec=g722 or netboxes.path.loss='{probability: 0.1}'. "
        "May be given again.",
        show_default=False,
    ),
]


def read_settings(values: Sequence[str] | None) -> tuple[Setting, ...]:
    """What `--set` says. Raises BadTopology."""
    from testbed.description.settings import read

    return read(values or ())


Results = Annotated[
    Path | None,
    typer.Option("--results", metavar="FOLDER", help="Where `runs/` and `latest` are, instead of results/ here."),
]

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Write over files that are there already.")]

#: How `--help` groups the commands.
HOST = "This host"
NETWORK = "A network"
LAB = "A lab: a network that is up"
CHANGE = "Changing a lab"
WATCH = "Watching a lab"
