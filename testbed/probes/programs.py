# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs: our own, ns-3 and Click, and those of Debian that make traffic and look at it."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import sysconfig
from collections.abc import Collection
from pathlib import Path

from applications.application import programs_of
from applications.registry import applications
from contracts.debian_program import DebianProgram
from contracts.installation import BUILD, BUILD_OF_OTHERS, CHECKOUT, SETUP
from contracts.plugins import BadPlugin
from netboxes.technology import technologies
from testbed.documents.host import Ability
from testbed.probes import asking
from testbed.probes.finding import of_error, there

_BUILT = CHECKOUT / "build/bin"
#: Whatever the traffic is.
_TOOLS = (
    DebianProgram(
        "bwrap", "bubblewrap", "checking routers and flows, rating calls and videos: all of it happens in a sandbox only"
    ),
    DebianProgram("dumpcap", "wireshark-common", "captures, hence all measuring of delay and loss"),
    DebianProgram("tcpdump", "tcpdump", "looking at frames by hand"),
    DebianProgram("ping", "iputils-ping", "trying whether nodes reach each other", "-V"),
)


def probe() -> tuple[Ability, ...]:
    ours = [tool(program, SETUP) for program in tools()]
    return ns3(), click(), netboxes(), *netboxes_of_others(), *ours, *tools_of_others()


def tools() -> list[DebianProgram]:
    """Those that `netboxit setup` installs."""
    return [*programs_of(applications().ours.values()), *_TOOLS]


def tools_of_others() -> list[Ability]:
    """Of applications that other packages bring, where there are any."""
    try:
        programs = programs_of(dict(applications()).values())
    except BadPlugin as error:
        return [of_error("applications of other packages", error, "traffic of these applications")]
    tool_names = {program.name for program in tools()}
    return [tool(program, f"sudo apt-get install {program.package}") for program in programs if program.name not in tool_names]


def ns3() -> Ability:
    try:
        return Ability("ns-3", "yes", f"{importlib.metadata.version('ns3')} (wheel)", needed=True)
    except importlib.metadata.PackageNotFoundError:
        return Ability("ns-3", "no", "the wheel is not installed", "all netboxes", BUILD, needed=True)


def click() -> Ability:
    library = Path(sysconfig.get_path("platlib")) / "ns3/lib64/libnsclick.so"
    for file in (library, _BUILT / "click-router"):
        if not file.exists():
            return Ability("Click", "no", f"{file} is missing", "routers", BUILD, needed=True)
    # The library names its version nowhere but in a text that `click --version` would print.
    version = re.search(rb"Click (\d+\.\d+)|\0(2\.\d+(?:\.\d+)?)\0", library.read_bytes())
    number = (version[1] or version[2]).decode() if version else "of unknown version"
    return Ability("Click", "yes", f"{number}, as click-router", needed=True)


def netboxes() -> Ability:
    return _built("netboxes", technologies().ours, BUILD, needed=True)


def netboxes_of_others() -> list[Ability]:
    """Of technologies that other packages bring, where there are any."""
    name = "netboxes of other packages"
    try:  # each is imported, to see whether it can be
        others = [technology for technology in dict(technologies()) if technology not in technologies().ours]
    except BadPlugin as error:
        return [of_error(name, error, "technologies of other packages")]
    return [_built(name, others, BUILD_OF_OTHERS)] if others else []


def _built(name: str, of: Collection[str], remedy: str, needed: bool = False) -> Ability:
    missing = [technology for technology in of if not (_BUILT / f"netbox-{technology}").exists()]
    built = ", ".join(technology for technology in of if technology not in missing) or "none"
    words = f"built: {built}" + (f"; missing: {', '.join(missing)}" if missing else "")
    return Ability(name, there(not missing), words, "emulation of these technologies", remedy, needed)


def tool(program: DebianProgram, remedy: str) -> Ability:
    path = shutil.which(program.name)
    if path is None:
        return Ability(program.name, "no", "not installed", program.lost, remedy)
    try:  # some make a folder for their settings in the user's home
        answer = asking.ask([path, program.version], {"PATH": os.environ.get("PATH", os.defpath)})
    except asking.NoAnswer as error:
        return Ability(program.name, "no", str(error), program.lost, f"call `{path} {program.version}` by hand; {remedy}")
    number = re.search(r"\d+(?:\.\d+)+|\d{8}", answer.stdout + answer.stderr)
    if number is None and answer.returncode != 0:  # a library that an interpreter does not find, say
        return Ability(program.name, "no", f"it tells no version; {program.package} may be missing", program.lost, remedy)
    return Ability(program.name, "yes", number[0] if number else program.name, program.lost, remedy)
