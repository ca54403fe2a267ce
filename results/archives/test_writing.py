# SPDX-License-Identifier: GPL-2.0-or-later
"""Archives as others read them: unzip, sha256sum, and whoever knows RO-Crate."""

from __future__ import annotations

import json
import os
import resource
import signal
import stat
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from contracts import durable
from results.archives.writing import NotExported, export
from system.user_privileges import FileThere


def exported(run: Path, license: str | None = None, name: str = "x.zip") -> Path:
    return export(run, run.parents[2] / name, license, lambda _: None).file


def test_the_same_folder_gives_the_same_bytes_whenever_its_files_were_written(run: Path) -> None:
    first = exported(run)
    os.utime(run / "topology.yaml", (0, 0))
    assert exported(run, name="y.zip").read_bytes() == first.read_bytes()


def test_sha256sum_finds_all_files_in_order(run: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(exported(run)) as packed:
        packed.extractall(place := tmp_path / "there")
        named = {info.filename for info in packed.infolist()} - {"manifest-sha256.txt"}
    command = ["sha256sum", "--check", "--strict", "manifest-sha256.txt"]
    said = subprocess.run(command, cwd=place, capture_output=True, text=True, check=True).stdout
    assert {line.removesuffix(": OK") for line in said.splitlines()} == named
    assert f"{run.name}/nodes/a/frames.bin" in named


@pytest.mark.parametrize("license", [None, "CC-BY-4.0", "https://example.org/terms", "only for reading"])
def test_the_metadata_have_what_ro_crate_1_1_asks_for(run: Path, license: str | None) -> None:
    with zipfile.ZipFile(exported(run, license)) as packed:
        document, names = json.loads(packed.read("ro-crate-metadata.json")), packed.namelist()
    graph = {entity["@id"]: entity for entity in document["@graph"]}
    assert len(graph) == len(document["@graph"])
    # "Finding the Root Data Entity" of the specification.
    (descriptor,) = (
        entity for entity in graph.values() if _id(entity.get("conformsTo")).startswith("https://w3id.org/ro/crate/")
    )
    assert (descriptor["@id"], descriptor["@type"]) == ("ro-crate-metadata.json", "CreativeWork")
    root = graph[descriptor["about"]["@id"]]
    # "Direct properties of the Root Data Entity".
    assert (root["@id"], root["@type"], root["datePublished"]) == ("./", "Dataset", "2026-01-01")
    assert root["name"] and root["description"]
    assert root["license"]["@id"] in graph if isinstance(root["license"], dict) else root["license"]
    # What is referred to is described, or is a term of schema.org.
    assert {one for one in _references(document["@graph"]) if not one.startswith("http://schema.org/")} <= {
        *graph,
        "https://w3id.org/ro/crate/1.1",
    }
    # Data entities are linked from the root, and are in the archive.
    parts, waiting = set[str](), ["./"]
    while waiting:
        own = {part["@id"] for part in graph[waiting.pop()].get("hasPart", ())}
        waiting += own - parts
        parts |= own
    data = {name for name, entity in graph.items() if entity["@type"] in ("File", "Dataset") and name != "./"}
    assert parts == data
    assert all(any(name == unquote(one) or name.startswith(unquote(one)) for name in names) for one in data)


def test_the_run_is_an_action_of_the_software_that_made_it(run: Path) -> None:
    """MUST and SHOULD of Process Run Crate 0.5, but `agent` and `url`, which a run does not know."""
    with zipfile.ZipFile(exported(run)) as packed:
        graph = {entity["@id"]: entity for entity in json.loads(packed.read("ro-crate-metadata.json"))["@graph"]}
    root = graph["./"]
    assert graph[root["conformsTo"]["@id"]]["@id"] == "https://w3id.org/ro/wfrun/process/0.5"
    action = graph[root["mentions"][0]["@id"]]
    assert action["@type"] == "CreateAction"
    assert (action["startTime"], action["endTime"]) == ("2026-01-01T00:00:00+00:00", "2026-01-01T00:01:00+00:00")
    assert graph[action["instrument"]["@id"]] | {"softwareVersion": "0123456789ab"} == graph[action["instrument"]["@id"]]
    assert action["result"]["@id"] == f"{run.name}/"
    assert action["object"] == [{"@id": f"{run.name}/topology.yaml"}]


def test_a_run_that_is_not_over_is_refused(run: Path) -> None:
    (run / "run.json").unlink()
    with pytest.raises(NotExported, match="goes on, or was cut short"):
        exported(run)


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "socket"])
def test_what_is_no_file_of_the_folder_is_refused(run: Path, kind: str) -> None:
    place = run / "nodes/here"
    if kind in ("pipe", "socket"):
        os.mknod(place, 0o600 | (stat.S_IFIFO if kind == "pipe" else stat.S_IFSOCK))
    else:
        place.symlink_to("/etc/passwd" if kind == "link" else "/etc")
    with pytest.raises(NotExported, match="nodes/here is"):
        exported(run)
    assert not [*run.parents[2].glob("*.zip*")]


@pytest.mark.parametrize("name", ["a\nb", "a\\b", "100%", "Topology.yaml"])
def test_a_name_that_import_would_refuse_is_refused(run: Path, name: str) -> None:
    (run / name).touch()
    with pytest.raises(NotExported, match="rename it"):
        exported(run)


def test_an_archive_is_not_written_over_unless_somebody_asks_for_it(run: Path) -> None:
    first = exported(run)
    with pytest.raises(FileThere):
        exported(run)
    export(run, first, None, lambda _: None, overwrite=True)


def test_an_archive_in_the_folder_that_it_is_of_is_refused(run: Path) -> None:
    with pytest.raises(NotExported, match="say another place"):
        export(run, run / "x.zip", None, lambda _: None)


def test_where_the_disk_is_full_it_is_told_and_nothing_is_left(run: Path, tmp_path: Path) -> None:
    (run / "large").write_bytes(os.urandom(2 << 20))
    small = tmp_path / "small"
    with pytest.raises(durable.NotWritten, match="File too large"), _most_bytes_of_a_file(1 << 20):
        export(run, small, None, lambda _: None)
    assert not [*tmp_path.glob("*small*")]


@contextmanager
def _most_bytes_of_a_file(size: int) -> Iterator[None]:
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def _id(reference: Any) -> str:
    return str(reference.get("@id", "")) if isinstance(reference, dict) else ""


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if value.keys() == {"@id"}:
            yield value["@id"]
        for part in value.values():
            yield from _references(part)
    elif isinstance(value, list):
        for part in value:
            yield from _references(part)
