# SPDX-License-Identifier: GPL-2.0-or-later
"""What a machine needs besides NetBoxIT itself: Debian packages, which Ansible installs (ansible/host.yml)."""

from __future__ import annotations

import os
import subprocess
from tempfile import TemporaryDirectory

from contracts.errors import NetBoxITError
from contracts.installation import BUILD, CHECKOUT, PYTHON


class NoAnsible(NetBoxITError):
    """Its program does not start."""


def prepare() -> bool:
    """Has Ansible install them, which prints what it does. Returns whether it succeeded. Raises NoAnsible."""
    program = PYTHON.with_name("ansible-playbook")
    with TemporaryDirectory(prefix="netboxit-setup-") as own:  # not in the home, which a user may not have
        environment = {
            "ANSIBLE_HOME": own,
            "ANSIBLE_REMOTE_TEMP": own,
            "ANSIBLE_LOCALHOST_WARNING": "false",
            "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
            "ANSIBLE_NOCOWS": "1",
        }
        try:
            # In a folder of ours: Ansible reads the settings of the one that it is started in.
            done = subprocess.run(
                [program, "-i", "localhost,", CHECKOUT / "ansible/host.yml"],
                cwd=CHECKOUT / "ansible",
                env={**os.environ, **environment},
                check=False,
            )
        except OSError as error:
            raise NoAnsible(f"{program} does not start: {error.strerror}; remedy: {BUILD}") from error
    return done.returncode == 0
