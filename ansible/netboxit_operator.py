#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0-or-later
"""What operators may run as root, and all of it: a command of `netboxit` that uses a lab (docs/rights.md).

`ansible/operators.yml` installs it as /usr/local/sbin/netboxit-operator and names it, alone, in a sudo rule. Of what the operator
has set it takes nothing over but the words of the command and how the terminal is spoken to. It knows nothing of the checkout
(or the package of pip's) but where it is, so that it can look whose that is before anything in it runs. `--examine FOLDER` does
that only; `--remains` says which labs of operators are up, and what still works as root for one.
"""

import errno
import json
import os
import re
import resource
import stat
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

PROGRAM = Path("/usr/local/sbin/netboxit-operator")
SETTINGS = Path("/etc/netboxit/operators.json")
LABS = Path("/var/lib/netboxit/labs")
#: Says for whom a command works as root (`ownership.operators`).
VARIABLE = "NETBOXIT_OPERATOR"
#: Those that make and use labs. All others need no rights, or are for root (`bench` writes into the checkout).
VERBS = (
    *("plan", "up", "apply", "run", "traffic", "down", "status", "exec", "copy", "record", "capture", "metrics", "calibrate"),
    *("set", "drill", "handler", "attach", "detach"),
)
#: Below the checkout, what is no part of the program: what runs and benchmarks wrote. The folders themselves are looked at.
_DATA = ("results/runs", "results/latest", "results/bench", "results/experiments")
#: How the operator's terminal is spoken to.
_KEPT = {"TERM", "LANG", "LC_ALL", "LC_CTYPE", "NO_COLOR", "COLUMNS", "LINES"}
_HARMLESS = re.compile(r"[A-Za-z0-9._@-]{0,64}")
#: Not /usr/local: on machines that were Debian 9 once its folders are the group staff's.
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
#: With less of these a command could be cut short wherever the operator likes.
_LIMITS = (resource.RLIMIT_FSIZE, resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_DATA)
#: Kinds of file systems where another machine, or the user who mounted it, says whose a file is.
_OTHERS_SAY = re.compile(r"fuse.*|nfs4?|cifs|smb3|9p|ceph|afs|vboxsf")
#: path_resolution(7): the kernel follows no more in one path.
_MOST_LINKS = 40
#: Of access control lists, as the kernel keeps them (linux/posix_acl_xattr.h): tags, the right to write, an entry.
_ACL_USER, _ACL_OWN_GROUP, _ACL_GROUP, _ACL_MASK, _ACL_OTHERS = 0x02, 0x04, 0x08, 0x10, 0x20
_ACL_WRITE = 0x02
_ACL_ENTRY = struct.Struct("<HHI")
_ACL_HEADER_BYTES = 4


def main(words: list[str]) -> None:
    if words[:1] == ["--examine"]:
        sys.exit(refusal(Path(words[1])))
    if words == ["--remains"]:
        print(*remains(), sep="\n")
        return
    if os.geteuid() != 0 or not os.environ.get("SUDO_UID", "").isdecimal():
        sys.exit("netboxit-operator: sudo runs this for the members of a group; call netboxit.py itself")
    if not words or words[0] not in VERBS:
        sys.exit(f"netboxit-operator: operators may use {', '.join(VERBS)}")
    checkout = Path(json.loads(SETTINGS.read_text())["checkout"])
    if why := refusal(checkout):
        sys.exit(f"netboxit-operator: {why}")
    set_limits()
    os.umask(0o022)
    python = environment_of(checkout) / "bin/python"
    start = (str(python), "-E", "-s", str(checkout / "netboxit.py"))
    os.execve(python, (*start, *words), environment(int(os.environ["SUDO_UID"])))


def environment_of(checkout: Path) -> Path:
    """The virtual environment of a checkout; where pip installed NetBoxIT, it is in the packages of that environment itself."""
    return checkout / ".venv" if (checkout / "pyproject.toml").exists() else (checkout / "../../../..").resolve()


def refusal(checkout: Path) -> str | None:
    """Why nobody but root may run what is in there as root; None when only root can have put it there."""
    try:
        wrong = next(Examination(checkout).findings(), None)
    except (OSError, ValueError) as error:
        wrong = f"{error}: it cannot be examined"
    if wrong is None:
        return None
    return (
        f"{wrong}, and what is in {checkout} runs as root for operators: whoever can change it would be root. "
        f"Take that right away, or keep operators' NetBoxIT where only root writes: `git clone` and `make setup` as root "
        f"below /opt"
    )


