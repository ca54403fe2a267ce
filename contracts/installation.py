# SPDX-License-Identifier: GPL-2.0-or-later
"""Where this NetBoxIT is: in a checkout that `make setup` prepared, or among the packages of a virtual environment (pip, pipx).

It imports nothing but Python's own modules: by it NetBoxIT finds its interpreter, and pip's `netboxit` all the rest.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final, NoReturn

#: Its files, in the folders that they have in the repository: the checkout, or the package `netboxit` of an environment.
CHECKOUT: Final = Path(__file__).resolve().parent.parent

IS_CHECKOUT: Final = (CHECKOUT / "pyproject.toml").exists()

#: The virtual environment with the Python packages that it needs. A package is in lib/pythonX.Y/site-packages of its own one.
ENVIRONMENT: Final = CHECKOUT / ".venv" if IS_CHECKOUT else (CHECKOUT / "../../../..").resolve()

PYTHON: Final = ENVIRONMENT / "bin/python"

#: All of it. Containers and sandboxes see this folder, read-only and at the same path, and of the machine's other files only
#: programs.
INSTALLATION: Final = CHECKOUT if IS_CHECKOUT else ENVIRONMENT

#: What installs the Debian packages that it needs.
SETUP: Final = "make setup" if IS_CHECKOUT else "sudo netboxit setup"

#: What brings programs and Python packages that are missing.
BUILD: Final = "make setup" if IS_CHECKOUT else f"install the package netboxit in {ENVIRONMENT} again"

#: What brings the program of a technology of another package (docs/technologies.md).
BUILD_OF_OTHERS: Final = (
    "`cmake -B build -DNETBOXIT_TECHNOLOGIES=FOLDER`, then make setup"
    if IS_CHECKOUT
    else f"install the package netboxit in {ENVIRONMENT} again, with -C cmake.define.NETBOXIT_TECHNOLOGIES=FOLDER"
)


def why_incomplete() -> str | None:
    """A sentence for whoever calls a NetBoxIT without its Python packages; None when they are there."""
    if IS_CHECKOUT:
        return None if PYTHON.exists() else f"{ENVIRONMENT} is missing, run `make setup` in {CHECKOUT} first"
    if (ENVIRONMENT / "pyvenv.cfg").exists():
        return None
    return f"{CHECKOUT} is in no virtual environment; install it by pipx, or by pip in one (`python3 -m venv`)"


def version() -> str:
    # Modules that no other command needs.
    if IS_CHECKOUT:
        import tomllib

        return str(tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["version"])
    from importlib import metadata

    return metadata.version("netboxit")


def start() -> NoReturn:
    """Runs the command line by its own interpreter: what `netboxit` on the PATH begins with, where pip put it there."""
    if why := why_incomplete():
        sys.exit(f"netboxit: {why}")
    os.execv(PYTHON, [str(PYTHON), str(CHECKOUT / "netboxit.py"), *sys.argv[1:]])
