#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of NetBoxIT: verbs only, what they do is in testbed/, how it looks in testbed/views/.

Those that change a running lab, or watch it, are in testbed/commands/.
"""

# Imports below the change of interpreter need what is only installed there.
from __future__ import annotations

import os
import signal
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

from contracts import installation

# Who interrupts it before there is anything to undo needs no traceback.
if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

# Before anything that is installed there: whoever runs this file with the system's Python gets NetBoxIT's.
if __name__ == "__main__" and Path(sys.prefix) != installation.ENVIRONMENT:
    installation.start()

from typing import TYPE_CHECKING, Annotated

import typer

from contracts.errors import OnlyInCheckout
from ownership import operators, state
from system import user_privileges
from testbed.commands import changing, manual, watching
from testbed.commands.options import (
    HOST,
    LAB,
    NETWORK,
    WATCH,
    Inventory,
    Json,
    LabName,
    LabUp,
    OfAnotherCommand,
    Overwrite,
    Results,
    SetValues,
    Take,
    Topology,
    WhichLab,
    opened,
    read_settings,
)
from testbed.views import archive_view, campaign_view, change_view, console, drawing, lab_view, plan_view, result_view

if TYPE_CHECKING:
    from campaigns.checking import Checked

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


def _print_version(wanted: bool) -> None:
    if wanted:
        from results.commit import commit

        built_from = commit(installation.CHECKOUT)
        drawing.say(f"netboxit {installation.version()}" + (f" ({built_from})" if built_from else ""))
        raise typer.Exit


@app.callback()
def of_all_commands(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Say which NetBoxIT this is.")
    ] = False,
) -> None:
    """Emulates heterogeneous networks in real time: netboxes, routers and hosts in containers, joined by plain Ethernet."""


@app.command(rich_help_panel=HOST)
def doctor(
    inventory: Annotated[
        Path | None,
        typer.Option("--inventory", metavar="FILE", help="Ask the machines of an Ansible inventory what they can do together."),
    ] = None,
    json: Json = False,
) -> None:
    """Say what this host can do, what is missing, what is lost without it, and what to do about it."""
    if inventory is not None:
        from testbed.probes import machines

        raise typer.Exit(result_view.show_machines(machines.examine(inventory), json))
    from testbed.probes.doctor import examine

    raise typer.Exit(result_view.show_examination(examine(), json))


@app.command(rich_help_panel=HOST)
def setup() -> None:
    """Install the Debian packages that NetBoxIT needs on this machine; nothing else of it is changed. `doctor` names them."""
    from testbed.preparation import prepare

    raise typer.Exit(0 if prepare() else 1)


@app.command(rich_help_panel=NETWORK)
def check(
    file: Topology,
    svg: Annotated[Path | None, typer.Option("--svg", metavar="OUT.svg", help="Draw the network into this file.")] = None,
    overwrite: Overwrite = False,
    inventory: Inventory = None,
    set_values: SetValues = None,
    json: Json = False,
) -> None:
    """Say whether a topology file, or a campaign file, is sound; nothing is created, and no other machine is asked."""
    from campaigns.campaign import is_campaign

    if is_campaign(file):
        if svg is not None or inventory is not None or set_values:
            raise typer.BadParameter(f"{file} is a campaign file, of which --svg, --inventory and --set say nothing")
        checked = _checked_campaign(file, json)
        return campaign_view.show_check(file, len(checked.points), list(checked.notes()), json)
    from system.realtime_support import realtime_support
    from testbed import where

    plan, load = where.checked(file, inventory, realtime_support(), values := read_settings(set_values))
    if svg is not None:
        from results.network_picture import write_picture
        from testbed.description.topology_file import source_of

        write_picture(plan, source_of(file, values).data, svg, overwrite=overwrite)
    plan_view.show_check(file, plan, load, json)


def _checked_campaign(file: Path, json: bool) -> Checked:
    from campaigns import checking
    from campaigns.campaign import Campaign

    read = Campaign.load(file)
    with console.progress(json) as progress:
        return checking.check(read, progress)


@app.command(rich_help_panel=NETWORK)
def campaign(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="A campaign file.", readable=False, show_default=False)
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say only which runs there would be, by whom, how long they take and how much disk.")
    ] = False,
    retry: Annotated[
        bool, typer.Option("--retry", help="Make also those runs again that the folder has as degraded or invalid.")
    ] = False,
    again: Annotated[
        Path | None,
        typer.Option(
            "--again", metavar="FOLDER", help="Instead of a file: make all runs of a campaign's folder again, and compare."
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="Have the workers of this Dask cluster make the runs, as tls://192.0.2.1:8786.",
            show_default=False,
        ),
    ] = None,
    ca_file: Annotated[
        Path | None, typer.Option("--tls-ca-file", metavar="FILE", help="Of the cluster's CA; Dask's own setting by default.")
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option("--tls-cert", metavar="FILE", help="By which the scheduler knows this machine; likewise.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option("--tls-key", metavar="FILE", help="Of that certificate, when it is not in the same file.")
    ] = None,
    results: Results = None,
    json: Json = False,
) -> None:
    """Run a topology many times with other values, as a campaign file says: docs/campaigns.md.

    The same command goes on where it was ended, by whatever. Exit status 0: all runs are valid, 3: one is degraded, 4: invalid.
    With --again 0: all runs are the same, 1: one differs.
    """
    user_privileges.drop_privileges()
    from campaigns.cluster import Cluster

    if scheduler is None and (ca_file or certificate or key):
        raise typer.BadParameter("--tls-ca-file, --tls-cert and --tls-key are for a cluster; name it with --scheduler")
    cluster = None if scheduler is None else Cluster(scheduler, ca_file, certificate, key)
    from testbed.run import RESULTS

    into = (results or RESULTS).absolute()
    if again is not None:
        if file is not None or dry_run or retry:
            raise typer.BadParameter("--again takes a campaign's folder alone; leave FILE, --dry-run and --retry out")
        from campaigns.again import repeat

        with console.progress(json) as progress:
            repeated = repeat(again, into, progress)
        raise typer.Exit(archive_view.show_campaign_again(repeated, json))
    if file is None:
        raise typer.BadParameter("name a campaign file, or a campaign's folder by --again")
    checked = _checked_campaign(file, json)
    if dry_run:
        if retry:
            raise typer.BadParameter("--dry-run makes nothing; leave --retry out")
        from campaigns.estimate import estimate

        asked = None
        if cluster is not None:
            from campaigns.running import surveyed

            asked = surveyed(checked.campaign, cluster)
        with console.progress(json) as progress:
            told = estimate(checked, into, progress, asked)
        return campaign_view.show_dry_run(told, json)
    from campaigns import running

    with console.progress(json) as progress:
        carried = running.run(checked, into, campaign_view.telling(progress), cluster, retry=retry)
    raise typer.Exit(campaign_view.show_carried(carried, json))


@app.command(rich_help_panel=NETWORK)
def compare(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="RUN|CAMPAIGN…", help="Folders of runs, of campaigns, or of results.", show_default=False),
    ],
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            metavar="NAME",
            help="As call.mos_e_model, instead of those that the campaign asks for. May be given again.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="Write the report there, with figures (SVG, PDF) and tables (CSV, LaTeX)."),
    ] = None,
    json: Json = False,
) -> None:
    """Say what many runs measured: means with intervals, differences of runs with the same seeds, a report: docs/campaigns.md.

    The report of one campaign is its report.html; of others it is results/compared/report.html, if --out does not say where.
    """
    user_privileges.drop_privileges()
    from campaigns import comparing
    from testbed.run import RESULTS

    into = comparing.place(folders, out, RESULTS)
    with console.progress(json) as progress:
        progress("comparing")
        compared = comparing.write(folders, measures or (), into, files=out is not None)
    campaign_view.show_compared(compared.document(), json)


@app.command(rich_help_panel=NETWORK)
def schema(
    of_campaigns: Annotated[bool, typer.Option("--campaign", help="That of campaign files instead.")] = False,
) -> None:
    """Print the JSON schema of topology files, by which editors complete and check them: netboxit schema >topology.schema.json"""
    if of_campaigns:
        from campaigns.campaign_schema import schema as campaign_schema

        return plan_view.show_schema(campaign_schema())
    from testbed.description.topology_schema import schema as topology_schema

    plan_view.show_schema(topology_schema())


@app.command(rich_help_panel=NETWORK)
def plan(
    file: Topology, name: LabName = None, inventory: Inventory = None, set_values: SetValues = None, json: Json = False
) -> None:
    """Show every name, address and core that a topology file resolves to, what netboxes will have to do, what `apply` would."""
    if state.seen_lab_names() is None and operators.is_unprivileged_operator():
        operators.as_root()  # what labs are up, and what would be changed of them, is not for everybody to see
    from testbed import where

    (compared, missing), remarks = where.compared(file, inventory, name, read_settings(set_values)), list[str]()
    if compared.plan.equipment:
        from testbed.labs import equipment_here

        own = equipment_here.of_this_machine(compared.plan)
        missing, remarks = [*missing, *equipment_here.problems(own)], equipment_here.remarks(own)
    plan_view.show_plan(compared, missing, remarks, json)


@app.command(rich_help_panel=HOST)
def calibrate(json: Json = False) -> None:
    """Measure what a frame costs on this machine, so that `plan` can say what netboxes will have to do. Takes 1 to 2 minutes.

    What could not be measured is told, and the rest is kept. Exit status 1 then.
    """
    operators.as_root()
    from testbed.plans.calibration import NoCalibration, read
    from testbed.probes.calibrate import calibrate as measure

    with console.progress(json) as progress:
        calibration = measure(progress)
    with suppress(NoCalibration):
        calibration = calibration.completed_by(read())
    plan_view.show_calibration(calibration, calibration.write(), json)
    raise typer.Exit(1 if calibration.failed else 0)


@app.command(rich_help_panel=LAB)
def up(
    file: Topology,
    name: LabName = None,
    inventory: Inventory = None,
    take: Take = None,
    set_values: SetValues = None,
    json: Json = False,
) -> None:
    """Bring a lab up and leave it running."""
    operators.as_root()
    from system.interruption import heed_no_more, noted
    from testbed import where

    with ExitStack() as told:
        with where.planned(file, inventory, lab=name, settings=read_settings(set_values), take=take or ()) as planned:
            planned.check()
            with console.progress(json) as progress:
                lab = planned.up_and_ready(progress)
            told.enter_context(noted(lambda: f"lab {lab.name} is up; `netboxit down {lab.name}` takes it down"))
            lab_view.show_up(lab.status(), len(planned.plan.events), json)
        heed_no_more()


@app.command(rich_help_panel=LAB)
def apply(file: Topology, name: LabName = None, take: Take = None, set_values: SetValues = None, json: Json = False) -> None:
    """Make a lab that is up what its file says now; what is the same keeps running. `plan` tells before what would be done."""
    operators.as_root()
    from testbed import where
    from testbed.changing import alteration

    where.refuse_several(file, name, values := read_settings(set_values))
    with console.progress(json) as progress:
        applied = alteration.apply(file, name, progress, take or (), values)
    change_view.show_applied(applied, json)


@app.command("exec", cls=OfAnotherCommand, rich_help_panel=LAB)
def execute(
    node: Annotated[str, typer.Argument(metavar="NODE")],
    command: Annotated[
        list[str] | None, typer.Argument(metavar="COMMAND…", help="A shell by default.", show_default=False)
    ] = None,
    lab: WhichLab = None,
) -> None:
    """Run a command inside a node, with this terminal; its exit status is kept. What it started ends with it."""
    up = opened(lab)
    up.continue_at([node], ["exec", "--lab", up.name, node, *(["--", *command] if command else [])])
    argv = up.here.exec_argv(node, command or (), {"TERM": os.environ.get("TERM", "dumb")})
    os.execvp(argv[0], argv)


@app.command(rich_help_panel=LAB)
def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="FILE or NODE:PATH.", show_default=False)],
    target: Annotated[
        str, typer.Argument(metavar="TO", help="NODE:PATH or FILE; a folder takes it by its name.", show_default=False)
    ],
    overwrite: Overwrite = False,
    lab: WhichLab = None,
) -> None:
    """Copy a file into a node, or out of one: netboxit copy probe.py fr1:/run/netboxit."""
    operators.as_root()
    from testbed.labs import copying

    ends = copying.ends(source, target)
    up = opened(lab)
    up.check_here([place.node for place in ends if place.node], "netboxit copy")
    drawing.say(f"copied to {copying.copy(up.here, *ends, overwrite=overwrite)}")


@app.command(rich_help_panel=WATCH)
def record(
    ends: Annotated[list[str], typer.Argument(metavar="HOST HOST", help="The ends of the path.", show_default=False)],
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="One file is made for each direction: FILE-A-to-B.", show_default=False)
    ],
    duration: Annotated[str, typer.Option("--duration", metavar="TIME", help="Of the probing.")] = "30 s",
    step: Annotated[str, typer.Option("--step", metavar="TIME", help="Of a row of the trace, 0.2 to 60 s.")] = "1 s",
    packets: Annotated[float, typer.Option("--packets", help="Small ones a second, each way, for delay and loss.")] = 100.0,
    most_rate: Annotated[
        str, typer.Option("--most-rate", metavar="RATE", help="Most that the trains that seek the rate add up to, each way.")
    ] = "2 Mbit/s",
    mahimahi: Annotated[bool, typer.Option("--mahimahi", help="Write the rate in Mahimahi's format instead of a CSV.")] = False,
    run: Annotated[Path | None, typer.Option("--run", metavar="FOLDER", help="From the captures of a run, not a lab.")] = None,
    captures: Annotated[
        list[Path] | None, typer.Option("--capture", metavar="PCAPNG", help="From captures at the ends, in their order (twice).")
    ] = None,
    saturated: Annotated[
        bool, typer.Option("--saturated", help="The captured traffic filled the path: what arrived is its rate.")
    ] = False,
    overwrite: Overwrite = False,
    lab: WhichLab = None,
    json: Json = False,
) -> None:
    """Record a path between two hosts as a trace that a `link` plays: by probing, or from captures at both ends."""
    from testbed.observation import record as recording

    if len(ends) != 2 or (captures and (run or len(captures) != 2)):
        raise recording.BadRecord("name two hosts, and for captures one file of each: --capture A.pcapng --capture B.pcapng")
    hosts, step_s = recording.path_between(ends[0], ends[1]), console.read_duration(step, "--step")
    probing = recording.Probing(console.read_duration(duration), step_s, packets, recording.read_rate(most_rate))
    if captures or run:
        user_privileges.drop_privileges()
    else:
        operators.as_root()
    recording.check_target(hosts, out.absolute(), mahimahi=mahimahi, overwrite=overwrite)
    if captures:
        traces = recording.of_captures(hosts, (captures[0], captures[1]), step_s, saturated=saturated)
    elif run:
        traces = recording.of_run(run, hosts, step_s, saturated=saturated)
    else:
        up = opened(lab)
        up.check_here(ends, "netboxit record")
        with console.progress(json) as progress:
            traces = recording.of_lab(up.here, hosts, probing, progress)
    lab_view.show_recorded(recording.write(traces, out.absolute(), mahimahi=mahimahi), json)


@app.command(rich_help_panel=LAB)
def down(
    lab: LabUp = None,
    every: Annotated[bool, typer.Option("--all", help="Take all labs down.")] = False,
    json: Json = False,
) -> None:
    """Take a lab down: everything that belongs to it, and nothing else."""
    if state.seen_lab_names() != []:
        operators.as_root()
    from testbed import where
    from testbed.labs import removal

    nothing_up = lab is None and not state.own_lab_names()
    names = state.own_lab_names() if every or nothing_up else [state.chosen(lab, "down {}")]
    with console.progress(json) as progress:
        notes = removal.take_down_each(names, progress, where.undo)
    lab_view.show_down(names, notes, json)


@app.command(rich_help_panel=NETWORK)
def run(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="A topology file.", readable=False, show_default=False)
    ] = None,
    duration: Annotated[
        float | None,
        typer.Option(
            "--duration",
            metavar="TIME",
            parser=console.read_duration,
            help="Of the traffic, or of a run without any; say '20 s' or '2 min', a bare number is seconds.",
        ),
    ] = None,
    warm_up: Annotated[
        float | None,
        typer.Option(
            "--warm-up",
            metavar="TIME",
            parser=console.read_warm_up,
            help="From the beginning of the run: what is sent meanwhile is in no figure.",
        ),
    ] = None,
    name: LabName = None,
    inventory: Inventory = None,
    results: Results = None,
    take: Take = None,
    set_values: SetValues = None,
    virtual: Annotated[
        bool,
        typer.Option(
            "--virtual",
            help="In virtual time: computed without a lab and without root, as fast as the models can be; the same seed gives "
            "the same run to the bit.",
        ),
    ] = False,
    again: Annotated[
        Path | None,
        typer.Option(
            "--again",
            metavar="RUN",
            help="Instead of a file: make the run of this folder again, with the same topology, seed, length, warm-up and kind "
            "of time; in virtual time it is compared.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Bring a lab up, run its traffic, measure, report, and take it down. Exit status 0 valid, 3 degraded, 4 invalid.

    With --again in virtual time 0: it is the same, 1: it differs.
    """
    if again is not None:
        said = (
            *(("FILE", file), ("--duration", duration), ("--warm-up", warm_up), ("--name", name)),
            *(("--set", set_values), ("--virtual", virtual)),
        )
        if unfit := [option for option, value in said if value]:
            raise typer.BadParameter(f"a run that is made again says that itself; leave {' and '.join(unfit)} out")
        raise typer.Exit(_run_again(again, results, inventory, take, json))
    if file is None:
        raise typer.BadParameter("name a topology file, or the folder of a run by --again")
    if virtual:
        if unfit := [option for option, value in (("--inventory", inventory), ("--take", take)) if value]:
            raise typer.BadParameter(f"a run in virtual time needs no machine and no interface; leave {' and '.join(unfit)} out")
        from testbed import virtual_run as in_virtual_time
    else:
        operators.as_root()
    from testbed import run as sequence

    into, settings = (results or sequence.RESULTS).absolute(), read_settings(set_values)
    with console.progress(json) as progress:
        if virtual:
            outcome = in_virtual_time.run(
                file,
                lab=name,
                duration_s=duration,
                warm_up_s=warm_up or 0.0,
                progress=progress,
                results=into,
                settings=settings,
            )
        else:
            outcome = sequence.run(
                file,
                lab=name,
                duration_s=duration,
                warm_up_s=warm_up or 0.0,
                inventory=inventory,
                progress=progress,
                results=into,
                take=take or (),
                settings=settings,
            )
    raise typer.Exit(result_view.show_outcome(outcome.folder, outcome.metrics, json))