class Examination:
    """What somebody besides root could change of all that runs as root, or put in its place. `findings` are in no order."""

    def __init__(self, checkout: Path) -> None:
        self._checkout = str(checkout)
        self._environment = str(environment_of(checkout))
        self._data = {f"{os.path.realpath(checkout)}/{name}" for name in _DATA}
        self._kinds = mounted_kinds()
        #: Places and folders that were looked at: nothing was wrong there, or somebody would have stopped.
        self._known: set[str] = set()
        self._walked: set[str] = set()

    def findings(self) -> Iterator[str]:
        """Each is a sentence."""
        for place in (str(SETTINGS), str(PROGRAM), *_PATH.split(":")):
            yield from self.place(place)
        yield from self.tree(self._checkout)
        yield from self.python()
        yield from self.tree(self._environment)

    def place(self, path: str) -> Iterator[str]:
        """Of one file or folder, of each folder on the way to it, and of each link by which that leads."""
        here, waiting, links = "/", list(reversed(path.split("/"))), 0
        yield from self.single("/", passed=bool(waiting))
        while waiting:
            part = waiting.pop()
            if part in ("", "."):
                continue
            if part == "..":
                here = str(Path(here).parent)
                continue
            there = str(Path(here, part))
            try:
                status = os.lstat(there)
            except (FileNotFoundError, NotADirectoryError):
                if os.lstat(here).st_mode & stat.S_IWOTH:
                    yield f"{there} is not root's alone: nothing is there, and anybody may put something there"
                return
            if not stat.S_ISLNK(status.st_mode):
                yield from self.single(there, passed=any(part not in ("", ".") for part in waiting))
                here = there
                continue
            if status.st_uid != 0:
                yield f"{there} is not root's alone: the link belongs to user {status.st_uid}"
            if (links := links + 1) > _MOST_LINKS:
                yield f"{path} leads through more than {_MOST_LINKS} links"
                return
            target = str(Path(there).readlink())
            here = "/" if target.startswith("/") else here
            waiting += reversed(target.split("/"))

    def tree(self, top: str) -> Iterator[str]:
        """The same of all that is below a folder, too, wherever links in it lead."""
        yield from self.place(top)
        waiting = [os.path.realpath(top)]
        while waiting:
            folder = waiting.pop()
            if folder in self._walked or folder in self._data or not Path(folder).is_dir():
                continue
            self._walked.add(folder)
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_symlink():
                        if entry.path not in self._data:
                            yield from self.place(entry.path)
                            waiting.append(os.path.realpath(entry.path))
                    else:
                        yield from self.single(entry.path, status=entry.stat(follow_symlinks=False))
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)

    def python(self) -> Iterator[str]:
        """Where the checkout's interpreter finds modules outside the checkout, and by what the programs beside it are run."""
        environment = self._environment
        settings = python_settings(Path(environment, "pyvenv.cfg"))
        if settings.get("include-system-site-packages", "false").lower() != "false":
            yield f"{environment} has the machine's packages, too (include-system-site-packages, which `make setup` does not set)"
        version = ".".join(settings["version"].split(".")[:2])
        packed = f"python{version.replace('.', '')}.zip"
        for programs in {Path(f"{environment}/bin/python").resolve().parent, Path(settings["home"])}:
            for name in (f"python{version}", packed, f"libpython{version}.so.1.0"):
                yield from self.tree(f"{programs.parent}/lib/{name}")
        for packages in Path(environment).glob("lib/python*/site-packages"):
            for named in (*named_by_path_files(packages), *edited_packages(packages)):
                yield from self.tree(str(named))
        for program in Path(environment, "bin").iterdir():
            if interpreter := interpreter_of(program):
                yield from self.place(interpreter)

    def single(self, path: str, *, passed: bool = False, status: os.stat_result | None = None) -> Iterator[str]:
        """Of a file or folder by itself; `passed`: it is only on the way to something that exists and is looked at next."""
        if (path if passed else f"{path}/.") in self._known:
            return
        status = status or os.lstat(path)
        # In a folder like /tmp nobody renames or removes what is another's.
        kept = passed and stat.S_ISDIR(status.st_mode) and status.st_uid == 0 and bool(status.st_mode & stat.S_ISVTX)
        if (kind := self._kinds.get(status.st_dev)) and _OTHERS_SAY.fullmatch(kind):
            yield f"{path} is on a file system of the kind {kind}, where not this machine's root says who may write"
        elif not kept and (why := others_write(path, status)):
            yield f"{path} is not root's alone: {why}"
        self._known.add(path if passed else f"{path}/.")


