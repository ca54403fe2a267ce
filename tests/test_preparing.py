# SPDX-License-Identifier: GPL-2.0-or-later
"""Machines are prepared by ansible/hosts.yml over real SSH, a second time without a change, and leave.yml takes out what it put.

What a machine of a test shares with the real one (/proc/irq, the cores in /sys) is covered by folders of its own.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from contracts.installation import CHECKOUT
from tests.member_hosts import INVENTORY, MemberHosts, address, run_in_member_hosts

FOLDER = "/opt/netboxit-trial"
#: What nobody has installed; it comes from a folder of the machine.
PACKAGE = "netboxit-trial"
#: What lets people in, and the machine has none of it before: its dpkg knows nothing of this machine's own.
WAYS_IN = ("openssh-server", "sudo")
#: Eight cores of which none is isolated, all but one with a frequency that changes; interrupts, one of which cannot be moved; a
#: boot menu, made by a GRUB of our own; packages to install, and one that has chrony's name and steers no clock. Nothing of what
#: this machine itself was prepared with is on record there.
KERNEL = """\
set -e
mkdir -p /run/kernel/cpu /run/kernel/irq /boot/grub /etc/default/grub.d
for core in 0 1 2 3 4 5 6 7; do
    mkdir -p /run/kernel/cpu/cpu$core/cpufreq
    echo schedutil > /run/kernel/cpu/cpu$core/cpufreq/scaling_governor
done
rm -r /run/kernel/cpu/cpu6/cpufreq
echo 0-7 > /run/kernel/cpu/present
echo > /run/kernel/cpu/isolated
for irq in 1 2 3 4; do mkdir /run/kernel/irq/$irq; done
echo 0-7 > /run/kernel/irq/1/smp_affinity_list
echo 1 > /run/kernel/irq/2/smp_affinity_list
echo 3 > /run/kernel/irq/3/smp_affinity_list
echo 0-7 > /run/kernel/irq/4/smp_affinity_list
mount --bind /run/kernel/irq/4/smp_affinity_list /run/kernel/irq/4/smp_affinity_list
mount -o remount,bind,ro /run/kernel/irq/4/smp_affinity_list
mount --bind /run/kernel/cpu /sys/devices/system/cpu
mount --rbind /run/kernel/irq /proc/irq

cat > /usr/sbin/update-grub <<'END'
#!/bin/sh
GRUB_CMDLINE_LINUX_DEFAULT=quiet
for file in /etc/default/grub.d/*.cfg; do [ ! -e $file ] || . $file; done
echo "linux /vmlinuz $GRUB_CMDLINE_LINUX_DEFAULT" > /boot/grub/grub.cfg
END
chmod 755 /usr/sbin/update-grub
update-grub

package() {
    mkdir -p /run/$1/DEBIAN
    printf 'Package: %s\\nVersion: 9:99\\nArchitecture: all\\n' $1 > /run/$1/DEBIAN/control
    printf 'Maintainer: nobody\\nDescription: trial\\n' >> /run/$1/DEBIAN/control
    dpkg-deb --build /run/$1 /run/$1.deb > /dev/null
}

rm -rf /var/lib/netboxit
sed -E -i '/^Package: (sudo|openssh-(sftp-)?server)$/,/^$/d' /var/lib/dpkg/status

mkdir -p /run/netboxit-trial/usr/share/netboxit-trial /run/repository
echo there > /run/netboxit-trial/usr/share/netboxit-trial/file
cd /run/repository
for name in netboxit-trial openssh-server sudo; do
    package $name
    mv /run/$name.deb .
    cat /run/$name/DEBIAN/control >> Packages
    printf 'Filename: ./%s.deb\\nSize: %s\\n' $name $(stat -c %s $name.deb) >> Packages
    printf 'SHA256: %s\\n\\n' $(sha256sum $name.deb | cut -d' ' -f1) >> Packages
done
rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/*
echo 'deb [trusted=yes] file:/run/repository ./' > /etc/apt/sources.list
apt-get update -qq

# Where one of these is installed, chrony is not put in its place.
for other in systemd-timesyncd ntpsec openntpd; do dpkg --purge $other > /dev/null 2>&1 || true; done
mkdir -p /run/chrony/usr/bin /run/chrony/etc/chrony/sources.d
cat > /run/chrony/usr/bin/chronyc <<'END'
#!/bin/sh
echo "$@" >> /run/kernel/chronyc
echo 'C0000201,192.0.2.1,3,0.0,-0.000002,0.0,0.0,0.0,0.0,0.0,0.000040,0.000010,64.0,Normal'
END
chmod 755 /run/chrony/usr/bin/chronyc
package chrony
dpkg --force-all --install /run/chrony.deb > /dev/null
"""
#: Stands for make, on both machines: to build anything would take minutes.
MAKE = """\
#!/bin/sh
test "$2" = setup && cd "${1#--directory=}" && mkdir -p build .venv && echo made | tee -a /run/made build/made > .venv/made
"""
#: What the kernel says, and what is installed besides what lets people in.
STATE = """\
grep -r "" /run/kernel/irq /run/kernel/cpu | sort
sysctl -n net.ipv4.ip_default_ttl
dpkg-query --show --showformat='${db:Status-Abbrev} ${Package}\\n' | grep -vE ' (openssh-server|sudo)$' | sha256sum
"""
#: Ansible's own, apt's and dpkg's records of what happened, and what Python compiled.
UNTOLD = re.compile(r"/root/\.ansible|/var/(log|cache|lib/apt|lib/dpkg|backups)|/tmp|.*/__pycache__|/run$")