def _run_again(folder: Path, results: Path | None, inventory: Path | None, take: list[str] | None, json: bool) -> int:
    from testbed import repeated_run
    from testbed.run import RESULTS

    before = repeated_run.Repeatable.read(folder)
    if before.plan.clock == "real":
        operators.as_root()
    elif unfit := [option for option, value in (("--inventory", inventory), ("--take", take)) if value]:
        raise typer.BadParameter(f"a run in virtual time needs no machine and no interface; leave {' and '.join(unfit)} out")
    with console.progress(json) as progress:
        into = (results or RESULTS).absolute()
        repeated = repeated_run.again(before, into, progress, inventory=inventory, take=take or ())
    return archive_view.show_run_again(repeated, json)


@app.command(rich_help_panel=LAB)
def traffic(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A topology file, or one with nothing but `traffic:`.", show_default=False)
    ],
    duration: Annotated[
        float | None,
        typer.Option(
            "--duration",
            metavar="TIME",
            parser=console.read_duration,
            help="Of the traffic; say '20 s' or '2 min', a bare number is seconds.",
        ),
    ] = None,
    lab: Annotated[
        str | None, typer.Option("--lab", help="Which lab; by default that of the file's name, or the only one that is up.")
    ] = None,
    results: Results = None,
    set_values: SetValues = None,
    json: Json = False,
) -> None:
    """Send the traffic of a file through a lab that is up, measure, report; the lab stays up. Exit status as of `run`."""
    operators.as_root()
    from testbed import lab_traffic
    from testbed.run import RESULTS

    with console.progress(json) as progress:
        outcome = lab_traffic.send(
            file,
            lab=lab,
            duration_s=duration,
            progress=progress,
            results=(results or RESULTS).absolute(),
            settings=read_settings(set_values),
        )
    raise typer.Exit(result_view.show_outcome(outcome.folder, outcome.metrics, json))


