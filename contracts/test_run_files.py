# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest
from typing_extensions import TypedDict

from contracts.plan import Plan
from contracts.run_files import DamagedRun, read, read_lines


class Thing(TypedDict):
    name: str
    sizes: list[int]


WHOLE = '{"name": "a", "sizes": [1, 2]}'
DAMAGES = {
    "cut": (WHOLE[:10].encode(), "is not JSON: Unterminated string"),
    "empty": (b"", "is not JSON: Expecting value"),
    "no text": (b'{"name": "\x80"}', "its byte 10 is not UTF-8"),
    "another thing": (b"[1]", "all of it: Input should be a valid dictionary"),
    "nothing": (b"null", "all of it: Input should be a valid dictionary"),
    "nested": (b"[" * 50_000, "is not JSON of a run: it is nested too deeply"),
    "a part": (b'{"name": "a"}', "sizes: Field required"),
    "a value": (b'{"name": "a", "sizes": [1, "x"]}', "sizes.1: Input should be a valid integer"),
}


def test_a_file_is_read_as_what_it_holds_without_keys_that_nobody_knows(tmp_path: Path) -> None:
    (tmp_path / "thing.json").write_text('{"name": "a", "more": null, "sizes": [1, 2]}')
    assert read(tmp_path / "thing.json", Thing) == {"name": "a", "sizes": [1, 2]}


@pytest.mark.parametrize("place", [Path("thing.json"), Path("nowhere/thing.json"), Path("/dev/null/thing.json")])
def test_an_absent_file_is_none(tmp_path: Path, place: Path) -> None:
    assert read(tmp_path / place, Thing) is None
    assert not list(read_lines(tmp_path / place, Thing))


@pytest.mark.parametrize("damage", DAMAGES)
def test_of_a_damaged_file_the_place_is_told_in_one_line(tmp_path: Path, damage: str) -> None:
    content, told = DAMAGES[damage]
    (file := tmp_path / "thing.json").write_bytes(content)
    with pytest.raises(DamagedRun) as raised:
        read(file, Thing)
    assert raised.value.damage.startswith(told)
    assert str(raised.value) == f"{file} is damaged: {raised.value.damage}" and str(raised.value).isprintable()


def test_names_in_a_file_do_not_reach_a_terminal(tmp_path: Path) -> None:
    (file := tmp_path / "thing.json").write_text('{"\\u001b[31m": "x"}')
    with pytest.raises(DamagedRun, match="Input should be a valid integer") as raised:
        read(file, dict[str, int])
    assert raised.value.damage.isprintable()


def test_a_folder_where_a_file_should_be_is_told(tmp_path: Path) -> None:
    with pytest.raises(DamagedRun, match="cannot be read: Is a directory"):
        read(tmp_path, Thing)


def test_incomplete_lines_are_ignored_and_another_thing_is_told_with_its_line(tmp_path: Path) -> None:
    (file := tmp_path / "things.jsonl").write_text(f"{WHOLE}\n{WHOLE[:9]}")
    assert [one["name"] for one in read_lines(file, Thing)] == ["a"]
    file.write_text(f"{WHOLE}\n{{}}\n")
    with pytest.raises(DamagedRun, match=r"things\.jsonl is damaged: line 2: name: Field required"):
        list(read_lines(file, Thing))


def test_a_plan_is_read_as_a_plan(tmp_path: Path) -> None:
    plan = Plan("lab", "lab.yaml", 1, (), (), (), 1e-3, "mark")
    assert Plan.from_json(plan.to_json()) == plan
    (tmp_path / "plan.json").write_text('{"lab": 1}')
    with pytest.raises(DamagedRun, match="lab: Input should be a valid string"):
        read(tmp_path / "plan.json", Plan)
