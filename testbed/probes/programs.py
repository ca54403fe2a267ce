# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs: our own, ns-3 and Click, and those of Debian that make traffic and look at it."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import sysconfig
from collections.abc import Collection, Iterator
from pathlib import Path

from applications.application import programs_of
from applications.registry import applications
from contracts.debian_program import DebianProgram
from contracts.installation import BUILD, BUILD_OF_OTHERS, CHECKOUT, SETUP
from contracts.plugins import BadPlugin
from netboxes.technology import technologies
from testbed.probes import asking
from testbed.probes.finding import Finding

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


def probe() -> Iterator[Finding]:
    yield ns3()
    yield click()
    yield netboxes()
    yield from netboxes_of_others()
    yield from (tool(program, SETUP) for program in tools())
    yield from tools_of_others()


def tools() -> list[DebianProgram]:
    """Those that `netboxit setup` installs."""
    return [*programs_of(applications().ours.values()), *_TOOLS]


def tools_of_others() -> Iterator[Finding]:
    """Of applications that other packages bring, where there are any."""
    try:
        programs = programs_of(dict(applications()).values())
    except BadPlugin as error:
        cause, _, remedy = str(error).rpartition("; ")
        yield Finding("applications of other packages", "no", cause, "traffic of these applications", remedy)
        return
    known = {program.name for program in tools()}
    yield from (tool(program, f"sudo apt-get install {program.package}") for program in programs if program.name not in known)


def ns3() -> Finding:
    try:
        found = importlib.metadata.version("ns3")
    except importlib.metadata.PackageNotFoundError:
        return Finding("ns-3", "no", "the wheel is not installed", "all netboxes", BUILD, needed=True)
    return Finding("ns-3", "yes", f"{found} (wheel)", needed=True)


def click() -> Finding:
    library = _ns3_folder() / "lib64/libnsclick.so"
    router = _BUILT / "click-router"
    if not library.exists() or not router.exists():
        missing = library if not library.exists() else router
        return Finding("Click", "no", f"{missing} is missing", "routers", BUILD, needed=True)
    # The library names its version nowhere but in a text that `click --version` would print.
    version = re.search(rb"Click (\d+\.\d+)|\0(2\.\d+(?:\.\d+)?)\0", library.read_bytes())
    number = (
        next((group.decode() for group in version.groups() if group), "of unknown version") if version else "of unknown version"
    )
    return Finding("Click", "yes", f"{number}, as click-router", needed=True)


def netboxes() -> Finding:
    found, missing = _built(technologies().ours)
    return Finding("netboxes", "no" if missing else "yes", found, "emulation of these technologies", BUILD, needed=True)


def netboxes_of_others() -> Iterator[Finding]:
    """Of technologies that other packages bring, where there are any."""
    name = "netboxes of other packages"
    try:  # each is imported, to see whether it can be
        others = [one for one in dict(technologies()) if one not in technologies().ours]
    except BadPlugin as error:
        cause, _, remedy = str(error).rpartition("; ")
        yield Finding(name, "no", cause, "technologies of other packages", remedy)
        return
    if others:
        found, missing = _built(others)
        yield Finding(name, "no" if missing else "yes", found, "emulation of these technologies", BUILD_OF_OTHERS)


def _built(names: Collection[str]) -> tuple[str, list[str]]:
    """In words, and those that are missing."""
    missing = [name for name in names if not (_BUILT / f"netbox-{name}").exists()]
    built = [name for name in names if name not in missing]
    return f"built: {', '.join(built) or 'none'}" + (f"; missing: {', '.join(missing)}" if missing else ""), missing


def tool(program: DebianProgram, remedy: str) -> Finding:
    path = shutil.which(program.name)
    if path is None:
        return Finding(program.name, "no", "not installed", program.lost, remedy)
    # Some make a folder for their settings in the user's home.
    told = asking.said([path, program.version], {"PATH": os.environ.get("PATH", os.defpath)})
    if told is None:
        by_hand = f"call `{path} {program.version}` by hand; {remedy}"
        return Finding(program.name, "no", asking.silent(path), program.lost, by_hand)
    number = re.search(r"\d+(?:\.\d+)+|\d{8}", "".join(told))
    return Finding(program.name, "yes", number[0] if number else program.name, program.lost, remedy)


def _ns3_folder() -> Path:
    return Path(sysconfig.get_path("platlib")) / "ns3"
