# SPDX-License-Identifier: GPL-2.0-or-later
"""Click routers: what a router node runs, whether a configuration is sound, and the handlers of a running one.

Nothing else in NetBoxIT knows how the `click-router` program (folder `click/`) is called or spoken to.
"""

from __future__ import annotations

import ipaddress
import json
import re
import socket
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Network
from itertools import pairwise
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any, Final, Self

from contracts.errors import NetBoxITError
from contracts.installation import BUILD, CHECKOUT
from contracts.plan import InterfacePlan, NodePlan
from contracts.run_folder import JOURNAL_FILE, STATISTICS_FILE
from contracts.shapes import OtherShape, parsed
from contracts.statistics import RouterStatistics
from system import node_files, sandbox
from system.rootfs import NODE_FOLDER, WIRES_FOLDER

EXECUTABLE: Final = CHECKOUT / "build" / "bin" / "click-router"
CONTROL: Final = "control.sock"
#: Beside the configuration: the stages that interfaces have at the start, and the seed of what stages do at random.
STAGES_FILE: Final = "stages.json"
#: Click tries another configuration, and the queues of the old one drain, before the answer comes.
SWAP_TIMEOUT_S: Final = 15.0

_CHECK_LIMITS: Final = sandbox.Limits(30.0)
_ERROR: Final = re.compile(r"(?P<file>[^\s:][^:\n]*):(?:(?P<line>\d+):)? (?P<message>.*)")
#: A routing table in a configuration, comments, and variables as a table has them.
_TABLE: Final = re.compile(
    r"\b(?:StaticIPLookup|LinearIPLookup|RadixIPLookup|DirectIPLookup|RangeIPLookup|SortedIPLookup)\s*\(([^()]*)\)"
)
_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_VARIABLE: Final = re.compile(r"\$(?:(\w+)|\{(\w+)(?:-([^}]*))?\})")
_GREETING: Final = b"Click::ControlSocket/1."
_LONGEST_ANSWER: Final = 16 << 20
#: Of warnings before a reply's last line.
_MOST_LINES: Final = 10_000
#: What the router takes with a call (click/README.md).
_LARGEST_DATA: Final = 1 << 20

#: By interface, each in base units, in the order in which packets towards the router pass them.
Stages = Mapping[str, Sequence[Mapping[str, Any]]]


class RouterProgramMissing(NetBoxITError):
    """click-router was not built."""


class RouterUnreachable(NetBoxITError):
    """Nothing answers at a router's control socket, or something that is not Click's ControlSocket does."""


class HandlerRefused(NetBoxITError):
    """The router answered a handler's call with an error; `code` is ControlSocket's."""

    def __init__(self, handler: str, tried: str, code: int, message: str) -> None:
        self.handler, self.code = handler, code
        super().__init__(f"{tried} of Click handler {handler} refused ({code}): {message}")


@dataclass(frozen=True)
class ConfigurationError:
    """What Click says about a configuration; `line` is 0 where it names none."""

    file: str
    line: int
    message: str


def is_click(node: NodePlan) -> bool:
    """Whether a node is a router whose packets Click forwards, not the kernel."""
    return node.kind == "router" and not node.forwards


def configuration_name(node: NodePlan) -> str:
    """The file that a Click router does what it says."""
    return PurePosixPath(node.command[-1]).name


def stages_text(seed: int, stages: Stages) -> str:
    """What `STAGES_FILE` has. It is there without any stages, too: interfaces may get some while the router runs."""
    return json.dumps({"seed": seed, "interfaces": stages}, indent=2, sort_keys=True) + "\n"


def planned_stages(node: NodePlan) -> Stages:
    """Those with which a router starts. That of a lab that an earlier version brought up has no such file where it has none."""
    stages: Stages = json.loads(node.files.get(STAGES_FILE, '{"interfaces": {}}'))["interfaces"]
    return stages


def defines(interfaces: Iterable[InterfacePlan]) -> dict[str, str]:
    """The `$VARIABLES` that a configuration is given for its interfaces.

    For an interface X (upper case, `-` as `_`): X_DEV its name, X_ETH its Ethernet address, and from its first IPv4 address X_IP
    and X_NET (network as address/length).
    """
    values: dict[str, str] = {}
    for interface in interfaces:
        prefix = interface.name.upper().replace("-", "_")
        values |= {f"{prefix}_DEV": interface.name, f"{prefix}_ETH": interface.mac}
        addresses = map(ipaddress.ip_interface, interface.addresses)
        if (first := next((address for address in addresses if address.version == 4), None)) is not None:
            values |= {f"{prefix}_IP": str(first.ip), f"{prefix}_NET": str(first.network)}
    return values