def inventory(hosts: MemberHosts, name: str, **of_beta: str) -> Path:
    """With all that can be asked of beta, and how its key is known."""
    there = yaml.safe_load(INVENTORY.read_text())
    there["all"]["hosts"]["beta"] |= of_beta | {
        "netboxit_folder": FOLDER,
        "netboxit_packages": ["iproute2", PACKAGE, *WAYS_IN],
        "netboxit_isolated_cores": "2-3,6",
        "netboxit_sysctls": {"net.ipv4.ip_default_ttl": 65},
        "netboxit_time_servers": ["192.0.2.1"],
    }
    (file := Path("/run", name)).write_text(yaml.safe_dump(there))
    return file


def played(playbook: str, file: Path, *options: str, status: int = 0) -> tuple[dict[str, dict[str, int]], str]:
    """Ansible's counts for each machine, and what it said. Its exit status is 2 where a task failed."""
    command = [str(CHECKOUT / ".venv/bin/ansible-playbook"), "-i", str(file), str(CHECKOUT / "ansible" / playbook)]
    environment = os.environ | {"ANSIBLE_NOCOWS": "1", "ANSIBLE_NOCOLOR": "1", "HOME": "/root"}
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=200, env=environment, check=False)
    recap = re.findall(r"^(\w+)\s+: (ok=.*)$", done.stdout, re.MULTILINE)
    counts = {name: {key: int(value) for key, value in (word.split("=") for word in words.split())} for name, words in recap}
    assert done.returncode == status, f"{done.stdout}{done.stderr}"
    return counts, done.stdout


def told(hosts: MemberHosts) -> dict[str, str]:
    return {path: what for path, what in hosts.changes("beta").items() if not UNTOLD.match(path)}