def others_write(path: str, status: os.stat_result) -> str | None:
    """Who besides root may write in a folder or file that is no link, or give that right away; None: nobody."""
    if status.st_uid != 0:
        return f"it belongs to user {status.st_uid}"
    if status.st_mode & stat.S_IWOTH:
        return "anybody may write there"
    if status.st_mode & stat.S_IWGRP:
        if status.st_gid != 0:
            return f"group {status.st_gid} may write there"
        # With an access control list these bits are its mask: without them it lets nobody write.
        if named := writers(path, "system.posix_acl_access"):
            return f"its access control list lets {named[0]} write (`getfacl`; `setfacl -b` removes it)"
    if stat.S_ISDIR(status.st_mode):
        named = [one for one in writers(path, "system.posix_acl_default") if status.st_gid != 0 or one != "its group"]
        if named:
            return f"its default access control list lets {named[0]} write what root makes there (`setfacl -k` removes it)"
    return None


def writers(path: str, attribute: str) -> list[str]:
    """Whom besides root an access control list lets write, acl(5); "its group" is the owning one."""
    try:
        told = os.getxattr(path, attribute, follow_symlinks=False)
    except OSError as error:
        if error.errno in (errno.ENODATA, errno.EOPNOTSUPP):  # it has none, its file system knows none
            return []
        raise
    entries = list(_ACL_ENTRY.iter_unpack(told[_ACL_HEADER_BYTES:]))
    mask = next((rights for tag, rights, _ in entries if tag == _ACL_MASK), _ACL_WRITE)
    found = []
    for tag, rights, number in entries:
        if tag == _ACL_OTHERS and rights & _ACL_WRITE:
            found.append("anybody")
        elif tag == _ACL_OWN_GROUP and rights & mask & _ACL_WRITE:
            found.append("its group")
        elif tag in (_ACL_USER, _ACL_GROUP) and number != 0 and rights & mask & _ACL_WRITE:
            found.append(f"{'user' if tag == _ACL_USER else 'group'} {number}")
    return [one for one in found if attribute.endswith("default") or one != "its group"]


def mounted_kinds() -> dict[int, str]:
    """The kind of each mounted file system by its device number, proc_pid_mountinfo(5)."""
    found = {}
    for line in Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines():
        before, _, after = line.partition(" - ")
        major, minor = map(int, before.split()[2].split(":"))
        found[os.makedev(major, minor)] = after.split()[0]
    return found


def python_settings(file: Path) -> dict[str, str]:
    """Of a virtual environment, as Python's module site reads them."""
    pairs = (line.partition("=") for line in file.read_text().splitlines() if "=" in line)
    found = {key.strip().lower(): value.strip() for key, _, value in pairs}
    if not found.get("home", "").startswith("/") or "version" not in found:
        raise ValueError(f"{file} does not say which Python it is of")
    return found


def named_by_path_files(packages: Path) -> Iterator[Path]:
    """What .pth files add to the path of modules (Python's module site)."""
    for file in packages.glob("*.pth"):
        for line in map(str.strip, file.read_text().splitlines()):
            if line and not line.startswith(("#", "import ", "import\t")):
                yield packages / line


def edited_packages(packages: Path) -> Iterator[Path]:
    """Where packages are that were installed to be edited (PEP 610): no .pth file needs to name these."""
    for file in packages.glob("*.dist-info/direct_url.json"):
        said = json.loads(file.read_text())
        if said.get("dir_info", {}).get("editable") and said["url"].startswith("file://"):
            yield Path(unquote(said["url"].removeprefix("file://")))


def interpreter_of(program: Path) -> str | None:
    """By what a script is run, execve(2)."""
    if not program.is_file():
        return None
    with program.open("rb") as file:
        first = file.readline(256)
    words = first.removeprefix(b"#!").split()
    return os.fsdecode(words[0]) if first.startswith(b"#!") and words else None


def remains() -> Iterator[str]:
    """What is left of operators when they are none any more: only root can end it."""
    for file in sorted(LABS.glob("*/owner")):
        yield f"lab {file.parent.name} is up, of user {file.read_text().strip()}: `netboxit down {file.parent.name}` ends it"
    for process in Path("/proc").glob("[0-9]*"):
        file = process / "environ"
        try:
            told = file.read_bytes().split(b"\0") if file.stat().st_uid == 0 else []
        except OSError:  # it has ended
            continue
        for entry in told:
            if entry.startswith(VARIABLE.encode() + b"="):
                number = entry.partition(b"=")[2].decode(errors="replace")
                yield f"process {process.name} works as root for user {number!r}: `kill {process.name}` ends it"


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
    return kept | own | ({VARIABLE: str(operator)} if operator else {})


if __name__ == "__main__":
    main(sys.argv[1:])
