# SPDX-License-Identifier: GPL-2.0-or-later
"""What the role `sealed` tells WireGuard; tests/guest has the role made whole, on a machine whose kernel has WireGuard."""

from __future__ import annotations

import configparser
import json
import subprocess
import sys
from ipaddress import ip_interface
from pathlib import Path
from typing import Any

import yaml

from contracts.installation import CHECKOUT
from contracts.names import sealed_address

_ROLE = CHECKOUT / "ansible/roles/sealed"


def machine(address: str, **more: Any) -> dict[str, Any]:
    """What the tasks before know of one."""
    carrier = {"netboxit_carrier": {"mtu": 1700, "addr_info": [{"local": address}]}}
    return {"ansible_connection": "local", "ansible_python_interpreter": sys.executable, **carrier, **more}


def test_each_machine_knows_the_public_half_of_the_others_keys_and_where_they_are(tmp_path: Path) -> None:
    defaults = yaml.safe_load((_ROLE / "defaults/main.yml").read_text())
    said = defaults | {"netboxit_sealed_at": defaults["netboxit_sealed_address"]}
    hosts = {
        "alpha": machine("192.0.2.1", netboxit_public_key={"stdout": "A="}),
        "beta": machine("2001:db8::2", netboxit_public_key={"stdout": "B="}),
        "gamma": machine("192.0.2.3"),  # without netboxit_tunnels
    }
    tasks = [
        {
            "ansible.builtin.template": {
                "src": str(_ROLE / "templates/netboxit.conf.j2"),
                "dest": f"{tmp_path}/{{{{ inventory_hostname }}}}",
            }
        }
    ]
    (tmp_path / "play.yml").write_text(json.dumps([{"hosts": "all", "gather_facts": False, "tasks": tasks}]))
    (tmp_path / "hosts.yml").write_text(json.dumps({"all": {"vars": said, "hosts": hosts}}))
    program = str(Path(sys.executable).with_name("ansible-playbook"))
    argv = [program, "-i", str(tmp_path / "hosts.yml"), "--limit", "all", str(tmp_path / "play.yml")]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    for name, other, mtu, key, endpoint in (
        ("alpha", "beta", "1640", "B=", "[2001:db8::2]:51820"),
        ("beta", "alpha", "1620", "A=", "192.0.2.1:51820"),
    ):
        told = configparser.ConfigParser(strict=False, interpolation=None)
        told.read(tmp_path / name)
        assert told.sections() == ["Interface", "Peer"], "gamma has no key"
        assert str(ip_interface(told["Interface"]["Address"])) == f"{sealed_address(name)}/64"
        assert told["Interface"]["MTU"] == mtu
        assert str(ip_interface(told["Peer"]["AllowedIPs"])) == f"{sealed_address(other)}/128"
        assert (told["Peer"]["PublicKey"], told["Peer"]["Endpoint"]) == (key, endpoint)
        assert "privatekey" not in (tmp_path / name).read_text().lower()
