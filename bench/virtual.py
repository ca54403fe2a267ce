# SPDX-License-Identifier: GPL-2.0-or-later
"""A chain of eight links with eight TCP flows in virtual time, against ns-3's own nodes doing the same in one process.

Ours are two endpoints and eight netboxes of one link each, with their frame records; theirs are nine nodes with IP stacks and
point-to-point links between them. Both have CUBIC, links of 100 Mbit/s and 2 ms, and queues of 1000 packets. What counts is how
many frames links carry in a second of processor time.
"""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Callable
from statistics import median

from bench.outcome import Outcome, Table, rate
from bench.pairs import alternate, ratio
from bench.settings import Surroundings
from netboxes.engine.virtual import Netbox, mac
from netboxes.network.virtual_network import End, emulate_network
from netboxes.technology import build_folder, technologies

_LINKS, _FLOWS = 8, 8
#: Of the network's time.
_SECONDS, _QUICK_SECONDS = 20.0, 4.0
_FIRST_PORT = 5000


def measure(around: Surroundings) -> Outcome:
    seconds = _QUICK_SECONDS if around.settings.quick else _SECONDS
    turns: dict[str, Callable[[], float]] = {"ours": lambda: _ours(seconds), "stock": lambda: _stock(seconds)}
    around.progress(f"{_LINKS} links with {_FLOWS} TCP flows in virtual time")
    got = alternate(turns, around.settings.pairs)
    of = ratio(got["ours"], got["stock"])
    row = (
        rate(median(got["ours"])),
        rate(median(got["stock"])),
        f"{of.median:.2f}",
        f"{min(of.values):.2f} to {max(of.values):.2f}",
    )
    return Outcome(
        ratios={"virtual_chain": of},
        figures={"virtual_chain": got},
        tables=(
            Table(
                f"{_LINKS} links with {_FLOWS} TCP flows in virtual time: frames that links carry in a second of processor time",
                ("ours", "ns-3's own nodes", "ratio", "of pairs"),
                (row,),
            ),
        ),
    )


def _ours(seconds: float) -> float:
    line = technologies()["link"].model_validate(
        {"stations": {"x": {}, "y": {}}, "rate": "100 Mbit/s", "delay": "2 ms", "queue": {"packets": 1000}}
    )
    parameters = line.model_dump(mode="json")
    links = {f"link{number}": Netbox("link", ("x", "y"), parameters) for number in range(_LINKS)}
    flows = [
        {"name": f"flow{number}", "application": "bulk", "port": _FIRST_PORT + number, "tcp": {"variant": "cubic"}}
        for number in range(_FLOWS)
    ]
    sends = [
        {**flow, "host": "source", "role": "sender", "destination": "10.0.0.2", "start_s": 0.1 * number, "until_s": seconds + 1.0}
        for number, flow in enumerate(flows)
    ]
    receives = [{**flow, "host": "drain", "role": "receiver"} for flow in flows]
    hosts = {"source": _host("source", 1, sends), "drain": _host("drain", 2, receives)}
    ends: list[End] = [("source", "eth"), *((name, end) for name in links for end in ("x", "y")), ("drain", "eth")]
    wires = list(zip(ends[::2], ends[1::2], strict=True))
    before = _cpu_s()
    ran = emulate_network(links | hosts, wires, seconds)
    spent_s = _cpu_s() - before
    carried: int = sum(port["sent"] for name in links for port in ran[name].statistics["ports"])
    return carried / spent_s


def _host(name: str, number: int, flows: list[dict[str, object]]) -> Netbox:
    interface = {"mac": mac(number).hex(":"), "addresses": [f"10.0.0.{number}/24"]}
    return Netbox("endpoints", ("eth",), {"hosts": {name: {"interfaces": {"eth": interface}}}, "flows": flows})


def _stock(seconds: float) -> float:
    before = _cpu_s()
    command = [str(build_folder() / "bin/stock-virtual"), str(seconds), str(_LINKS), str(_FLOWS)]
    carried = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return carried / (_cpu_s() - before)


def _cpu_s() -> float:
    """Of programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