def command(
    configuration: Path,
    defines: Mapping[str, str],
    priority: int = 0,
    *,
    folder: str = NODE_FOLDER,
    memory: Mapping[str, str] | None = None,
    has_stages: bool = False,
) -> tuple[str, ...]:
    """What a router node runs.

    `priority` is SCHED_FIFO's, 0 for none; `folder` holds control socket, statistics and journal; `memory` says of each
    interface that is an end of a memory wire which end it is, left or right; `has_stages`: `STAGES_FILE` is beside the
    configuration.
    """
    return (
        str(EXECUTABLE),
        *("--control", f"{folder}/{CONTROL}"),
        *("--statistics", f"{folder}/{STATISTICS_FILE}"),
        *("--journal", f"{folder}/{JOURNAL_FILE}"),
        *(("--priority", str(priority)) if priority else ()),
        *(("--stages", str(configuration.with_name(STAGES_FILE))) if has_stages else ()),
        *(part for name, end in (memory or {}).items() for part in ("--memory", f"{name}={WIRES_FOLDER}/{name}:{end}")),
        *_define_options(defines),
        str(configuration),
    )


def check(configuration: Path, text: str, defines: Mapping[str, str]) -> list[ConfigurationError]:
    """Has Click parse and initialise the text of a configuration, without any interface; returns what is wrong, in its words.

    That is in a sandbox: elements that write to files or open sockets do so as they are initialised. One that needs more than
    the limits is wrong, too. Raises RouterProgramMissing, SandboxFailed.
    """
    if not EXECUTABLE.exists():
        raise RouterProgramMissing(f"checking {configuration}: there is no {EXECUTABLE}; remedy: {BUILD}")
    configuration = configuration.absolute()
    try:
        result = sandbox.run(
            (str(EXECUTABLE), "--check", *_define_options(defines), str(configuration)),
            _CHECK_LIMITS,
            reads={configuration: text},
        )
    except sandbox.LimitExceeded as exceeded:
        return [ConfigurationError(str(configuration), 0, f"Click could not read it: {exceeded}")]
    if result.status == 0:
        return []
    if "std::bad_alloc" in result.complaint:
        message = f"Click needs more than {_CHECK_LIMITS.memory_bytes >> 20} MiB of memory to read it"
        return [ConfigurationError(str(configuration), 0, message)]
    return _read_errors(result.complaint) or [
        ConfigurationError(str(configuration), 0, result.complaint.strip() or f"Click ended with {result.status}")
    ]


def defines_in(command: Sequence[str]) -> dict[str, str]:
    """The `$VARIABLES` in what a router node runs."""
    return dict(value.split("=", 1) for option, value in pairwise(command) if option == "--define")


def static_routes(text: str, defines: Mapping[str, str]) -> list[tuple[IPv4Network, str | None]] | None:
    """Each network with the gateway to it, by the arguments of a configuration's routing table.

    The gateway is None for a network that the router itself is in, or drops what is for it. The whole is None when the
    configuration has no routing table of its own or several, so that it does not say where packets go.
    """
    tables = _TABLE.findall(_COMMENT.sub(" ", text))
    if len(tables) != 1:
        return None
    return list(_routes(_VARIABLE.sub(lambda variable: defines.get(variable[1] or variable[2], variable[3] or ""), tables[0])))


def _routes(arguments: str) -> Iterator[tuple[IPv4Network, str | None]]:
    """`ADDRESS/LENGTH [GATEWAY] OUTPUT`; addresses that Click looks up by name are broadcasts and the like."""
    for words in map(str.split, arguments.split(",")):
        if len(words) in (2, 3):
            gateway = words[1] if len(words) == 3 and words[1] not in ("-", "0.0.0.0") else None
            with suppress(ValueError):
                yield ipaddress.IPv4Network(words[0], strict=False), gateway


