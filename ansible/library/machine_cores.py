#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Ansible module: what keeping everything else off some cores of a machine takes. Looks only; changes nothing.

`isolated` is a list of cores as the kernel writes it (cpuset(7), "List format"). Answers

    isolated, others  the cores as the kernel writes them, and all the others of the machine
    parameters        of the kernel, from the next boot on
    settings          what files of the kernel are to say now: interrupts to the other cores, a steady frequency of these
    refusable         those of them that the kernel may refuse: interrupts of the machine's own
    at_boot           those that are the boot's to set again
    grub, menu        whether there is update-grub, and whether the parameters are in its menu
    now               the cores that are isolated now
    irqbalance        whether that program moves interrupts, too
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

_CORES = Path("/sys/devices/system/cpu")


class BadCores(Exception):
    """These cores cannot be isolated."""


def numbers(text: str) -> list[int]:
    """ "0,2-4" → [0, 2, 3, 4]; nothing → []."""
    found: set[int] = set()
    for part in filter(None, text.replace(" ", "").split(",")):
        first, _, last = part.partition("-")
        if not first.isdecimal() or not (last or first).isdecimal() or int(last or first) < int(first):
            raise BadCores(f"{text!r} is no list of cores; write numbers and ranges, as 2-5,8")
        found.update(range(int(first), int(last or first) + 1))
    return sorted(found)


def ranges(cores: Iterable[int]) -> str:
    """[0, 2, 3, 4] → "0,2-4", as the kernel writes it."""
    found: list[list[int]] = []
    for number in sorted(cores):
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in found)


def wanted(isolated: str) -> dict[str, Any]:
    present, own = numbers(_read(_CORES / "present")), numbers(isolated)
    if not own or not set(own) <= set(present) or present[0] in own:
        raise BadCores(f"there are cores {ranges(present)}, of which the first is for everything else; name others of them")
    others = ranges(set(present) - set(own))
    listed = ranges(own)
    parameters = f"isolcpus=managed_irq,domain,{listed} nohz_full={listed} rcu_nocbs={listed} irqaffinity={others}"
    interrupts = {str(file): others for file in Path("/proc/irq").glob("*/smp_affinity_list") if _is_to_move(file, own, others)}
    governors = {str(file): "performance" for core in own for file in _CORES.glob(f"cpu{core}/cpufreq/scaling_governor")}
    return {
        "isolated": listed,
        "others": others,
        "parameters": parameters,
        "settings": interrupts | governors,
        "refusable": list(interrupts),
        "at_boot": governors,
        "grub": Path("/usr/sbin/update-grub").exists(),
        "menu": parameters in _read(Path("/boot/grub/grub.cfg")),
        "now": _read(_CORES / "isolated"),
        "irqbalance": any(_read(process / "comm") == "irqbalance" for process in Path("/proc").glob("[0-9]*")),
    }


def _is_to_move(interrupt: Path, isolated: list[int], others: str) -> bool:
    """Those that are where they are to be count, too: what is not named any more is put back."""
    now = _read(interrupt)
    return now == others or not set(isolated).isdisjoint(numbers(now))


def _read(file: Path) -> str:
    """Its content; nothing where there is none, or where it is gone by now."""
    with suppress(OSError):
        return file.read_text().strip()
    return ""


def main() -> None:
    module = AnsibleModule({"isolated": {"type": "str", "required": True}}, supports_check_mode=True)
    try:
        module.exit_json(changed=False, **wanted(module.params["isolated"]))
    except BadCores as error:
        module.fail_json(msg=f"netboxit_isolated_cores: {module.params['isolated']}: {error}")


if __name__ == "__main__":
    main()
