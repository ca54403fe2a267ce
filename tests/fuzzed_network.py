# SPDX-License-Identifier: GPL-2.0-or-later
"""One network with everything that a frame can meet, and what each part of it says of itself."""

from __future__ import annotations

import json
import re
import socket
import struct
import subprocess
import time
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

from contracts.plan import NodePlan, RealtimeSupport
from netboxes.engine.virtual import BROADCAST, ethernet
from netboxes.technology import program, technologies
from system import cores, namespaces
from testbed.labs import switch_statistics
from testbed.labs.lab import Lab
from testbed.plans.planning import plan_file

SENDER: Final = program("link").with_name("hostile-frames")
#: Frames without FCS; a wire carries 200 bytes more than a port takes.
LONGEST, WIRE_MTU, ETHERNET_HEADER = 1714, 1700, 14
#: At ordinary priority: what it is given is no measure of time, and others have the machine, too.
NO_REALTIME: Final = RealtimeSupport(fifo=False, budget_us=None, reason="frames of a fuzzer")
#: How long frames may take to be counted after they were sent.
DEADLINE_S = 30.0
#: Words of a program that ends as it should not.
_CRASH: Final = re.compile(r"assert|NS_FATAL|terminate called|segmentation|\|EMER\||abort", re.IGNORECASE)
#: Click configurations between two networks, with what each needs to be told.
CLICK: dict[str, dict[str, Any]] = {
    "ip-router": {},
    "priorities": {"variables": {"RATE": "50Mbps"}},
    "shaping": {"variables": {"A_RATE": "50Mbps", "B_RATE": "50Mbps"}},
    "containment": {"configuration": "click/broadcast-containment.click"},
}


def network(name: str) -> dict[str, Any]:
    """Each segment between two hosts, each router between two, a switch between three; ends of networks at hosts."""
    made: dict[str, Any] = {"name": name, "wire": "veth", "hosts": {}, "netboxes": {}, "routers": {}, "switches": {}, "wires": []}
    number = 0

    def pair(left: str, right: str, nets: int) -> tuple[str, str]:
        nonlocal number
        number += 1
        for side, end in enumerate((left, right)):
            net = f"10.{number}.{side if nets == 2 else 0}"
            host: dict[str, Any] = {"address": f"{net}.{side + 1}/24"}
            if nets == 2:
                host["gateway"] = f"{net}.254"
            made["hosts"][f"h{number}{'ab'[side]}"] = host
            made["wires"].append([f"h{number}{'ab'[side]}", end])
        return f"10.{number}.0.254/24", f"10.{number}.1.254/24"

    for technology, model in technologies().items():
        if model.TYPICAL is None:
            net = f"10.200.{len(made['hosts'])}"
            station = {"addresses": f"{net}.2/24"} if technology == "endpoints" else {}
            made["netboxes"][technology] = {"technology": technology, "stations": {"out": station}}
            made["hosts"][f"h{technology}"] = {"address": f"{net}.1/24"}
            made["wires"].append([f"h{technology}", f"{technology}.out"])
            continue
        made["netboxes"][technology] = {"technology": technology, **model.TYPICAL}
        left, right = model.TYPICAL["stations"]
        pair(f"{technology}.{left}", f"{technology}.{right}", 1)
    made["netboxes"]["generator"]["active"] = False
    for file, said in CLICK.items():
        router = f"r-{file}"
        left, right = pair(f"{router}.a", f"{router}.b", 2)
        made["routers"][router] = {"configuration": f"click/{file}.click", "interfaces": {"a": left, "b": right}, **said}
    left, right = pair("r-nat.inside", "r-nat.outside", 2)
    made["routers"]["r-nat"] = {
        "configuration": "click/nat.click",
        "variables": {"GATEWAY": right.replace("254/24", "2")},
        "interfaces": {"inside": left, "outside": right},
    }
    left, right = pair("r-meoc.ian", "r-meoc.jan", 2)
    made["routers"]["r-meoc"] = {
        "configuration": "click/meoc.click",
        "variables": {"JAN_RATE": "50Mbps"},
        "interfaces": {"ian": left, "jan": right},
    }
    left, right = pair("r-three.a", "r-three.b", 2)
    made["hosts"]["hthree"] = {"address": "10.201.0.1/24", "gateway": "10.201.0.254"}
    made["wires"].append(["hthree", "r-three.c"])
    made["routers"]["r-three"] = {
        "configuration": "click/ip-router-3.click",
        "interfaces": {"a": left, "b": right, "c": "10.201.0.254/24"},
    }
    left, right = pair("r-linux.a", "r-linux.b", 2)
    made["routers"]["r-linux"] = {"engine": "linux", "interfaces": {"a": left, "b": right}}
    made["switches"]["switch"] = {"ports": {"a": {}, "b": {}}}
    pair("switch.a", "switch.b", 1)
    return made