def prepared(hosts: MemberHosts) -> dict[str, Any]:
    """Beta's files and kernel: before, after a look, prepared once and twice, after leaving; and what Ansible said."""
    hosts.run("beta", f"cat > /run/kernel.sh <<'EOF'\n{KERNEL}EOF\nsh /run/kernel.sh")
    hosts.run("beta", f"cat > /usr/local/bin/make <<'EOF'\n{MAKE}EOF\nchmod 755 /usr/local/bin/make")
    (make := Path("/usr/local/bin/make")).write_text(MAKE)
    make.chmod(0o755)
    # A file with another time and the same content is no change.
    os.utime(CHECKOUT / "LICENSE")
    key = hosts.run("beta", "ssh-keygen -y -f /run/ssh/host_key").strip()
    known, unknown = inventory(hosts, "known.yml"), inventory(hosts, "new.yml", ansible_ssh_common_args="", netboxit_host_key=key)
    found: dict[str, Any] = {"files": [told(hosts)], "kernel": [hosts.run("beta", STATE)], "changed": [], "said": []}
    one = ("--limit=beta", "--skip-tags=joined")
    for playbook, file, options in (
        ("hosts.yml", known, ("--check", "--diff", "--limit=beta", "--tags=packages,isolation")),
        ("hosts.yml", unknown, ()),
        ("hosts.yml", unknown, one),
        ("leave.yml", unknown, ("--limit=beta",)),
    ):
        if playbook == "leave.yml":
            hosts.run("beta", "mkdir -p /run/state/labs/mine")
            found["refused"] = played(playbook, file, *options, status=2)
            hosts.run("beta", "rm -r /run/state")
        counts, said = played(playbook, file, *options)
        found["changed"].append({name: counted["changed"] for name, counted in counts.items()})
        found["said"].append(said)
        found["files"].append(told(hosts))
        found["kernel"].append(hosts.run("beta", STATE))
    found["ways in"] = hosts.run("beta", "dpkg-query --show --showformat='${Package} ${db:Status-Status}\n' " + " ".join(WAYS_IN))
    found["made"], found["made here"] = hosts.run("beta", "cat /run/made"), Path("/run/made").read_text()
    found["chronyc"] = hosts.run("beta", "cat /run/kernel/chronyc").splitlines()
    return found | {"known": Path("/root/.ssh/known_hosts").read_text()}


@pytest.mark.lab
@pytest.mark.long
def test_machines_are_prepared_and_left_as_they_were() -> None:
    found = run_in_member_hosts(prepared)
    before, looked, once, twice, after = found["files"]
    assert looked == before and found["kernel"][1] == found["kernel"][0]
    assert "isolcpus=managed_irq,domain,2-3,6 nohz_full=2-3,6 rcu_nocbs=2-3,6 irqaffinity=0-1,4-5,7" in found["said"][0]
    assert found["changed"][0]["beta"] > 5
    assert found["changed"][1]["alpha"] == 2  # it was built, and that remembered
    assert found["made"] == "made\n" and found["made here"] == "made\n"
    assert found["changed"][2] == {"beta": 0}
    put = {path for path in once if once[path] != before.get(path) and not path.startswith((FOLDER, "/usr/share", "/var/lib"))}
    assert put == {
        "/boot/grub/grub.cfg",
        "/etc/default/grub.d/netboxit.cfg",
        "/etc/sysctl.d/90-netboxit.conf",
        "/etc/tmpfiles.d/netboxit.conf",
        "/etc/chrony/sources.d/netboxit.sources",
    }
    assert {f"{FOLDER}/netboxit.py", f"{FOLDER}/netboxes/wifi/segment.cc", f"/usr/share/{PACKAGE}/file"} <= set(once)
    assert twice == once and found["kernel"][3] == found["kernel"][2]
    kernel = found["kernel"][2]
    for core in (2, 3):
        assert f"cpu{core}/cpufreq/scaling_governor:performance" in kernel
    assert "cpu1/cpufreq/scaling_governor:schedutil" in kernel
    assert re.findall(r"irq/\d/smp_affinity_list:(.*)", kernel) == ["0-1,4-5,7", "1", "0-1,4-5,7", "0-7"]
    assert "a reboot of beta is due: isolated now: no core, wanted: 2-3,6" in found["said"][1]
    assert "/proc/irq/4/smp_affinity_list: Read-only file system" in found["said"][1]
    refused, why = found["refused"]
    assert refused["beta"]["changed"] == 0 and "labs are up on beta or were left behind (mine)" in why
    assert found["ways in"] == "openssh-server installed\nsudo installed\n"
    assert "openssh-server:all (it lets people in), sudo:all (it lets people in)" in found["said"][3]
    assert after == before and found["kernel"][4] == found["kernel"][0]
    assert "chrony follows 192.0.2.1, at most 32 us off" in found["said"][1]
    assert found["chronyc"] == ["reload sources", "-c tracking", "-c tracking", "reload sources"]
    assert "put-by-netboxit" not in found["known"]


