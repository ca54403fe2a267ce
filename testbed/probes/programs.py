# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs: our own, ns-3 and Click, and those of Debian that make traffic and look at it."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import sysconfig
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from contracts.installation import BUILD, BUILD_OF_OTHERS, CHECKOUT, SETUP
from contracts.plugins import BadPlugin
from netboxes.technology import technologies
from testbed.probes import asking
from testbed.probes.finding import Finding

_BUILT = CHECKOUT / "build/bin"
#: Program, how it tells its version, what is lost without it.
TOOLS: tuple[tuple[str, Sequence[str], str], ...] = (
    ("baresip", ("-h",), "calls (traffic application call)"),
    ("ffmpeg", ("-version",), "video streams (traffic application camera)"),
    ("mgen", ("help",), "synthetic flows (traffic application udp-flow)"),
    ("espeak-ng", ("--version",), "speech for calls"),
    ("bwrap", ("--version",), "checking routers and flows, rating calls and videos: all of it happens in a sandbox only"),
    ("dumpcap", ("--version",), "captures, hence all measuring of delay and loss"),
    ("tcpdump", ("--version",), "looking at frames by hand"),
    ("ping", ("-V",), "trying whether nodes reach each other"),
)


def probe() -> Iterator[Finding]:
    yield ns3()
    yield click()
    yield netboxes()
    yield from netboxes_of_others()
    for program, version, lost in TOOLS:
        yield tool(program, version, lost)


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


def tool(program: str, version: Sequence[str], lost: str) -> Finding:
    path = shutil.which(program)
    if path is None:
        return Finding(program, "no", "not installed", lost, SETUP)
    # Some make a folder for their settings in the user's home.
    told = asking.said([path, *version], {"PATH": os.environ.get("PATH", os.defpath)})
    if told is None:
        return Finding(program, "no", asking.silent(path), lost, f"call `{' '.join([path, *version])}` by hand; {SETUP}")
    number = re.search(r"\d+(?:\.\d+)+|\d{8}", "".join(told))
    return Finding(program, "yes", number[0] if number else program, lost, SETUP)


def _ns3_folder() -> Path:
    return Path(sysconfig.get_path("platlib")) / "ns3"
