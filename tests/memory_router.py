# SPDX-License-Identifier: GPL-2.0-or-later
"""A click-router between two memory wires: no root, no network."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from testbed.nodes import routers
from tests.namespaces import wait_for

BRIDGE: Final = "FromDevice(ian) -> Queue(200) -> ToDevice(jan); FromDevice(jan) -> Queue(200) -> ToDevice(ian);"
#: Of each wire, bytes.
CAPACITY: Final = 1 << 16


def command(wires: list[Path], folder: Path, text: str, *options: str) -> list[str]:
    (folder / "router.click").write_text(text)
    memory = [f"--memory=ian={wires[0]}:right", f"--memory=jan={wires[1]}:left"]
    control = ["--control", str(folder / "control.sock"), "--statistics", str(folder / "statistics.json")]
    control += ["--journal", str(folder / "journal.jsonl")]
    return [str(routers.EXECUTABLE), *memory, *control, *options, str(folder / "router.click")]


@contextmanager
def router(wires: list[Path], folder: Path, text: str = BRIDGE, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A router at the right end of wire ian and at the left end of wire jan; killed at the end."""
    process = subprocess.Popen(command(wires, folder, text, *options))
    try:
        wait_for(lambda: (folder / "control.sock").exists() or process.poll() is not None, "the router's control socket")
        assert process.poll() is None
        yield process
    finally:
        process.kill()
        process.wait()
        (folder / "control.sock").unlink(missing_ok=True)
