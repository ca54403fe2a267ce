# SPDX-License-Identifier: GPL-2.0-or-later
"""What hosts say of their parts in the management of links, as the program `c2ml` writes it, and as a hostile host could."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from testbed.nodes.management import STATE, PartState

ALLOCATOR = {"name": "sat", "role": "allocator", "capacity": 2_000_000, "share": 1_000_000, "members": 2, "epoch": 7}
MEMBER = {"name": "sat", "role": "member", "state": "member", "budget": 1_000_000, "reachable": True, "shaper": {"error": None}}


def read(folder: Path, *parts: dict[str, Any]) -> list[PartState]:
    (folder / STATE).write_text(json.dumps({"management": parts}))
    states = PartState.read(folder)
    assert states is not None
    return states


def test_allocators_say_what_they_divide_and_members_what_they_have(tmp_path: Path) -> None:
    allocator, member = (state.status() for state in read(tmp_path, ALLOCATOR, MEMBER))
    assert (allocator["capacity"], allocator["share"], allocator["members"], allocator["budget"]) == (
        2_000_000,
        1_000_000,
        2,
        None,
    )
    assert (member["state"], member["budget"], member["reachable"], member["capacity"]) == ("member", 1_000_000, True, None)


def test_their_user_learns_of_silent_allocators_and_budgets_that_nobody_enforces(tmp_path: Path) -> None:
    assert [state.words() for state in read(tmp_path, ALLOCATOR, MEMBER)] == [None, None]
    (silent,) = read(tmp_path, {**MEMBER, "reachable": False})
    assert silent.words() == "it hears no allocator of the managed link sat"
    (refused,) = read(tmp_path, {**MEMBER, "shaper": {"error": "no HTB\x1b[2J"}})
    words = refused.words()
    assert (
        words is not None
        and words.startswith("its budget of the managed link sat is not enforced: no HTB")
        and words.isprintable()
    )
    (late,) = read(tmp_path, {**MEMBER, "group": {"error": "No buffer space\x1b[2J"}})
    words = late.words()
    assert words is not None and words.startswith(
        "announcements of the managed link sat do not reach it, and budgets change late: No"
    )
    assert words.isprintable()


@pytest.mark.parametrize(
    "said",
    [
        *(b"", b"{", b"[]", b"7", b"{}", b'{"management": {}}', b'{"management": [{}]}', b"[" * 100_000, b"\xff\xfe"),
        json.dumps({"management": [{**MEMBER, "budget": "much"}]}).encode(),
        json.dumps({"management": [{**MEMBER, "state": "\x1b[31m"}]}).encode(),
        json.dumps({"management": [{**ALLOCATOR, "members": 2.5}]}).encode(),
    ],
)
def test_what_no_program_of_ours_says_is_nothing(tmp_path: Path, said: bytes) -> None:
    (tmp_path / STATE).write_bytes(said)
    assert PartState.read(tmp_path) is None


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "nothing"])
def test_what_is_put_in_the_place_of_the_state_is_not_followed(tmp_path: Path, kind: str) -> None:
    (tmp_path / "secret").write_text(json.dumps({"management": [MEMBER]}))
    if kind == "link":
        (tmp_path / STATE).symlink_to(tmp_path / "secret")
    elif kind == "pipe":
        os.mkfifo(tmp_path / STATE)
    elif kind == "folder":
        (tmp_path / STATE).mkdir()
    assert PartState.read(tmp_path) is None
