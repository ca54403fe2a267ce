#!/usr/bin/python3 -I
# SPDX-License-Identifier: GPL-2.0-or-later
"""What operators may run as root, and all of it: a command of `netboxit` that uses a lab (docs/rights.md).

`ansible/operators.yml` installs it as /usr/local/sbin/netboxit-operator and names it, alone, in a sudo rule. Of what the operator
has set it takes nothing over but the words of the command and how the terminal is spoken to. It knows nothing of the checkout
but where it is, so that it can look whose that is before anything in it runs. `--examine FOLDER` does that only.
"""

import json
import os
import re
import resource
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

SETTINGS = Path("/etc/netboxit/operators.json")
#: Those that make and use labs. All others need no rights, or are for root (`bench` writes into the checkout).
VERBS = (
    *("up", "apply", "run", "down", "status", "exec", "record", "capture", "metrics", "calibrate"),
    *("set", "drill", "handler", "attach", "detach"),
)
#: Below the checkout, what is no part of the program.
_DATA = (".git", "results")
#: How the operator's terminal is spoken to.
_KEPT = {"TERM", "LANG", "LC_ALL", "LC_CTYPE", "NO_COLOR", "COLUMNS", "LINES"}
_HARMLESS = re.compile(r"[A-Za-z0-9._@-]{0,64}")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: With less of these a command could be cut short wherever the operator likes.
_LIMITS = (resource.RLIMIT_FSIZE, resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_DATA)


def main(words: list[str]) -> None:
    if words[:1] == ["--examine"]:
        sys.exit(refusal(Path(words[1])))
    if os.geteuid() != 0 or not os.environ.get("SUDO_UID", "").isdecimal():
        sys.exit("netboxit-operator: sudo runs this for the members of a group; call netboxit.py itself")
    if not words or words[0] not in VERBS:
        sys.exit(f"netboxit-operator: operators may use {', '.join(VERBS)}")
    checkout = Path(json.loads(SETTINGS.read_text())["checkout"])
    if why := refusal(checkout):
        sys.exit(f"netboxit-operator: {why}")
    set_limits()
    os.umask(0o022)
    python = checkout / ".venv/bin/python"
    start = (str(python), "-E", "-s", str(checkout / "netboxit.py"))
    os.execve(python, (*start, *words), environment(int(os.environ["SUDO_UID"])))


def refusal(checkout: Path) -> str | None:
    """Why nobody but root may run what is in there as root; None when only root can have put it there."""
    wrong = next(writable(checkout.resolve()), None)
    if wrong is None:
        return None
    return (
        f"{wrong} is not root's alone, and what is in {checkout} would run as root: whoever can change it would be root. "
        f"Keep operators' NetBoxIT where only root writes: `git clone` and `make setup` as root below /opt"
    )


def writable(checkout: Path) -> Iterator[Path]:
    """What somebody besides root could change there or put in its place, links followed."""
    yield from writable_itself(checkout)
    yield from writable_below(checkout, checkout, _DATA)


def writable_itself(path: Path) -> Iterator[Path]:
    """The same of one place, and of the way to it."""
    for part in (path, *path.parents):
        status = part.stat()
        # In a folder like /tmp nobody renames what is another's.
        kept = stat.S_ISDIR(status.st_mode) and status.st_uid == 0 and bool(status.st_mode & stat.S_ISVTX)
        if others_write(status) and not kept:
            yield part


def writable_below(folder: Path, checkout: Path, besides: tuple[str, ...] = ()) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name in besides:
                continue
            if entry.is_symlink():
                target = Path(entry.path).resolve()
                if target.exists() and not target.is_relative_to(checkout):
                    yield from writable_itself(target)
            elif others_write(entry.stat(follow_symlinks=False)):
                yield Path(entry.path)
            elif entry.is_dir(follow_symlinks=False):
                yield from writable_below(Path(entry.path), checkout)


def others_write(status: os.stat_result) -> bool:
    return status.st_uid != 0 or bool(status.st_mode & 0o002) or (bool(status.st_mode & 0o020) and status.st_gid != 0)


def set_limits() -> None:
    for limit in _LIMITS:
        try:
            resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        except (ValueError, OSError):
            sys.exit("netboxit-operator: this session has limits (`ulimit -a`) that cannot be raised; begin one without")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def environment(operator: int) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in _KEPT and _HARMLESS.fullmatch(value)}
    own = {"PATH": _PATH, "HOME": "/root"}
    return kept | own | ({"NETBOXIT_OPERATOR": str(operator)} if operator else {})


if __name__ == "__main__":
    main(sys.argv[1:])
