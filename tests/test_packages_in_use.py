# SPDX-License-Identifier: GPL-2.0-or-later
"""Which packages a machine that is left keeps: judged by apt from a dpkg database of the test's own, without being root."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT

ASK = """\
import apt_pkg, json, sys
from pathlib import Path
folder, words = Path(sys.argv[1]), json.loads(sys.argv[2])
apt_pkg.init_config()
apt_pkg.config.set("Dir::State", str(folder))
apt_pkg.config.set("Dir::State::status", str(folder / "status"))
import packages_in_use
print(json.dumps(packages_in_use.Packages(systemd=folder / "systemd").in_use(**words)))
"""
#: One whose unit is active; `list-units --plain` writes it so.
SYSTEMCTL = "#!/bin/sh\necho '  firewall.service loaded active exited Packet filter'\n"


class Machine:
    """A dpkg database: what is installed, by whom, and with which files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._status, self._automatic = folder / "status", folder / "extended_states"
        for name in ("info", "systemd", "bin"):
            (folder / name).mkdir()
        (folder / "bin/systemctl").write_text(SYSTEMCTL)
        (folder / "bin/systemctl").chmod(0o755)
        self._status.touch()
        self._automatic.touch()
        self.recorded: list[str] = []

    def package(
        self,
        name: str,
        fields: str = "",
        *,
        came: bool = False,
        auto: bool = False,
        status: str = "install ok installed",
        files: str = "",
    ) -> None:
        head = f"Package: {name}\nStatus: {status}\nArchitecture: amd64\nVersion: 1\nMaintainer: nobody\nDescription: trial\n"
        with self._status.open("a") as stanzas:
            stanzas.write(f"{head}{fields}\n\n" if fields else f"{head}\n")
        if auto:
            with self._automatic.open("a") as stanzas:
                stanzas.write(f"Package: {name}\nArchitecture: amd64\nAuto-Installed: 1\n\n")
        (self._folder / f"info/{name}.list").write_text(files)
        if came:
            self.recorded.append(f"{name}:amd64")

    def in_use(self, *asked: str, started: tuple[str, ...] = ()) -> tuple[list[str], dict[str, str]]:
        """What goes and what stays, without the architecture that all have."""
        words = {"recorded": self.recorded, "asked": asked, "kept": ["sudo", "openssh-server"], "started": started}
        modules = [CHECKOUT / "ansible/library", *(CHECKOUT / ".venv/lib").glob("python3*/site-packages")]
        environment = os.environ | {
            "PYTHONPATH": ":".join(map(str, modules)),
            "PATH": f"{self._folder}/bin:{os.environ['PATH']}",
        }
        ask = ["/usr/bin/python3", "-c", ASK, str(self._folder), json.dumps(words)]
        going, staying = json.loads(subprocess.run(ask, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout)
        return [name.removesuffix(":amd64") for name in going], {
            name.removesuffix(":amd64"): why for name, why in staying.items()
        }


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_what_only_netboxit_uses_goes_also_what_is_left_of_it(machine: Machine) -> None:
    machine.package("editor")
    machine.package("tool", "Depends: libtool", came=True)
    machine.package("libtool", came=True, auto=True)
    machine.package("removed", came=True, status="deinstall ok config-files")
    machine.recorded.append("nobody-knows-it:amd64")
    assert machine.in_use("tool", "removed") == (["libtool", "removed", "tool"], {})


def test_what_lets_people_in_stays_with_all_that_it_needs(machine: Machine) -> None:
    machine.package("sudo", "Depends: libsudo (>= 1)\nPre-Depends: libearly", came=True)
    machine.package("libsudo", "Depends: libdeep", came=True, auto=True)
    machine.package("libdeep", came=True, auto=True)
    machine.package("libearly", came=True, auto=True)
    machine.package("openssh-server", "Recommends: tool", came=True)
    machine.package("tool", came=True)
    going, staying = machine.in_use("sudo", "openssh-server", "tool")
    assert going == ["tool"]
    assert staying == {
        "libdeep": "libsudo needs it",
        "libearly": "sudo needs it",
        "libsudo": "sudo needs it",
        "openssh-server": "it lets people in",
        "sudo": "it lets people in",
    }


def test_what_debian_protects_or_somebody_holds_or_asked_for_stays(machine: Machine) -> None:
    machine.package("shell", "Essential: yes", came=True, auto=True)
    machine.package("boot", "Protected: yes", came=True, auto=True)
    machine.package("held", came=True, auto=True, status="hold ok installed")
    machine.package("wished", came=True)  # it came as a dependency; then somebody asked apt for it
    machine.package("ours", came=True)
    assert machine.in_use("ours") == (
        ["ours"],
        {
            "boot": "Debian protects it",
            "held": "somebody holds it (apt-mark hold)",
            "shell": "Debian protects it",
            "wished": "somebody asked for it since (apt-mark showmanual)",
        },
    )


def test_what_other_packages_need_stays_unless_something_else_will_do(machine: Machine) -> None:
    machine.package("theirs", "Depends: player | recorder, agent, browser | our-browser, new (>= 2) | our-new")
    machine.package("player", came=True)
    machine.package("our-agent", "Provides: agent", came=True)
    machine.package("browser")
    machine.package("our-browser", came=True)
    machine.package("new")  # too old for them
    machine.package("our-new", came=True)
    assert machine.in_use("player", "our-agent", "our-browser", "our-new") == (
        ["our-browser"],
        {"our-agent": "theirs needs it", "our-new": "theirs needs it", "player": "theirs needs it"},
    )


def test_what_runs_stays_unless_netboxit_started_it(machine: Machine) -> None:
    interpreter = os.path.realpath("/usr/bin/python3")
    machine.package("daemon", came=True, files=f"/.\n{interpreter}\n")
    machine.package("clock", came=True, files=f"{interpreter}\n")
    machine.package("firewall", came=True, files="/lib/systemd/system/firewall.service\n")
    machine.package("idle", came=True, files="/lib/systemd/system/idle.service\n/usr/bin/idle\n")
    assert machine.in_use("daemon", "clock", "firewall", "idle", started=("clock",)) == (
        ["clock", "idle"],
        {"daemon": f"{interpreter} runs", "firewall": "firewall.service is active"},
    )