@dataclass(frozen=True)
class Resources:
    """What a node's processes hold: by process its memory (KiB) and its open files."""

    memory_kib: dict[int, int]
    files: dict[int, int]


class Fuzzed:
    """The network as a lab that is up, and hostile frames sent into all its wires from the hosts' ends."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.hosts = [node for node in lab.plan.nodes if node.kind == "host"]
        #: By host: frames so far that the kernel kept from everybody (the sender's IsTagCut).
        self.cut = dict.fromkeys((node.name for node in self.hosts), 0)
        self.targets = [node for node in lab.plan.nodes if node.kind != "host"]
        for node in lab.plan.nodes:
            for interface in node.interfaces:
                argv = ["ip", "-n", node.namespace, "link", "set", "dev", interface.name, "mtu", str(WIRE_MTU)]
                subprocess.run(argv, check=True, capture_output=True)

    @classmethod
    @contextmanager
    def up(cls, name: str, folder: Path) -> Iterator[Fuzzed]:
        file = folder / "fuzzed.yaml"
        file.write_text(json.dumps(network(name)))  # JSON is YAML
        with Lab.up_and_ready(plan_file(file, realtime=NO_REALTIME)) as lab:
            yield cls(lab)

    def send(self, seed: int, frames: int, rate: int) -> int:
        """So many frames into each wire, at so many a second into all together. How many the kernel took."""
        places = []
        for host in self.hosts:
            (interface,) = host.interfaces
            places.append(f"{host.namespace}/{interface.name}/{interface.mac}/{interface.addresses[0].partition('/')[0]}")
        argv = [str(SENDER), str(seed), str(frames), str(rate), str(LONGEST), *places]
        done = subprocess.run(argv, check=True, capture_output=True, text=True)
        told = json.loads(done.stdout)
        for host, port in zip(self.hosts, told, strict=True):
            self.cut[host.name] += port["cut"]
        return sum(int(port["sent"]) for port in told)

    def resources(self) -> dict[str, Resources]:
        return {node.name: resources(node) for node in self.targets}

    def sent_to(self, node: NodePlan) -> dict[str, tuple[int, int]]:
        """Frames that must have come to each port of a node, and those that can have, by what the far end's kernel has sent."""
        found = {}
        for wire in self.lab.plan.wires:
            for near, far in ((wire.left, wire.right), (wire.right, wire.left)):
                if near.node == node.name:
                    most = sent(self.lab.node(far.node), far.interface)
                    found[near.interface] = (most - self.cut[far.node], most)
        return found

    def unaccounted(self, node: NodePlan) -> list[str]:
        """What does not add up in a netbox, a Click router or a switch: frames that its ports ought to have met, or inside it."""
        counted = self._counted(node)
        if counted is None:
            return []
        wrong = []
        for port, (least, most) in self.sent_to(node).items():
            if not least <= counted[port] <= most:
                wrong.append(f"{node.name}.{port}: of {least} to {most} frames that came it counts {counted[port]}")
        if node.kind == "netbox":
            wrong += self._lost_inside(node)
        return wrong

    def _counted(self, node: NodePlan) -> dict[str, int] | None:
        """Frames that came to each port, as the node says, whatever became of them; None of one that says nothing."""
        if node.kind == "netbox":
            with self.lab.control(node.name) as control:
                return {port["name"]: port["received"] for port in control.statistics()["ports"]}
        if node.kind == "switch" and (switch := switch_statistics.of(self.lab, node.name)):
            return {name: port["received"] for name, port in switch["ports"].items()}
        return None

    def _lost_inside(self, node: NodePlan) -> list[str]:
        with self.lab.control(node.name) as control:
            counted = control.statistics()
        frames = counted["frames"]
        entered = frames["repeated"] + frames["emitted"] - frames["filtered"] - frames["link_control"]
        for port in counted["ports"]:
            entered += port["received"] - port["overload_drops"] - port["oversize_drops"] - port["malformed"]
        left = frames["delivered"] + sum(frames["lost"].values()) + frames["absorbed"] + frames["inside"]
        return [] if entered == left else [f"{node.name}: {entered} frames entered, and {left} are accounted for: {frames}"]

    def complaints(self) -> list[str]:
        """What is wrong after frames were sent: nodes that have ended, frames that nobody accounts for, words of a crash."""
        wrong = [f"node {name} has ended" for name, alive in self.lab.alive().items() if not alive]
        for node in self.targets:
            log = self.lab.node_folder(node.name) / "log"
            text = log.read_text(errors="replace") if log.exists() else ""
            wrong += [f"{node.name} says: {line[:300]}" for line in text.splitlines() if _CRASH.search(line)]
        return wrong or self._await_accounts()

    def _await_accounts(self) -> list[str]:
        """Frames that nobody accounts for, once all have been counted, or too much time has passed."""
        deadline = time.monotonic() + DEADLINE_S
        while wrong := [line for node in self.targets for line in self.unaccounted(node)]:
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
        return wrong

    def counted(self) -> dict[str, dict[str, int]]:
        """Frames that came to each port of each node that counts them."""
        return {node.name: counts for node in self.targets if (counts := self._counted(node))}

    def unreached(self, deadline_s: float, besides: Collection[str] = ()) -> list[str]:
        """Hosts that do not reach the one across their node in time, once what still waits there has been worked off."""
        ends = {wire.left.node: wire.right.node for wire in self.lab.plan.wires}
        asked = [(left, right) for left, right in self.pairs() if ends[left] not in besides]
        with ThreadPoolExecutor(4) as several:
            reached = several.map(lambda pair: self._reaches(*pair, deadline_s), asked)
            return [
                f"{left} does not reach {right} across {ends[left]}"
                for (left, right), reaches in zip(asked, reached, strict=True)
                if not reaches
            ]

    def pairs(self) -> list[tuple[str, str]]:
        return [(node.name, f"{node.name[:-1]}b") for node in self.hosts if node.name.endswith("a")]

    def _reaches(self, left: str, right: str, deadline_s: float) -> bool:
        address = self.lab.node(right).interfaces[0].addresses[0].partition("/")[0]
        deadline = time.monotonic() + deadline_s
        while time.monotonic() < deadline:
            for host in (left, right):
                self._announce(self.lab.node(host))
            if self.lab.run(left, ["ping", "-c", "1", "-W", "2", address]).returncode == 0:
                return True
        return False

    def _announce(self, host: NodePlan) -> None:
        """Tells all where the host is, and has it forget where others are: the fuzzer said otherwise."""
        (interface,) = host.interfaces
        address = ip_address(interface.addresses[0].partition("/")[0]).packed
        own = bytes.fromhex(interface.mac.replace(":", ""))
        reply = struct.pack(">HHBBH", 1, 0x0800, 6, 4, 2) + (own + address) * 2
        subprocess.run(["ip", "-n", host.namespace, "neigh", "flush", "all"], check=True, capture_output=True)
        with namespaces.entered(host.namespace), socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as opened:
            opened.bind((interface.name, 0))
            opened.send(ethernet(own, BROADCAST, 0x0806, reply))


def resources(node: NodePlan) -> Resources:
    memory, files = {}, {}
    for process in cores.processes(node.container):
        status = Path(f"/proc/{process}/status").read_text()
        memory[process] = int(status.partition("VmRSS:")[2].split()[0]) if "VmRSS:" in status else 0
        files[process] = len(list(Path(f"/proc/{process}/fd").iterdir()))
    return Resources(memory, files)


def sent(node: NodePlan, interface: str) -> int:
    """Frames that an interface has sent since it is there."""
    with namespaces.entered(node.namespace):
        lines = Path("/proc/thread-self/net/dev").read_text().splitlines()
    (counts,) = (line.partition(":")[2].split() for line in lines if line.partition(":")[0].strip() == interface)
    return int(counts[9])