def _define_options(defines: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(part for name, value in defines.items() for part in ("--define", f"{name}={value}"))


def _read_errors(text: str) -> list[ConfigurationError]:
    """Lines `file:line: message`, each with the indented lines that follow it; closing remarks without a line only if alone."""
    errors: list[ConfigurationError] = []
    for line in text.splitlines():
        if line.startswith(" ") and errors:
            last = errors[-1]
            joint = " " if last.message.endswith(":") else "; "
            errors[-1] = ConfigurationError(last.file, last.line, last.message + joint + line.strip())
        elif match := _ERROR.fullmatch(line):
            errors.append(ConfigurationError(match["file"], int(match["line"] or 0), match["message"]))
    return [error for error in errors if error.line or ";" in error.message] or errors


class Handlers:
    """The handlers of a running router, through its control socket (Click's ControlSocket protocol, 1.3).

    `address` of a handler is `element.handler`, or just `handler` for a global one (`list`, `config`, …).
    """

    def __init__(self, path: Path, timeout_s: float = 5.0) -> None:
        self._path, self._timeout_s = path, timeout_s

    def __enter__(self) -> Self:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(self._timeout_s)
        self._received, self._until = b"", time.monotonic() + self._timeout_s
        try:
            with node_files.socket_address(self._path) as address:
                self._socket.connect(address)
            greeting = self._line()
        except OSError as error:
            self._socket.close()
            raise RouterUnreachable(f"no router answers at {self._path}: {error}; is its node running?") from error
        if not greeting.startswith(_GREETING):
            self._socket.close()
            raise RouterUnreachable(f"{self._path} answers {greeting!r}, which is not Click's ControlSocket")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._socket.close()

    def read(self, address: str, parameter: str = "") -> str:
        """The handler's text. Raises HandlerRefused, RouterUnreachable."""
        data = _encoded(parameter)
        self._call("read", address, _encoded(f"READDATA {_checked(address)} {len(data)}\r\n") + data)
        header = self._line()
        if not re.fullmatch(rb"DATA \d+", header):
            raise RouterUnreachable(f"{self._path} answers {header!r} where the length of {address} was due")
        return self._bytes(int(header[5:])).decode(errors="replace")

    def write(self, address: str, text: str = "") -> str:
        """Calls a write handler; returns its warnings, if any. Raises HandlerRefused, RouterUnreachable."""
        data = _encoded(text)
        if len(data) > _LARGEST_DATA:
            raise HandlerRefused(
                address, "write", 521, f"a router takes {_LARGEST_DATA} bytes at most, and these are {len(data)}"
            )
        return self._call("write", address, _encoded(f"WRITEDATA {_checked(address)} {len(data)}\r\n") + data)

    def set_stages(self, interface: str, stages: Sequence[Mapping[str, Any]]) -> None:
        """Gives an interface these stages, in base units. Raises HandlerRefused, RouterUnreachable."""
        self.write("stages", f"{interface} {json.dumps(stages)}")

    def stages(self) -> Stages:
        """Those that interfaces have now. Raises HandlerRefused, RouterUnreachable."""
        try:
            return parsed(self.read("stages"), dict[str, list[dict[str, Any]]])
        except OtherShape as error:
            raise RouterUnreachable(f"{self._path} answers what are no stages: {error}") from None

    def counters(self) -> RouterStatistics:
        """What its interfaces and their stages have counted until now. Raises HandlerRefused, RouterUnreachable."""
        try:
            return parsed(self.read("counters"), RouterStatistics)
        except OtherShape as error:
            raise RouterUnreachable(f"{self._path} answers what are no counters: {error}") from None

    def elements(self) -> list[str]:
        """Names of all elements, those inside compounds as `outer/inner`."""
        return self.read("list").splitlines()[1:]

    def _call(self, tried: str, address: str, request: bytes) -> str:
        self._until = time.monotonic() + self._timeout_s
        try:
            self._socket.settimeout(self._timeout_s)
            self._socket.sendall(request)
        except OSError as error:
            raise RouterUnreachable(f"{tried} of {address} at {self._path}: {error}") from error
        messages, line = list[str](), ""
        while line[3:4] != " ":  # as in the last line of a reply
            line = self._line().decode(errors="replace")
            if not re.match(r"\d{3}[ -]", line):
                raise RouterUnreachable(f"{self._path} answers {line!r} where a reply code was due")
            messages.append(line[4:])
            if len(messages) > _MOST_LINES:
                raise RouterUnreachable(f"the router at {self._path} answers with more than {_MOST_LINES} lines")
        if not line.startswith("2"):
            raise HandlerRefused(address, tried, int(line[:3]), "; ".join(messages))
        return "\n".join(messages[:-1])

    def _line(self) -> bytes:
        while b"\r\n" not in self._received:
            self._more()
        line, _, self._received = self._received.partition(b"\r\n")
        return line

    def _bytes(self, count: int) -> bytes:
        while len(self._received) < count:
            self._more()
        data, self._received = self._received[:count], self._received[count:]
        return data

    def _more(self) -> None:
        """Each piece comes before the end of the time for the whole answer."""
        try:
            if (left := self._until - time.monotonic()) <= 0:
                raise TimeoutError("timed out")
            self._socket.settimeout(left)
            part = self._socket.recv(65536)
        except OSError as error:
            raise RouterUnreachable(f"no answer from {self._path} within {self._timeout_s} s: {error}") from error
        if not part:
            raise RouterUnreachable(f"the router at {self._path} closed the connection")
        self._received += part
        if len(self._received) > _LONGEST_ANSWER:
            raise RouterUnreachable(f"the router at {self._path} answers with more than {_LONGEST_ANSWER} bytes")


def _encoded(text: str) -> bytes:
    """As it was given on a command line, whose bytes need not be UTF-8 (PEP 383)."""
    return text.encode(errors="surrogateescape")


def _checked(address: str) -> str:
    """Blanks and line ends would make another command of it."""
    if not address or re.search(r"\s", address):
        raise HandlerRefused(repr(address), "call", 500, "a handler is written `element.handler`, without blanks")
    return address
