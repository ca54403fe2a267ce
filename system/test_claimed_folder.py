# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from system import claimed_folder, kernel, rings
from system.claimed_folder import NotClaimed
from tests import machine_parts, strangers

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="another user's objects have to be made")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder like /dev/shm, and in it the name of our own."""
    shared = Path("/dev/shm") / f"claimed-{os.getpid()}"
    shared.mkdir()
    shared.chmod(0o1777)
    monkeypatch.setattr(rings, "FOLDER", shared / "netboxit")
    yield shared / "netboxit"
    subprocess.run(["rm", "-rf", "--one-file-system", str(shared)], check=True, timeout=60)


def is_claimed(place: Path) -> bool:
    status = place.lstat()
    return (stat.S_ISDIR(status.st_mode), stat.S_IMODE(status.st_mode), status.st_uid) == (True, 0o711, 0)


def others(place: Path) -> list[Path]:
    return [entry for entry in place.parent.iterdir() if entry != place]


@pytest.mark.parametrize(
    ("made", "left"),
    [
        ("os.mkdir(place)", 0),
        ("os.mkdir(place, 0o1777); os.mkdir(place + '/lab')", 1),
        ("os.symlink('/etc', place)", 0),
        ("os.symlink(place, place)", 0),
        ("os.mkfifo(place)", 1),
        ("open(place, 'w').write('mine')", 1),
    ],
)
def test_what_a_stranger_made_first_gives_way_and_what_is_in_it_stays_theirs(made: str, left: int, place: Path) -> None:
    strangers.run(f"import os, sys\nplace = sys.argv[1]\n{made}", place)
    note = claimed_folder.claim(place)
    assert note is not None and note.startswith(f"{place} was of user {strangers.STRANGER}; it is ")
    assert is_claimed(place) and not list(place.iterdir())
    assert len(others(place)) == left
    assert all(entry.lstat().st_uid == strangers.STRANGER and str(entry) in note for entry in others(place))
    assert claimed_folder.claim(place) is None


def test_links_of_a_stranger_lead_no_removal_elsewhere(place: Path, tmp_path: Path) -> None:
    """After the machine's start, say, `down` looks for wires of which nothing is there any more."""
    kept = tmp_path / "lab" / "wire"
    kept.mkdir(parents=True)
    for folder in (tmp_path.parent.parent, tmp_path.parent, tmp_path):
        folder.chmod(0o711)
    strangers.run("import os, sys\nos.symlink(sys.argv[1], sys.argv[2])", tmp_path, place)
    rings.delete("lab", "wire")
    assert kept.is_dir()


@pytest.mark.timeout(60)
def test_a_file_system_of_a_stranger_that_never_answers_gives_way(place: Path) -> None:
    """As fusermount3(1) mounts it with `allow_other`; nobody reads what the kernel asks it."""
    if not Path("/dev/fuse").exists():
        pytest.skip("this kernel has no FUSE")
    strangers.run("import os, sys\nos.mkdir(sys.argv[1])", place)
    asked = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    try:
        user = strangers.STRANGER
        options = f"fd={asked},rootmode=40000,user_id={user},group_id={user},allow_other"
        machine_parts.mount("stranger", str(place), "fuse", data=options)
        try:
            code = "import sys; from system import claimed_folder; from pathlib import Path"
            claim = [sys.executable, "-c", f"{code}; print(claimed_folder.claim(Path(sys.argv[1])))", str(place)]
            note = subprocess.run(claim, capture_output=True, text=True, timeout=20, check=True).stdout
        except BaseException:
            kernel.unmount(place)
            raise
    finally:
        os.close(asked)
    assert is_claimed(place) and others(place) == []
    assert f"{place} was of user {user}" in note


def test_a_stranger_who_makes_it_again_and_again_does_not_keep_it(place: Path) -> None:
    makes = "os.mkdir(sys.argv[1]); os.rmdir(sys.argv[1])"
    again = f"import os, sys\nprint(flush=True)\nwhile True:\n try: {makes}\n except OSError: pass"
    stranger = {"user": strangers.STRANGER, "group": strangers.STRANGER, "extra_groups": []}
    argv = ["/usr/bin/python3", "-c", again, str(place)]
    with subprocess.Popen(argv, **stranger, cwd="/", stdout=subprocess.PIPE) as process:  # type: ignore[call-overload]
        try:
            process.stdout.readline()
            for _ in range(200):
                claimed_folder.claim(place)
                assert is_claimed(place)
                place.rmdir()
        finally:
            process.kill()


@pytest.mark.parametrize("make", [Path.touch, lambda place: place.symlink_to("/etc")])
def test_what_root_itself_put_there_is_left_to_root(make: Callable[[Path], None], place: Path) -> None:
    make(place)
    with pytest.raises(NotClaimed, match="only root can have put it there; remove or unmount it"):
        claimed_folder.claim(place)
    assert not claimed_folder.is_own(place)
    assert place.is_symlink() or place.is_file()


def test_a_wire_is_made_where_a_stranger_was_first(place: Path) -> None:
    strangers.run("import os, sys\nos.mkdir(sys.argv[1], 0o777)\nos.mkdir(sys.argv[1] + '/lab')", place)
    rings.check_free("lab", "one")
    assert (rings.claim() or "").startswith(f"{place} was of user {strangers.STRANGER}; it is {place.parent}/.netboxit-")
    wire = rings.create("lab", "one", 1 << 16)
    assert {file.stat().st_uid for file in (wire, *wire.iterdir())} == {0}
    rings.delete("lab", "one")
    assert not place.exists()
