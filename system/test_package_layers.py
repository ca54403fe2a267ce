# SPDX-License-Identifier: GPL-2.0-or-later
"""Packages are installed by the real apt and dpkg, where nobody else sees them; those of these tests are made by hand."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from ownership import state
from system import package_layers
from system.package_layers import Layer, PackagesNotInstalled, layer
from tests.debian_packages import Repository

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="packages are installed by root")

_SCRIPT = """\
mkdir /var/lib/own-tool && useradd --system own-user && chown games /var/lib/own-tool && echo ran >/var/lib/own-tool/x
ln -s x /etc/own-tool/link && echo more >>/etc/hosts
rm -r /usr/share/base-files && mkdir /usr/share/base-files"""
#: What a script tries on the machine; each that works is told.
_TRIES = {
    "mount": "mount -t tmpfs x /mnt",
    "device": "mknod /tmp/device b 7 0",
    "time": "date --set 2001-01-01",
    "sysctl": "echo 1 >/proc/sys/vm/drop_caches",
    "sysrq": "echo h >/proc/sysrq-trigger",
    "memory": "head --bytes 1 /proc/kcore",
    "process": f"kill -0 {os.getpid()}",
    "another root": "unshare --mount true",
    "network": "ip -oneline link | grep -v ' lo: ' | grep .",
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repository]:
    (folder := tmp_path_factory.mktemp("packages")).chmod(0o755)
    made = Repository(folder / "repository")
    files = {"/usr/bin/own-tool": "#!/bin/sh\necho own\n", "/etc/own-tool/x": "a"}
    made.add("own-tool", files, depends="own-library, evil", after=_SCRIPT, modes={"/usr/bin/own-tool": 0o6755})
    made.add("own-library", {"/usr/share/own-library/x": "x"})
    tries = "\n".join(f"if {line} 2>/dev/null; then echo '{name}' >>/usr/share/evil; fi" for name, line in _TRIES.items())
    made.add("evil", {"/usr/share/evil": ""}, after=f"{tries}\ntrue")
    for version in ("1.0", "2.0"):
        made.add("versions", {"/usr/share/versions": version}, version=version)
    made.add("large", {"/usr/share/large": os.urandom(4_000_000).hex()})
    made.add("fails", {"/usr/bin/fails": "x"}, after="exit 3")
    made.add("needs-more", {"/usr/bin/x": "x"}, depends="no-such-library")
    made.add("far-away", {"/opt/far/away": "x"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("APT_CONFIG", str(made.configuration))
        yield made


@pytest.fixture
def store(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NETBOXIT_STATE", str(tmp_path / "state"))
    return tmp_path / "state/layers"


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (place := tmp_path / "state").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "small", place], check=True)
    monkeypatch.setenv("NETBOXIT_STATE", str(place))
    yield place
    subprocess.run(["umount", place], check=True)


@pytest.fixture(scope="module")
def made(repository: Repository, tmp_path_factory: pytest.TempPathFactory) -> Layer:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NETBOXIT_STATE", str(tmp_path_factory.mktemp("state")))
        return layer(["own-tool"])


def made_in(place: str, found: Layer) -> str:
    return (found.folder / place[1:]).read_text()


def left(store: Path) -> set[str]:
    return {entry.name for entry in store.iterdir()}


def test_what_packages_bring_is_in_the_layer_and_not_in_the_machine(made: Layer) -> None:
    assert made.versions() == {"own-tool": "1.0", "own-library": "1.0", "evil": "1.0"}
    assert made_in("/usr/bin/own-tool", made).endswith("echo own\n") and made_in("/usr/share/own-library/x", made) == "x"
    assert made_in("/etc/own-tool/x", made) == "a" and made_in("/var/lib/own-tool/x", made) == "ran\n"
    assert not Path("/usr/bin/own-tool").exists() and not Path("/var/lib/own-tool").exists()
    assert "own-tool" not in Path("/var/lib/dpkg/status").read_text()


def test_accounts_of_debian_and_of_packages_are_known_and_their_secrets_are_not(made: Layer) -> None:
    assert "own-user:x:" in made.accounts("passwd") and "www-data:" in made.accounts("passwd")
    assert "root:" not in made.accounts("passwd")
    assert {entry.name for entry in (made.folder / "etc").iterdir()} == {"own-tool"}, "nor a changed file of the machine's"
    assert "own-user" not in Path("/etc/passwd").read_text()


def test_what_scripts_have_removed_is_hidden(made: Layer) -> None:
    hidden = made.folder / "usr/share/base-files"
    assert (
        {entry.name for entry in hidden.iterdir()} == {entry.name for entry in Path("/usr/share/base-files").iterdir()} != set()
    )
    assert all(entry.is_char_device() and entry.stat().st_rdev == 0 for entry in hidden.iterdir())


def test_scripts_of_packages_reach_nothing_of_the_machine(made: Layer) -> None:
    assert made_in("/usr/share/evil", made) == ""


def test_no_program_has_rights_by_its_mode(made: Layer) -> None:
    assert stat.S_IMODE((made.folder / "usr/bin/own-tool").stat().st_mode) == 0o755


def test_copies_for_a_host_are_its_roots(made: Layer, tmp_path: Path) -> None:
    for part in ("etc", "var"):
        package_layers.copy(made.folder / part, tmp_path / part, 100_000)
    assert (tmp_path / "etc/own-tool/x").stat().st_uid == 100_000 and (tmp_path / "etc/own-tool/link").readlink() == Path("x")
    assert (tmp_path / "var/lib/own-tool").stat().st_uid == 100_005, "the user games has number 5 on each Debian"


def test_a_layer_is_made_once_for_the_same_packages(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newest, named = layer(["versions"]), layer(["versions=1.0"])
    assert (made_in("/usr/share/versions", newest), made_in("/usr/share/versions", named)) == ("2.0", "1.0")
    monkeypatch.setenv("PATH", "")
    assert layer(["versions"]) == newest
    assert left(store) == {"lists", "lock", newest.folder.name, named.folder.name}


def test_what_the_machine_has_already_makes_an_empty_layer(store: Path) -> None:
    found = layer(["coreutils"])
    assert found.versions() == {} and not list((found.folder / "usr/sbin").iterdir())


#: Goes on where what is written below these folders stays in $1.
_ON_ANOTHER_MACHINE = """\
set -e
for part in usr etc var/lib/dpkg; do
    mkdir -p "$1/$part/upper" "$1/$part/work"
    mount -t overlay overlay -o "lowerdir=/$part,upperdir=$1/$part/upper,workdir=$1/$part/work" "/$part"
