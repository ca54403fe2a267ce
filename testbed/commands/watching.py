# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that look at labs that are up and change nothing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ownership import operators, state
from system.interruption import ends_upon_signal
from testbed.commands.options import WATCH, Json, LabUp, Overwrite, WhichLab, opened
from testbed.views import console, drawing, lab_view

app = typer.Typer()


@app.command(rich_help_panel=WATCH)
def status(
    lab: LabUp = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on showing rates, delay, loss and lateness, until q or Ctrl-C.")
    ] = False,
    interval: Annotated[str, typer.Option("--interval", metavar="TIME", help="Of --watch, from 0.2 s.")] = "1 s",
    json: Json = False,
) -> None:
    """Show labs, their nodes, what netboxes say of themselves, and what happened lately: reboots, wires, routes, links."""
    if state.seen_lab_names() != []:
        operators.as_root()
    if watch:
        return _watch(lab, interval, json)
    from testbed import where

    names = state.lab_names() if lab is None else [lab]
    lab_view.show_status([where.seen(name).status() for name in names], json)


def _watch(lab: str | None, interval: str, json: bool) -> None:
    from testbed.observation import watching
    from testbed.views import watch_view

    interval_s = watching.checked_interval(console.read_duration(interval, "--interval"))
    with ends_upon_signal() as ended:
        if json:
            with console.until_nobody_reads():
                watching.lines(lab, interval_s, ended)
        else:
            watch_view.watch(lab, interval_s, ended)


@app.command(rich_help_panel=WATCH)
def metrics(
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any that is free.")] = 9469,
) -> None:
    """Serve the counters of all labs to Prometheus, at http://127.0.0.1:PORT/metrics, until Ctrl-C."""
    operators.as_root()
    operators.check_port(port)
    from testbed.observation.metrics_server import MetricsServer

    with ends_upon_signal() as ended, MetricsServer(port) as server:
        drawing.say(f"metrics of all labs: {server.url}")
        ended.wait()  # for as long as the user wants


@app.command(rich_help_panel=WATCH)
def capture(
    named: Annotated[
        list[str],
        typer.Argument(
            metavar="POINT… FILE",
            help="Nodes (fr1), ports (field.responder) and wires (fr1--field), and the pcapng file, unless --live.",
            show_default=False,
        ),
    ],
    duration: Annotated[
        str | None,
        typer.Option("--duration", metavar="TIME", help="Say '20 s'; a bare number is seconds. Default: until Ctrl-C."),
    ] = None,
    ring: Annotated[
        str | None, typer.Option("--ring", metavar="SIZExCOUNT", help="Keep the last files only: '10 MB x 5'; they are numbered.")
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="To standard output, for `| wireshark -k -i -`.")] = False,
    overwrite: Overwrite = False,
    lab: WhichLab = None,
    json: Json = False,
) -> None:
    """Capture the frames that pass one or several points of a lab, on one clock, into one file."""
    operators.as_root()
    from testbed.back_ends.back_end import Capturing
    from testbed.observation import capture_files, capture_points, capturing

    duration_s = None if duration is None else console.read_duration(duration)
    names, open_sink = capture_files.target(named, ring=ring, live=live, json=json, overwrite=overwrite)
    up = opened(lab)
    wanted = capture_points.points(up.plan, names)
    request = Capturing(names, duration, None if live else Path(named[-1]), overwrite=overwrite, plain=not (json or ring))
    if (status := up.capture_elsewhere([point.node for point in wanted], request)) is not None:
        raise typer.Exit(status)
    with console.until_nobody_reads(), console.progress(json) as progress:
        captured = capturing.capture(up.here, wanted, open_sink, duration_s=duration_s, progress=progress)
    lab_view.show_captured(captured, json, sys.stderr if live else sys.stdout)
