# SPDX-License-Identifier: GPL-2.0-or-later
"""Schedulers and workers of Dask, as docs/campaigns.md starts them by hand, with TLS or on the loopback; and certificates."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

from contracts.installation import CHECKOUT, ENVIRONMENT
from system import processes
from tests.descendants import descendants
from tests.waiting import until

#: The least that Dask takes, so that a test need not wait until a machine that was cut off is noticed: by the kernel's account of
#: what is answered. By Dask's heartbeats a process that waits long for a core of a busy machine would count as dead.
IMPATIENT: Final = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "11s", "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "200s"}
_DEADLINE_S: Final = 120.0


def certificates(folder: Path) -> list[str]:
    """A CA and one certificate; returns what Dask's commands, and `netboxit campaign`, are told of them."""
    ca, key, certificate = folder / "ca.pem", folder / "key.pem", folder / "certificate.pem"
    new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    own: list[str | Path] = [*new, "-subj", "/CN=ca", "-keyout", folder / "ca-key.pem", "-out", ca]
    signed: list[str | Path] = [
        *new,
        "-subj",
        "/CN=cluster",
        "-CA",
        ca,
        "-CAkey",
        folder / "ca-key.pem",
        "-keyout",
        key,
        "-out",
        certificate,
    ]
    for command in (own, signed):
        subprocess.run(command, check=True, capture_output=True)
    return ["--tls-ca-file", str(ca), "--tls-cert", str(certificate), "--tls-key", str(key)]


@contextmanager
def started(
    words: Sequence[str], folder: Path, *, within: Sequence[str] = (), checkout: Path | None = CHECKOUT, settings: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """`dask` with these words, and the NetBoxIT of that checkout; ended with the block. What it says is appended to dask.log."""
    environment = {**os.environ, **settings, **({} if checkout is None else {"PYTHONPATH": str(checkout)})}
    with (folder / "dask.log").open("ab") as log:
        process = subprocess.Popen(
            [*within, ENVIRONMENT / "bin/dask", *words], cwd=folder, env=environment, stdout=log, stderr=log
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def scheduler(
    folder: Path, *words: str, within: Sequence[str] = (), settings: dict[str, str]
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Its address, and its process."""
    file = folder / "scheduler.json"
    command = ["scheduler", "--no-dashboard", "--port", "0", "--scheduler-file", str(file), *words]
    with started(command, folder, within=within, settings=settings) as process:
        until(lambda: file.exists() and file.read_text().endswith("}"), "a scheduler", _DEADLINE_S)
        yield json.loads(file.read_text())["address"], process


def worker(
    folder: Path,
    scheduler: str,
    name: str,
    *words: str,
    within: Sequence[str] = (),
    checkout: Path | None = CHECKOUT,
    settings: dict[str, str] = IMPATIENT,
) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """One process that makes one run at a time, and which nobody starts again."""
    command = ["worker", scheduler, "--name", name, "--nthreads", "1", "--no-nanny", "--no-dashboard", *words]
    command += ["--local-directory", str(folder)]
    return started(command, folder, within=within, checkout=checkout, settings=settings)


def computing(process: int) -> list[int]:
    """Processes below that one which compute a network."""
    return [one for one in descendants(process) if b"virtual-network" in processes.command_line(one)]