done
cd "$2"; shift 2
"$@"
"""


@pytest.mark.parametrize(
    ("state_there", "is_made_anew"),
    [
        ("true", True),
        ("dpkg --remove served served-common", True),
        ("dpkg --install needs-served.deb", False),
    ],
    ids=["installed", "removed and not purged", "needed by another package"],
)
def test_hosts_get_the_packages_configuration_and_not_the_administrators(
    state_there: str, is_made_anew: bool, store: Path, tmp_path: Path
) -> None:
    """Of a package that the machine has, too, as openssh-server on each machine that `netboxit setup` prepared."""
    repository = Repository(tmp_path / "repository")
    account = "getent passwd served-user >/dev/null || useradd --system served-user"
    repository.add("served", {"/usr/sbin/served": "new"}, depends="served-common", after=account)
    common = {"/etc/served/settings": "as packed\n", "/etc/served/more": "more\n"}
    repository.add("served-common", common, source="served")
    shutil.copy(repository.add("needs-served", {"/usr/share/needs-served": ""}, depends="served"), tmp_path / "needs-served.deb")
    (tmp_path / "outside").mkdir()
    there = f"""\
    dpkg --install {tmp_path}/repository/packages/served*.deb
    echo 'password=secret' >>/etc/served/settings; rm /etc/served/more; echo secret >/etc/served/of-the-administrator
    {state_there}
    exec "$@"
    """
    asked = f"""\
import sys; sys.path.insert(0, "{CHECKOUT}")
from system.package_layers import layer
made = layer(["served"]); print(made.folder, *sorted(made.versions()))"""
    shell = ["sh", "-c", there, "sh", sys.executable, "-c", asked]
    enter = ["unshare", "--mount", "--propagation", "private", "sh", "-c", _ON_ANOTHER_MACHINE, "sh", str(tmp_path / "outside")]
    environment = {**os.environ, "APT_CONFIG": str(repository.configuration)}
    done = subprocess.run([*enter, str(tmp_path), *shell], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    folder, *packages = done.stdout.splitlines()[-1].split()
    assert packages == (["served", "served-common"] if is_made_anew else [])
    brought = {file.name: file.read_text() for file in Path(folder, "etc").rglob("*") if file.is_file()}
    assert brought == ({"settings": "as packed\n", "more": "more\n"} if is_made_anew else {})
    assert ("served-user:" in Path(folder, "passwd").read_text()) == is_made_anew


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["no-such-thing"], "Unable to locate package no-such-thing"),
        (["fails"], "post-installation script subprocess returned error exit status 3"),
        (["needs-more"], "needs-more : Depends: no-such-library but it is not installable"),
        (["far-away"], "hosts do not see /opt, where it puts far"),
        (["versions=7"], "Version '7' for 'versions' was not found"),
    ],
)
def test_what_cannot_be_installed_is_told_and_leaves_nothing(names: list[str], said: str, store: Path) -> None:
    with pytest.raises(PackagesNotInstalled, match=said):
        layer(names)
    assert left(store) == {"lists", "lock"}


def test_a_full_disk_is_told_in_dpkgs_words_and_leaves_nothing(repository: Repository, small_disk: Path) -> None:
    with pytest.raises(PackagesNotInstalled, match=r"(?s)^large cannot be installed:\n    dpkg: error.*No space left on device"):
        layer(["large"])
    assert left(small_disk / "layers") == {"lists", "lock"}


def test_a_source_without_anything_hinders_nothing_and_is_told_where_something_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o755)
    repository = Repository(tmp_path / "repository")
    repository.add_source_without_anything()
    repository.add("own-tool", {"/usr/bin/own-tool": "x"})
    monkeypatch.setenv("APT_CONFIG", str(repository.configuration))
    monkeypatch.setenv("NETBOXIT_STATE", str(tmp_path / "state"))
    assert made_in("/usr/bin/own-tool", layer(["own-tool"])) == "x"
    with pytest.raises(PackagesNotInstalled, match=r"(?s)Unable to locate package no-such-thing.*no-packages"):
        layer(["no-such-thing"])


def test_what_nobody_uses_goes_when_another_layer_is_made(store: Path) -> None:
    """Of a command that was killed, and of long ago."""
    (store / "new/usr").mkdir(parents=True)
    for name in ("old", "used", "recent"):
        (store / name).mkdir()
        (store / name / "packages.json").write_text("{}")
    for name in ("old", "used"):
        os.utime(store / name, (0, 0))
    (configuration := state.labs_folder() / "x/containers/nbx-x-a/config").parent.mkdir(parents=True)
    configuration.write_text(f"lxc.mount.entry = overlay usr overlay ro,lowerdir={store}/used/usr:/usr 0 0\n")
    found = layer(["coreutils"])
    assert left(store) == {"lists", "lock", "used", "recent", found.folder.name}