@app.command(rich_help_panel=NETWORK)
def report(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.", exists=True, file_okay=False)],
    json: Json = False,
) -> None:
    """Analyse a run folder again and write its report anew. Exit status as of `run`."""
    from applications.registry import analyses
    from results.analyse import analyse

    with console.progress(json) as progress:
        progress("analysing")
        metrics = analyse(folder, analyses())
    raise typer.Exit(result_view.show_outcome(folder, metrics, json))


@app.command(rich_help_panel=NETWORK)
def export(
    folder: Annotated[Path, typer.Argument(metavar="RUN|CAMPAIGN", help="The folder of a run, or of a campaign.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.zip", help="NAME.zip here by default.", show_default=False)
    ] = None,
    license: Annotated[
        str | None,
        typer.Option("--license", metavar="NAME", help="Of what is in it: a name of SPDX, as CC-BY-4.0, a URL, or words."),
    ] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Make one archive of a run or a campaign, which `import` takes and `run --again` repeats: docs/archives.md."""
    user_privileges.drop_privileges()
    from results.archives import writing

    with console.progress(json) as progress:
        exported = writing.export(folder, out, license, progress, overwrite=overwrite)
    archive_view.show_export(exported, json)


@app.command("import", rich_help_panel=NETWORK)
def bring(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An archive that `export` made.", show_default=False)],
    results: Results = None,
    most: Annotated[
        str | None,
        typer.Option("--most", metavar="SIZE", help="The most that its files may have, in place of 20 GiB.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Take an archive of a run or a campaign into the results, if all in it is as it was exported: docs/archives.md."""
    user_privileges.drop_privileges()
    from results.archives import reading
    from testbed.run import RESULTS

    most_bytes = None if most is None else console.read_size(most, "--most")
    with console.progress(json) as progress:
        imported = reading.bring(file, (results or RESULTS).absolute(), progress, most_bytes)
    archive_view.show_import(imported, json)


@app.command(rich_help_panel=HOST)
def bench(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]…", help="Which benchmarks; all by default.", show_default=False)
    ] = None,
    pairs: Annotated[int, typer.Option("--pairs", min=1, help="How many pairs of trials a ratio is made of.")] = 5,
    quick: Annotated[bool, typer.Option("--quick", help="Only to see that it works: short trials, coarse figures.")] = False,
    json: Json = False,
) -> None:
    """Measure this machine: NetBoxIT against stock ns-3, lateness, labs. Exit status 1 when a benchmark failed."""
    if not installation.IS_CHECKOUT:
        raise OnlyInCheckout(f"benchmarks need a checkout that `make setup` has prepared; {installation.CHECKOUT} is a package")
    operators.only_root("a benchmark, which gives labs cores and real-time priority of their own,")
    from bench import session, settings

    chosen = settings.quick(pairs) if quick else settings.Settings(pairs=pairs)
    command = " ".join(["netboxit bench", *(names or ()), f"--pairs {pairs}", *(["--quick"] if quick else [])])
    with console.progress(json) as progress:
        measured = session.run(names or (), chosen, progress, command)
    raise typer.Exit(result_view.show_bench(measured.markdown, measured.data, measured.json_file, json))


@app.command(hidden=True)
def part() -> None:
    """What another machine's netboxit speaks to, over ssh, when a lab is on several machines."""
    from testbed.several_hosts.agent import serve

    serve()


app.add_typer(changing.app)
app.add_typer(watching.app)
app.add_typer(manual.app)


def _called() -> object:
    """Runs the command and returns its exit status, where it has one. Raises UsageError where data was asked for.

    Typer tells people what is wrong with the command line; for programs that is an error as any other.
    """
    # On the PATH, whatever file of a checkout or a package it leads to: shells ask by it for what may come next.
    program = "netboxit"
    if not console.for_programs():
        return app(prog_name=program)
    try:
        return app(prog_name=program, standalone_mode=False)
    except typer.TyperException as error:
        context: typer.Context | None = getattr(error, "ctx", None)
        verb = context.command_path.partition(" ")[2] if context else ""
        remedy = f"`{' '.join([program, *verb.split(), '--help'])}` says what it takes"
        raise console.UsageError(error.format_message().rstrip("."), remedy) from None


if __name__ == "__main__":
    # As it is again afterwards, when all is done and said: an interruption would only make the exit status tell something else.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    sys.exit(console.guarded(_called))
