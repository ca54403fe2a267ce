# SPDX-License-Identifier: GPL-2.0-or-later
"""For pip: the package netboxit depends on what `make setup` installs in a checkout, of the same versions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


def dynamic_metadata(settings: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, list[str]]:
    """The field `dependencies` of a package that is built on the machine where it will run (scikit-build-core calls this)."""
    files = ["python.txt", "compiled.txt", "ns3.txt"]
    if "avx2" not in Path("/proc/cpuinfo").read_text().split():
        files.append("old-processor.txt")
    lines = [line for file in files for line in (_FOLDER / file).read_text().splitlines()]
    return {"dependencies": [line for line in lines if line and not line.startswith("#")]}
