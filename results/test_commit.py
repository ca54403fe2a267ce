# SPDX-License-Identifier: GPL-2.0-or-later
"""The commit of a checkout, as git itself says it, and without anything run that the repository names."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from results.commit import commit


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    made = tmp_path / "checkout"
    made.mkdir()
    git(made, "init", "--quiet")
    for name in ("a", "b"):
        (made / name).write_text(name)
        git(made, "add", name)
        git(made, "commit", "--quiet", "-m", name)
    return made


def git(folder: Path, *words: str) -> str:
    who = {f"GIT_{role}_{what}": "a@b" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return subprocess.run(
        ["git", *words], cwd=folder, env=os.environ | who, capture_output=True, text=True, check=True
    ).stdout.strip()


def described(checkout: Path) -> str:
    return git(checkout, "describe", "--always", "--dirty", "--abbrev=12")


def test_it_is_what_git_says(checkout: Path) -> None:
    assert commit(checkout) == described(checkout)
    (checkout / "new").touch()
    assert commit(checkout) == described(checkout), "what no commit has is not looked at"
    (checkout / "a").write_text("changed")
    assert commit(checkout) == described(checkout)
    assert str(commit(checkout)).endswith("-dirty")
    git(checkout, "add", "a")
    assert commit(checkout) == described(checkout), "what is staged differs from the commit, too"


def test_it_is_found_wherever_git_keeps_it(checkout: Path) -> None:
    git(checkout, "pack-refs", "--all")
    git(checkout, "gc", "--quiet")
    assert commit(checkout) == described(checkout)
    git(checkout, "worktree", "add", "--quiet", "../other", "HEAD~1")
    assert commit(checkout.parent / "other") == described(checkout.parent / "other") != described(checkout)
    git(checkout, "checkout", "--quiet", "--detach", "HEAD~1")
    assert commit(checkout) == described(checkout)


def test_what_is_no_repository_has_none(tmp_path: Path) -> None:
    assert commit(tmp_path) is None
    git(tmp_path, "init", "--quiet")
    assert commit(tmp_path) is None, "there is no commit yet"


def test_nothing_is_run_that_the_repository_names(checkout: Path) -> None:
    """Each of these has git run a program when it looks for changes."""
    ran = checkout.parent / "ran"
    program = checkout.parent / "program"
    program.write_text(f'#!/bin/sh\necho "$0 $@" >> {ran}\ncat\n')
    program.chmod(0o755)
    hooks = checkout / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "post-index-change").symlink_to(program)
    for key in ("core.fsmonitor", "filter.x.clean", "filter.x.process", "core.sshCommand", "core.askPass", "core.gitProxy"):
        git(checkout, "config", key, str(program))
    (checkout / ".git/info/attributes").write_text("* filter=x\n")
    (checkout / ".gitattributes").write_text("* filter=x\n")
    for name in ("a", "b"):
        os.utime(checkout / name, (0, 0))  # so that git has to read it
    assert commit(checkout) is not None
    assert not ran.exists(), ran.read_text()
    subprocess.run(["git", "status"], cwd=checkout, capture_output=True, check=False)
    assert ran.exists(), "git itself runs them"
