# SPDX-License-Identifier: GPL-2.0-or-later
"""A program of Debian that a part of NetBoxIT starts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DebianProgram:
    """`netboxit doctor` looks for it, and environment.json of a run has its package's version."""

    name: str
    #: The Debian package that has it.
    package: str
    #: What cannot be done without it, for people.
    lost: str
    #: With which it tells its version and ends.
    version: str = "--version"