ASK = """\
import json, sys, machines_reach
name, address, other, there = sys.argv[1:]
print(json.dumps(list(machines_reach.Reach(name, address, 4789, 1500).findings({other: there}, 1.5))))
"""


def findings(hosts: MemberHosts) -> dict[str, list[str]]:
    """What alpha and beta say of the way between them, by what is wrong with it."""
    ask = ["env", f"PYTHONPATH={CHECKOUT}/ansible/library", str(CHECKOUT / ".venv/bin/python"), "-c", ASK]

    def asked() -> list[str]:
        there = hosts.command("beta", *map(shlex.quote, [*ask, "beta", address(1), "alpha", address(0)]))
        with subprocess.Popen(there, stdout=subprocess.PIPE, text=True) as beta:
            alpha = subprocess.check_output([*ask, "alpha", address(0), "beta", address(1)], text=True)
            assert beta.stdout is not None
            return [*json.loads(alpha), *json.loads(beta.stdout.read())]

    found = {"nothing": asked()}
    hosts.run("beta", "nft add table inet wall; nft 'add chain inet wall input { type filter hook input priority 0; }'")
    hosts.run("beta", "nft add rule inet wall input udp dport 4789 drop")
    found["firewall"] = asked()
    hosts.run("beta", "nft delete table inet wall; ip link set uplink mtu 1500")
    found["mtu"] = asked()
    hosts.run("beta", "ip link add tunnel type vxlan id 7 dstport 4789 dev uplink && ip link set tunnel up")
    found["port"] = asked()
    return found


@pytest.mark.lab
@pytest.mark.patient
def test_what_is_wrong_between_machines_is_told_with_the_remedy() -> None:
    found = run_in_member_hosts(findings)
    assert found["nothing"] == []
    assert [text[:76] for text in found["firewall"]] == [
        "beta does not answer alpha at 192.0.2.2, UDP port 4789: let UDP to that port"
    ]
    assert "packets of 1550 bytes do not get from alpha to beta" in found["mtu"][0]
    assert "`ip link set uplink mtu 1550`" in found["mtu"][1] and "at most 1450" in found["mtu"][1]
    assert "UDP port 4789 of beta cannot be used" in found["port"][-1]


def module(name: str) -> Any:
    specification = importlib.util.spec_from_file_location(name, CHECKOUT / f"ansible/library/{name}.py")
    assert specification and specification.loader
    loaded = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(loaded)
    return loaded


def test_lists_of_cores_are_read_and_written_as_the_kernel_does() -> None:
    cores = module("machine_cores")
    assert [cores.numbers(text) for text in ("", "3", "0,2-4", "5-6, 1")] == [[], [3], [0, 2, 3, 4], [1, 5, 6]]
    assert [cores.ranges(numbers) for numbers in ([], [3], [4, 2, 3, 0], [1, 3])] == ["", "3", "0,2-4", "1,3"]
    for text in ("x", "3-1", "-1", "1-2-3"):
        with pytest.raises(cores.BadCores, match="no list of cores"):
            cores.numbers(text)


def test_settings_of_the_kernel_are_put_back_unless_somebody_else_changed_them(tmp_path: Path) -> None:
    kernel_settings = module("kernel_settings")
    files = {name: str(tmp_path / name) for name in ("mine", "theirs", "dropped")}
    for file in files.values():
        Path(file).write_text("before\n")

    def values() -> list[str]:
        return [Path(file).read_text().strip() for file in files.values()]

    def settings() -> Any:
        return kernel_settings.Settings(tmp_path / "record/kernel.json", False)

    settings().set(dict.fromkeys(files.values(), "ours"), [])
    again = settings()
    again.set({files["mine"]: "ours", files["theirs"]: "ours, changed"}, [])
    assert list(again.changed) == [files["dropped"], files["theirs"]]
    assert values() == ["ours", "ours, changed", "before"]
    Path(files["theirs"]).write_text("theirs\n")
    (last := settings()).put_back_all()
    assert values() == ["before", "theirs", "before"]
    assert len(last.left) == 1 and "somebody else has set it" in last.left[0]
    assert not list((tmp_path / "record").iterdir())
