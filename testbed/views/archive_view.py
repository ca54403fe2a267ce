# SPDX-License-Identifier: GPL-2.0-or-later
"""How archives, and runs that are made again, look on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from contracts.quantities import SIZE
from contracts.run_folder import NAMED_FILES_FOLDER
from testbed.documents import kinds
from testbed.views import drawing

if TYPE_CHECKING:
    from results.archives.layout import Archive
    from results.archives.reading import Imported
    from results.archives.writing import Exported
    from testbed.documents.archive import CampaignAgain, RunAgain

#: Of runs that differ, so many are shown.
_SHOWN = 10
#: As of `run` (docs/architecture.md).
_VERDICTS = {"valid": 0, "degraded": 3, "invalid": 4}


def show_export(exported: Exported, as_json: bool) -> None:
    archive, size = exported.archive, exported.file.stat().st_size
    document = kinds.EXPORT.of(
        {
            "file": str(exported.file),
            "kind": archive["kind"],
            "name": archive["name"],
            "runs": archive["runs"],
            "files": exported.files,
            "content_bytes": exported.content_bytes,
            "archive_bytes": size,
            "notes": list(exported.notes),
        }
    )
    contents = f"{drawing.counted(exported.files, 'file')} of {_size(exported.content_bytes)} in {_size(size)}"
    drawing.show(as_json, document, f"{_what(archive)}: {contents}", *drawing.notes(exported.notes), f"archive: {exported.file}")


def show_import(imported: Imported, as_json: bool) -> None:
    archive = imported.archive
    document = kinds.IMPORT.of(
        {
            "folder": str(imported.folder),
            "kind": archive["kind"],
            "name": archive["name"],
            "runs": archive["runs"],
            "files": imported.files,
            "content_bytes": imported.content_bytes,
            "made_by": archive["made_by"],
            "notes": [],
        }
    )
    verb = "campaign" if archive["kind"] == "campaign" else "run"
    goes_on = archive["kind"] == "campaign" and (imported.folder / NAMED_FILES_FOLDER).is_dir()
    made_by = ", ".join(archive["made_by"]) or "of an unknown commit"
    content = f"{drawing.counted(imported.files, 'file')} of {_size(imported.content_bytes)}"
    drawing.show(
        as_json,
        document,
        f"{_what(archive)}: all {content} are as they were exported",
        f"made by NetBoxIT {made_by}; `netboxit {verb} --again FOLDER` repeats it",
        *(["`netboxit campaign FOLDER/campaign.yaml` goes on with it"] if goes_on else []),
        f"folder: {imported.folder}",
    )


def show_run_again(made: RunAgain, as_json: bool) -> int:
    """Prints what came of a run that was made again; returns the exit status that belongs to it."""
    drawing.show(
        as_json,
        kinds.RUN_AGAIN.of(made),
        *_of_run(made),
        *drawing.notes(made["notes"]),
        f"report: {made['folder']}/report.html",
    )
    return _VERDICTS[made["status"]] if made["same"] is None else 0 if made["same"] else 1


def show_campaign_again(made: CampaignAgain, as_json: bool) -> int:
    """The same of a campaign."""
    lines = [
        f"{run['run']}: {difference}; kept in {run['folder']}"
        for run in made["different"][:_SHOWN]
        for difference in run["differences"][:1]
    ]
    drawing.show(
        as_json,
        kinds.CAMPAIGN_AGAIN.of(made),
        f"of {drawing.counted(made['runs'], 'run')} made again {made['identical']} are the same to the bit, "
        f"{made['equal']} have the same values, {len(made['different'])} differ",
        *(f"  - {line}" for line in lines),
        *drawing.notes(made["notes"]),
    )
    return 1 if made["different"] else 0


def _of_run(made: RunAgain) -> Iterator[str]:
    before = f"; before it was {made['before']}" if made["before"] not in (None, made["status"]) else ""
    yield f"the run was made again, in {made['clock']} time, and is {made['status']}{before}"
    if made["identical"]:
        yield f"the same to the bit: {', '.join(made['identical'])}"
    if made["equal"]:
        yield f"the same values, in a file that was written in another way: {', '.join(made['equal'])}"
    yield from (f"  - differs: {difference}" for difference in made["differences"])


def _what(archive: Archive) -> str:
    return f"{archive['kind']} {archive['name']}" + (f" with {archive['runs']} runs" if archive["kind"] == "campaign" else "")


def _size(size: int) -> str:
    return SIZE.write(float(f"{size:.3g}"))
