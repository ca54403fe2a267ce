# SPDX-License-Identifier: GPL-2.0-or-later
"""What a frame costs each technology on this machine, as `netboxit calibrate` measured it and the user's cache keeps it."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from contracts import durable
from contracts.errors import NetBoxITError
from netboxes.technology import program
from system.user_privileges import as_user, home

#: The smallest and the largest frame measured, in bytes without FCS.
SMALL, LARGE = 60, 1514


class NoCalibration(NetBoxITError):
    """There is no calibration, or the file holds something else."""


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Costs(_Record):
    """CPU time for a frame, by its size."""

    small_us: float
    large_us: float

    def over(self, other: Costs) -> Costs:
        """What this is more than the other."""
        return Costs(small_us=self.small_us - other.small_us, large_us=self.large_us - other.large_us)

    def of(self, frame_bytes: float) -> float:
        """In microseconds; between and beyond the two sizes as on a straight line."""
        return self.small_us + (self.large_us - self.small_us) * (frame_bytes - SMALL) / (LARGE - SMALL)


class TechnologyCost(_Record):
    """Of a netbox with ports that are files: what its segment and the engine take."""

    #: Hash of the program that was measured.
    program: str
    #: CPU seconds for each simulated second without frames: frame clocks, beacons.
    idle_share: float
    frame: Costs


class PortCost(_Record):
    """What a frame costs an Ethernet netbox in real time with ports of a kind, coming in and going out."""

    #: For each frame the netbox wakes, looks around and sleeps again.
    alone: Costs
    #: Many frames at a time, as a busy netbox finds them.
    among_many: Costs


class Machine(_Record):
    """What figures depend on besides the programs."""

    cpu: str
    kernel: str

    @staticmethod
    def this() -> Machine:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
        return Machine(cpu=next(names, platform.machine()), kernel=platform.release())


class Calibration(_Record):
    """The file."""

    #: UTC, ISO 8601.
    measured: str
    machine: Machine
    technologies: dict[str, TechnologyCost]
    ports: dict[str, PortCost]
    #: The kinds of ports that are not to be had, and why.
    missing: dict[str, str]
    #: What could not be measured (a technology, "packet ports"), and why.
    failed: dict[str, str] = {}

    def completed_by(self, earlier: Calibration) -> Calibration:
        """With an earlier one's figures for what failed this time, as far as they are of this machine and these programs."""
        if self.machine != earlier.machine:
            return self
        kept = {
            name: cost
            for name, cost in earlier.technologies.items()
            if name in self.failed and cost.program == program_hash(name)
        }
        ports = {kind: cost for kind, cost in earlier.ports.items() if f"{kind} ports" in self.failed}
        failed = {
            what: f"{why} (an earlier calibration's figure, of {earlier.measured}, was kept)"
            if what in kept or what.removesuffix(" ports") in ports
            else why
            for what, why in self.failed.items()
        }
        technologies = dict(sorted({**self.technologies, **kept}.items()))
        return self.model_copy(update={"technologies": technologies, "ports": {**ports, **self.ports}, "failed": failed})

    def port(self, kind: str) -> PortCost | None:
        """Of one kind; where AF_XDP was not to be had, a port that wants it is a packet socket."""
        return self.ports.get("packet" if kind in self.missing else kind)

    def stale(self) -> Iterator[str]:
        """What is no longer as it was when this was measured, for the user."""
        if self.machine != (now := Machine.this()):
            yield f"it is of {self.machine.cpu}, kernel {self.machine.kernel}, not {now.cpu}, kernel {now.kernel}"
        if rebuilt := [name for name, cost in self.technologies.items() if cost.program != program_hash(name)]:
            yield f"built anew since: {', '.join(rebuilt)}"

    @as_user()
    def write(self) -> Path:
        file = calibration_file()
        file.parent.mkdir(parents=True, exist_ok=True)
        durable.put(file, json.dumps(self.model_dump(), indent=1) + "\n")
        return file


@as_user()
def read() -> Calibration:
    """This user's. Raises NoCalibration with the remedy."""
    file = calibration_file()
    try:
        return Calibration.model_validate_json(file.read_text())
    except FileNotFoundError:
        raise NoCalibration("what a frame costs on this machine is not known; `netboxit calibrate` measures it") from None
    except (ValidationError, OSError) as error:
        cause = "it is of another version" if isinstance(error, ValidationError) else error.strerror
        raise NoCalibration(f"{file} cannot be used, {cause}; `netboxit calibrate` writes it anew") from None


def calibration_file() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(cache) if os.path.isabs(cache) else home() / ".cache") / "netboxit" / "calibration.json"  # noqa: PTH117


def program_hash(technology: str) -> str | None:
    """Of the program as it is built now; None when it is not."""
    try:
        return hashlib.sha256(program(technology).read_bytes()).hexdigest()[:16]
    except FileNotFoundError:
        return None
