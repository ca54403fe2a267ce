# SPDX-License-Identifier: GPL-2.0-or-later
"""The machines of an inventory, as Ansible reads them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from contracts.installation import CHECKOUT
from testbed.several_hosts import inventory
from testbed.several_hosts.inventory import BadInventory, Inventory

WHOLE = """\
all:
  vars:
    ansible_ssh_common_args: -o "ProxyJump=gate way"
  hosts:
    alpha: {ansible_connection: local, netboxit_address: 192.0.2.1}
    printer: {ansible_host: 192.0.2.99}
    beta:
      ansible_host: 192.0.2.2
      ansible_port: 2222
      ansible_user: root
      ansible_ssh_private_key_file: keys/beta
      ansible_ssh_extra_args: -4
      netboxit_folder: /srv/netboxit/
      netboxit_state: /srv/state
      netboxit_address: "2001:db8::2"
      netboxit_vxlan_port: 8472
"""


def read(folder: Path, text: str, name: str = "hosts.yml") -> Inventory:
    (folder / name).write_text(text)
    return inventory.read(folder / name)


def test_a_machine_is_reached_as_ansible_reaches_it(tmp_path: Path) -> None:
    read_inventory = read(tmp_path, WHOLE)
    beta = read_inventory.machines["beta"]
    machine = beta.machine
    assert (machine.address, machine.port, machine.user, machine.here) == ("192.0.2.2", 2222, "root", False)
    assert machine.arguments == ("-o", "ProxyJump=gate way", "-4")
    assert (machine.key, machine.folder, machine.state) == (f"{tmp_path}/keys/beta", "/srv/netboxit", "/srv/state")
    assert (beta.address, beta.vxlan_port) == ("2001:db8::2", 8472)


def test_this_machine_has_the_name_of_its_local_connection(tmp_path: Path) -> None:
    read_inventory = read(tmp_path, WHOLE)
    assert read_inventory.here == "alpha"
    assert read_inventory.machines["alpha"].machine.here and read_inventory.machines["alpha"].machine.folder == str(CHECKOUT)
    assert read_inventory.machines["alpha"].address == "192.0.2.1"


def test_without_a_local_connection_or_an_inventory_this_machine_is_called_here(tmp_path: Path) -> None:
    assert read(tmp_path, "[labs]\nbeta netboxit_folder=/srv/netboxit\n", "hosts.ini").here == "here"
    assert list(inventory.read(None).machines) == ["here"]


def test_a_machine_that_can_have_no_part_is_told(tmp_path: Path) -> None:
    read_inventory = read(tmp_path, WHOLE)
    cause, remedy = read_inventory.known().why_not("bete")
    assert cause.endswith('hosts.yml has no machine "bete"') and remedy == 'did you mean "beta"?'
    cause, remedy = read_inventory.known().why_not("printer")
    assert cause == 'machine "printer" can have no part of a lab' and remedy.startswith("add netboxit_folder")


LOCAL = {"ansible_connection": "local"}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"a": LOCAL, "b": LOCAL}, "a and b are both this machine"),
        ({"here": {}}, '"here" is what this machine is called'),
        ({"b": {"netboxit_tunnels": "openvpn"}}, "b: netboxit_tunnels: .*wireguard"),
        ({"b": {"netboxit_vxlan_port": 70000}}, "b: netboxit_vxlan_port: 70000 is outside 1 … 65535|is more than 65535; use"),
        ({"b": {"netboxit_address": "beta"}}, "b: netboxit_address: 'beta'"),
        ({"b": {"netboxit_folder": "{{ there }}"}}, "b: netboxit_folder: a template, .*; write what it stands for"),
        ({"b": {"netboxit_folder": None}}, "b: netboxit_folder: nothing stands where text is needed"),
        ({"b": {"ansible_connection": "docker"}}, "b: ansible_connection: 'docker' is not known here; use ssh, smart or local"),
        ({"b": {"ansible_ssh_extra_args": '"'}}, "b: ansible_ssh_common_args.*No closing quotation"),
    ],
)
def test_what_is_wrong_with_an_inventory_is_told_with_its_place(said: dict[str, dict[str, Any]], told: str) -> None:
    with pytest.raises(BadInventory) as error:
        inventory.of_variables({name: {"netboxit_folder": "/srv"} | one for name, one in said.items()}, Path("hosts.yml"))
    assert str(error.value).startswith("inventory hosts.yml: ")
    assert re.search(told, str(error.value)), str(error.value)


def test_what_ansible_cannot_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInventory, match=r"hosts\.yml: Ansible cannot read it: .*ailed to parse"):
        read(tmp_path, "all: [")


def test_an_inventory_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInventory, match="there is no such file"):
        inventory.read(tmp_path / "hosts.yml")


def test_ansible_does_not_read_the_settings_of_the_folder_that_it_is_called_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may be those of a colleague's topology, and name programs."""
    colleague, own = tmp_path / "colleague", tmp_path / "own"
    for folder in (colleague, own):
        folder.mkdir()
    (colleague / "ansible.cfg").write_text("[inventory]\nenable_plugins = nothing.of.the.kind\n")
    monkeypatch.chdir(colleague)
    assert "beta" in read(own, WHOLE).machines


def test_an_inventory_is_found_by_its_option_the_environment_or_in_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(inventory.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert inventory.find(None) is None
    (own := tmp_path / "netboxit" / "inventory.yml").parent.mkdir()
    own.write_text(WHOLE)
    assert inventory.find(None) == own
    monkeypatch.setenv(inventory.VARIABLE, "/elsewhere.yml")
    assert inventory.find(None) == Path("/elsewhere.yml")
    assert inventory.find(Path("given.yml")) == Path("given.yml")
