# SPDX-License-Identifier: GPL-2.0-or-later
"""The machines that labs may be on, from an Ansible inventory, so that playbooks and NetBoxIT have one list of them.

Ansible reads it. It is never named by a topology: a topology may come from a colleague, and an inventory says how ssh is called.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, IPvAnyAddress, ValidationError

from contracts.errors import WrongInput
from contracts.installation import BUILD, CHECKOUT
from ownership.operators import NoPrivilege, operator
from testbed.description.input_errors import told
from testbed.description.machines import KnownMachines
from testbed.several_hosts.machine import Machine

#: What this machine is called where the inventory has no name for it.
HERE: Final = "here"
#: What an inventory is named by when no option does.
VARIABLE: Final = "NETBOXIT_INVENTORY"

_READER: Final = Path(sys.executable).with_name("ansible-inventory")
_READER_TIMEOUT_S: Final = 60.0


class BadInventory(WrongInput):
    """The inventory cannot be read, or says something that cannot be; nothing was created."""


@dataclass(frozen=True)
class Listed:
    """A machine of the inventory: how it is reached, and what carries the wires to it."""

    machine: Machine
    #: None: the address by which it is reached.
    address: str | None
    vxlan_port: int
    #: Wires to it are in WireGuard.
    sealed: bool = False


@dataclass(frozen=True)
class Inventory:
    """Machines by name; `here` is this one, which is always among them."""

    here: str
    machines: Mapping[str, Listed]
    #: Those that cannot have a part of a lab, and why.
    refused: Mapping[str, str]
    file: Path | None = None

    def known(self) -> KnownMachines:
        """What a topology may name."""
        where = f"the inventory {self.file}" if self.file else ""
        return KnownMachines(self.here, tuple(self.machines), self.refused, where)


def find(file: Path | None) -> Path | None:
    """Where the inventory is: `file` when it is given, else $NETBOXIT_INVENTORY, else the user's own, if there is one.

    Root's own is none of an operator's.
    """
    if file is not None or operator() is not None:
        return file
    if named := os.environ.get(VARIABLE):
        return Path(named)
    own = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "netboxit" / "inventory.yml"
    return own if own.is_file() else None


def read(file: Path | None) -> Inventory:
    """The machines of a file; None: only this one. Raises BadInventory, NoPrivilege for operators."""
    if file is None:
        return of_variables({}, None)
    if operator() is not None:
        raise NoPrivilege(f"inventory {file}: labs over several machines are root's, since an inventory says what ssh runs")
    return of_variables(_variables(file), file)


def _variables(file: Path) -> dict[str, dict[str, object]]:
    """Each machine's variables as Ansible has them."""
    if not file.is_file() or "," in str(file):
        raise BadInventory(f"inventory {file}: there is no such file, or its name has a comma, which Ansible takes for a list")
    # Ansible reads the settings of the folder that it is started in, which may be a colleague's.
    file = file.resolve()
    environment = {**os.environ, "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "1", "ANSIBLE_NOCOLOR": "1"}
    try:
        done = subprocess.run(
            [str(_READER), "--list", "-i", str(file)],
            capture_output=True,
            text=True,
            cwd=file.parent,
            env=environment,
            check=False,
            timeout=_READER_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadInventory(f"inventory {file}: {_READER} does not run: {error}; remedy: {BUILD}") from error
    if done.returncode:
        raise BadInventory(f"inventory {file}: Ansible cannot read it: {_in_short(done.stderr)}; `ansible-inventory` says more")
    groups = json.loads(done.stdout)
    variables = groups.pop("_meta", {}).get("hostvars", {})
    names = dict.fromkeys([*variables, *(name for group in groups.values() for name in group.get("hosts", ()))])
    return {name: variables.get(name, {}) for name in names}


def _in_short(text: str) -> str:
    """The first complaint of each kind of file that Ansible took it for says the same; the first one is enough."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if re.search(r"fail|error", line, re.IGNORECASE)), " ".join(lines[:1])) or "no reason"


def _text(value: object) -> object:
    if isinstance(value, str) and ("{{" in value or "{%" in value):
        raise ValueError("a template, which only a playbook resolves; write what it stands for")
    # What looks like a number is one to YAML.
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


_Text = Annotated[str, BeforeValidator(_text)]
_Port = Annotated[int, Field(ge=1, le=65535)]


class _Variables(BaseModel):
    """Those that NetBoxIT uses; Ansible's own are as its documentation says."""

    model_config = ConfigDict(extra="ignore")

    ansible_host: _Text = ""
    ansible_port: _Port | None = None
    ansible_user: _Text = ""
    ansible_ssh_private_key_file: _Text = ""
    ansible_ssh_common_args: _Text = ""
    ansible_ssh_extra_args: _Text = ""
    ansible_connection: Literal["ssh", "smart", "local"] = "ssh"
    netboxit_folder: _Text = ""
    netboxit_state: _Text = ""
    netboxit_address: IPvAnyAddress | None = None
    netboxit_vxlan_port: _Port = 4789
    netboxit_tunnels: Literal["wireguard"] | None = None


def of_variables(variables: Mapping[str, Mapping[str, object]], file: Path | None) -> Inventory:
    """From each machine's variables. Raises BadInventory."""
    machines = {
        name: _listed(name, own, file)
        for name, own in variables.items()
        if own.get("ansible_connection") == "local" or "netboxit_folder" in own
    }
    remedy = f"add netboxit_folder, where its checkout of NetBoxIT is, to the inventory {file}"
    here = [name for name, listed in machines.items() if listed.machine.here]
    if len(here) > 1:
        raise BadInventory(
            f"inventory {file}: {' and '.join(here)} are both this machine (ansible_connection: local); leave one of them"
        )
    if not here and HERE in variables:
        raise BadInventory(
            f'inventory {file}: "{HERE}" is what this machine is called when no other name is its own; '
            "call the other machine something else, or give this one a name by ansible_connection: local"
        )
    if not here:
        here, machines = [HERE], {HERE: Listed(Machine(HERE, str(CHECKOUT), here=True), None, 4789), **machines}
    return Inventory(here[0], machines, {name: remedy for name in variables if name not in machines}, file)


def _listed(name: str, own: Mapping[str, object], file: Path | None) -> Listed:
    try:
        variables = _Variables.model_validate(own)
    except ValidationError as error:
        raise BadInventory(
            "\n".join(
                f"inventory {file}: {name}: {detail['loc'][0]}: {told(detail)}" for detail in error.errors(include_url=False)
            )
        ) from None
    here = variables.ansible_connection == "local"
    address = variables.netboxit_address
    key = variables.ansible_ssh_private_key_file
    arguments = f"{variables.ansible_ssh_common_args} {variables.ansible_ssh_extra_args}"
    try:
        words = tuple(shlex.split(arguments))
    except ValueError as error:
        raise BadInventory(f"inventory {file}: {name}: ansible_ssh_common_args: {arguments!r}: {error}") from None
    return Listed(
        Machine(
            name,
            str(CHECKOUT) if here else variables.netboxit_folder.rstrip("/"),
            here=here,
            address=variables.ansible_host,
            port=variables.ansible_port or 0,
            user=variables.ansible_user,
            key=str((file or CHECKOUT).parent / Path(key).expanduser()) if key else "",
            arguments=words,
            state=variables.netboxit_state,
        ),
        str(address) if address else None,
        variables.netboxit_vxlan_port,
        variables.netboxit_tunnels is not None,
    )
