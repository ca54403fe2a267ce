# SPDX-License-Identifier: GPL-2.0-or-later
"""The metadata of an archive as RO-Crate 1.1 (https://w3id.org/ro/crate/1.1), with its runs as Process Run Crate 0.5
(https://w3id.org/ro/wfrun/process/0.5): repositories of research data read them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from contracts.campaign import CAMPAIGN_FILE
from contracts.run_folder import NAMED_FILES_FOLDER, TOPOLOGY_FILE
from results.archives.layout import ARCHIVE_FILE, CRATE_FILE, Archive

_SPECIFICATION: Final = "https://w3id.org/ro/crate/1.1"
_PROFILE: Final = "https://w3id.org/ro/wfrun/process/0.5"
_SOFTWARE: Final = "#netboxit"
_UNKNOWN_LICENSE: Final = "No licence is stated. Ask whoever published this before you use it for anything but reading."
#: A short identifier of https://spdx.org/licenses is one word.
_SPDX: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
_FORMATS: Final = {
    "csv": "text/csv",
    "html": "text/html",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
    "yaml": "application/yaml",
}

_Entity = dict[str, Any]


@dataclass(frozen=True)
class RunTold:
    """A run for the metadata: its folder's path in the archive, and what its files say of it; None where they do not."""

    path: str
    lab: str
    clock: str
    status: str | None
    #: ISO 8601.
    started: str
    ended: str
    failure: str | None


def crate(archive: Archive, runs: Sequence[RunTold], files: Mapping[str, int], license: str | None) -> dict[str, Any]:
    """`runs` are of the archive, one at least; `files` the sizes of its files; `license` a name of SPDX, a URL or words.

    Of a run all files at its top are described, of a campaign its own files and the folders of its runs, of both the files that
    topologies name.
    """
    top = f"{archive['name']}/"
    inside = [name for name in files if name.startswith(top) and "/" not in name.removeprefix(top)]
    named = [name for name in files if name.startswith(f"{top}{NAMED_FILES_FOLDER}/")]
    folders = sorted({f"{run.path}/" for run in runs} - {top})
    licensed, told = _license(license)
    asked = [name for name in inside if name.removeprefix(top) in (TOPOLOGY_FILE, "traffic.yaml")] + named
    # A campaign's topologies with the values of each run are in the folders of its runs, which are described as a whole.
    of_campaign = [name for name in inside if name == f"{top}{CAMPAIGN_FILE}"] + named
    graph: list[_Entity] = [
        {
            "@id": CRATE_FILE,
            "@type": "CreativeWork",
            "conformsTo": {"@id": _SPECIFICATION},
            "about": {"@id": "./"},
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "conformsTo": {"@id": _PROFILE},
            "name": f"NetBoxIT {archive['kind']} {archive['name']}",
            "description": _description(archive, runs),
            "datePublished": max(run.ended for run in runs)[:10],
            "license": told,
            "hasPart": _references([ARCHIVE_FILE, top]),
            "mentions": _references(_action_id(run) for run in runs),
        },
        {"@id": _PROFILE, "@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"},
        {
            "@id": _SOFTWARE,
            "@type": "SoftwareApplication",
            "name": "NetBoxIT",
            "description": "A testbed that emulates heterogeneous networks, each segment by ns-3",
            "softwareVersion": ", ".join(archive["made_by"]) or "unknown",
        },
        *licensed,
        _file(ARCHIVE_FILE, files[ARCHIVE_FILE]),
        {"@id": quote(top), "@type": "Dataset", "name": archive["name"], "hasPart": _references([*inside, *named, *folders])},
        *(_file(name, files[name]) for name in (*inside, *named)),
        *({"@id": quote(folder), "@type": "Dataset", "name": folder.split("/")[-2]} for folder in folders),
        *(_action(run, asked if run.path == archive["name"] else of_campaign) for run in runs),
    ]
    return {
        "@context": [f"{_SPECIFICATION}/context", "https://w3id.org/ro/terms/workflow-run/context"],
        "@graph": graph,
    }


def _description(archive: Archive, runs: Sequence[RunTold]) -> str:
    clocks = " and ".join(sorted({run.clock for run in runs}))
    labs = ", ".join(sorted({run.lab for run in runs}))
    what = f"A run of the network {labs}" if archive["kind"] == "run" else f"A campaign of {len(runs)} runs of the network {labs}"
    return (
        f"{what} in {clocks} time, emulated by NetBoxIT: topology, plan, versions of programs, records of frames, figures. "
        "`netboxit import` takes this archive, `netboxit run --again` and `netboxit campaign --again` repeat it."
    )


def _license(said: str | None) -> tuple[list[_Entity], _Entity | str]:
    if said is None:
        return [], _UNKNOWN_LICENSE
    place = f"https://spdx.org/licenses/{said}" if _SPDX.fullmatch(said) else said
    if not re.fullmatch(r"https?://\S+", place):
        return [], said
    return [{"@id": place, "@type": "CreativeWork", "name": said, "description": f"The licence of this archive: {place}"}], {
        "@id": place
    }


def _action(run: RunTold, asked: Sequence[str]) -> _Entity:
    """`asked` are files that say what was to be run."""
    verdict = f", {run.status}" if run.status else ""
    failed = {"actionStatus": {"@id": "http://schema.org/FailedActionStatus"}, "error": run.failure} if run.failure else {}
    consumed = {"object": _references(asked)} if asked else {}
    return {
        "@id": _action_id(run),
        "@type": "CreateAction",
        "name": f"Run of {run.lab} in {run.clock} time{verdict}",
        "startTime": run.started,
        "endTime": run.ended,
        "instrument": {"@id": _SOFTWARE},
        **consumed,
        "result": {"@id": quote(f"{run.path}/")},
        **failed,
    }


def _action_id(run: RunTold) -> str:
    return f"#run-{quote(run.path.rpartition('/')[2])}"


def _file(name: str, size: int) -> _Entity:
    kind = _FORMATS.get(name.rpartition(".")[2])
    return {
        "@id": quote(name),
        "@type": "File",
        "name": name.rpartition("/")[2],
        "contentSize": str(size),
        **({"encodingFormat": kind} if kind else {}),
    }


def _references(names: Iterator[str] | Sequence[str]) -> list[_Entity]:
    return [{"@id": name if name.startswith("#") else quote(name)} for name in names]
