# SPDX-License-Identifier: GPL-2.0-or-later
"""What `netboxit-operator` looks at before it runs a checkout as root: whether only root may write all that root runs.

Each test spoils one thing of a sound checkout: two modules, a Python of its own, git's folder and what runs wrote.
"""

from __future__ import annotations

import os
import runpy
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.main import get_command

from contracts.installation import CHECKOUT
from netboxit import app

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")

STRANGER = 65533
SITE = ".venv/lib/python3.11/site-packages"
#: The program is no module: it is installed by itself.
OPERATOR = runpy.run_path(str(CHECKOUT / "ansible/netboxit_operator.py"))


def test_each_command_is_for_operators_or_is_known_not_to_be() -> None:
    commands = set(get_command(app).commands)  # type: ignore[attr-defined]
    # Labs of a campaign are made by commands of their own, which get the rights that they need.
    needing_no_rights = {"doctor", "check", "report", "manual", "schema", "campaign", "compare", "export", "import"}
    of_root = {"bench", "part", "setup"}
    assert commands - set(OPERATOR["VERBS"]) == needing_no_rights | of_root
    assert set(OPERATOR["VERBS"]) <= commands


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    made = tmp_path / "netboxit"
    for folder in ("testbed/__pycache__", "results/runs/1", "results/bench", ".git/hooks", "build", SITE, ".venv/bin"):
        (made / folder).mkdir(parents=True)
    for file in ("netboxit.py", "pyproject.toml", "testbed/__pycache__/a.pyc", "results/way.py", ".git/config", "build/netbox"):
        (made / file).touch()
    (made / ".venv/pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.11.2\n")
    (made / ".venv/bin/python").symlink_to("/usr/bin/python3")
    (made / ".venv/lib64").symlink_to("lib")
    return made


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """NetBoxIT as pip installs it, in an environment of its own."""
    made = tmp_path / "environment/lib/python3.11/site-packages/netboxit"
    for folder in (made / "testbed", made.parent / "numpy", tmp_path / "environment/bin"):
        folder.mkdir(parents=True)
    (made / "netboxit.py").touch()
    (tmp_path / "environment/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
    (tmp_path / "environment/bin/python").symlink_to("/usr/bin/python3")
    return made


def test_a_package_is_examined_with_all_of_its_environment(package: Path, tmp_path: Path) -> None:
    assert told(package) == ""
    for place in ("bin/netboxit", "lib/python3.11/site-packages/numpy/core.py", "lib/python3.11/site-packages/netboxit/results"):
        spoiled = strangers(tmp_path / "environment" / place)
        assert f"{spoiled} is not root's alone: it belongs to user {STRANGER}" in told(package)
        spoiled.rmdir()
    assert told(package) == ""


def told(checkout: Path) -> str:
    """What speaks against it; empty when nothing does."""
    return OPERATOR["refusal"](checkout) or ""


def strangers(path: Path) -> Path:
    """A place that belongs to somebody else, made if it is not there."""
    if not path.exists():
        path.mkdir(parents=True)
    os.chown(path, STRANGER, STRANGER)
    return path


def allow(path: Path, attribute: str, *, mask: int = 0o7) -> None:
    """Lets the stranger write by an access control list (linux/posix_acl_xattr.h)."""
    entries = [(0x01, 7, -1), (0x02, 7, STRANGER), (0x04, 5, -1), (0x10, mask, -1), (0x20, 5, -1)]
    packed = b"".join(struct.pack("<HHi", *entry) for entry in entries)
    try:
        os.setxattr(path, f"system.posix_acl_{attribute}", struct.pack("<I", 2) + packed)
    except OSError as error:
        pytest.skip(f"no access control lists here: {error.strerror}")


def test_a_checkout_of_roots_is_none_of_anybodys(checkout: Path) -> None:
    assert told(checkout) == ""
    (checkout / "testbed").chmod(0o775)  # of root's group
    strangers(checkout / "results/runs/1")  # an operator's run, which nothing imports
    (checkout / "results/latest").symlink_to(strangers(checkout.parent / "home"))
    (checkout / "nowhere").symlink_to("/nonexistent/nowhere")  # nobody but root can make it
    assert told(checkout) == ""


@pytest.mark.parametrize(
    "where",
    [
        *("results", "results/way.py", "results/runs", ".git", ".git/hooks", ".git/config", "testbed/__pycache__"),
        *("testbed/__pycache__/a.pyc", "build", "build/netbox", SITE, ".venv/bin", ".venv/pyvenv.cfg", "", ".."),
    ],
)
def test_whatever_root_would_run_is_roots_alone(where: str, checkout: Path) -> None:
    place = checkout / where
    mode = place.stat().st_mode
    place.chmod(mode | 0o002)
    assert f"{place.resolve()} is not root's alone: anybody may write there" in told(checkout)
    place.chmod(mode | 0o020)
    os.chown(place, 0, STRANGER)
    assert f"{place.resolve()} is not root's alone: group {STRANGER} may write there" in told(checkout)
    place.chmod(mode)
    assert told(checkout) == ""
    os.chown(place, STRANGER, 0)
    assert f"{place.resolve()} is not root's alone: it belongs to user {STRANGER}" in told(checkout)


@pytest.mark.parametrize("where", ["results/way.py", ".git", SITE, "", ".."])
def test_access_control_lists_are_looked_at(where: str, checkout: Path) -> None:
    place = checkout / where
    allow(place, "access", mask=0o5)
    assert told(checkout) == "", "the mask takes the right away again"
    allow(place, "access")
    assert f"{place.resolve()} is not root's alone: its access control list lets user {STRANGER} write" in told(checkout)


def test_default_access_control_lists_are_looked_at(checkout: Path) -> None:
    allow(checkout / "testbed", "default", mask=0o5)
    assert told(checkout) == ""
    allow(checkout / "testbed", "default")
    assert f"testbed is not root's alone: its default access control list lets user {STRANGER} write" in told(checkout)


def by_way_of_a_stranger(checkout: Path) -> None:
    """A link to a link: who has the second one says where it leads, though it leads to root's today."""
    (home := strangers(checkout.parent / "home")).joinpath("link").symlink_to("/usr/bin/env")
    (checkout / "build/tool").symlink_to(home / "link")


def to_a_folder_with_a_strangers_file(checkout: Path) -> None:
    (outside := checkout.parent / "outside/deep").mkdir(parents=True)
    strangers(outside / "module")
    (checkout / "extra").symlink_to(checkout.parent / "outside")


def to_what_anybody_may_make(checkout: Path) -> None:
    (shared := checkout.parent / "shared").mkdir()
    shared.chmod(0o1777)
    (checkout / "build/plugin").symlink_to(shared / "plugin")


def by_a_path_file(checkout: Path) -> None:
    strangers(checkout.parent / "home")
    (checkout / SITE / "more.pth").write_text(f"# more\n{checkout.parent / 'home'}\n")


def by_an_edited_package(checkout: Path) -> None:
    strangers(checkout.parent / "my home")
    (information := checkout / SITE / "own-1.dist-info").mkdir()
    url = f"file://{checkout.parent}/my%20home"
    (information / "direct_url.json").write_text(f'{{"url": "{url}", "dir_info": {{"editable": true}}}}')


def by_the_interpreters_modules(checkout: Path) -> None:
    """Its binary is root's, a module that it brings is not."""
    python = checkout.parent / "python"
    (python / "bin").mkdir(parents=True)
    (python / "bin/python3").touch()
    strangers(python / "lib/python3.11/json")
    (checkout / ".venv/bin/python").unlink()
    (checkout / ".venv/bin/python").symlink_to(python / "bin/python3")


def by_what_a_program_is_run_by(checkout: Path) -> None:
    (checkout / ".venv/bin/ansible").write_text(f"#!{strangers(checkout.parent / 'home')}/python\n")


@pytest.mark.parametrize(
    "spoil",
    [
        by_way_of_a_stranger,
        to_a_folder_with_a_strangers_file,
        to_what_anybody_may_make,
        by_a_path_file,
        by_an_edited_package,
        by_the_interpreters_modules,
        by_what_a_program_is_run_by,
    ],
)
def test_whatever_code_is_found_by_is_roots_alone(spoil: Callable[[Path], None], checkout: Path) -> None:
    spoil(checkout)
    assert "is not root's alone" in told(checkout)


def test_modules_of_the_machine_are_not_for_operators(checkout: Path) -> None:
    settings = checkout / ".venv/pyvenv.cfg"
    settings.write_text(settings.read_text().replace("false", "true"))
    assert "include-system-site-packages" in told(checkout)


def test_what_cannot_be_examined_is_refused(checkout: Path) -> None:
    (checkout / ".venv/pyvenv.cfg").unlink()
    assert "cannot be examined" in told(checkout)
    assert "cannot be examined" in told(checkout / "nothing")
