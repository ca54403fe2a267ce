# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from contracts.errors import BadTopology
from testbed.description.yaml_source import LARGEST_FILE_BYTES, Position, Source, plain_scalar, read


def source_of(tmp_path: Path, text: str | bytes) -> Source:
    file = tmp_path / "lab.yaml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return read(file)


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("", 1, 1, "the file is empty"),
        ("# nothing\n", 1, 1, "the file is empty"),
        ("- a\n", 1, 1, "not a mapping of keys to values at its top"),
        ("just text", 1, 1, "not a mapping of keys to values at its top"),
        ("hosts:\n\tfr1: {}\n", 2, 1, "a tab is used to indent; indent with spaces"),
        ("name: a: b\n", 1, 8, "a second colon on this line"),
        ("name rescue\nseed: 7\n", 1, 1, "a key without its colon"),
        ("name: a\nseed:7\nhosts: {}\n", 2, 1, "a key without its colon"),
        ("a: 1\nb:\n  c: 1\n  - d\n", 4, 3, "an item of a list stands among keys"),
        ("a:\n  - b\n  c: 1\n", 3, 3, "a key stands among items of a list"),
        ("a: {b: 1}}\n", 1, 10, "a bracket closes here that none has opened"),
        ("wires: [a,, b]\n", 1, 11, "a value is missing here"),
        ("wires:\n  - [a,\n", 3, 1, "a list or mapping in brackets is not closed"),
        ("wires: [a, b\n", 1, 8, "a list or mapping in brackets is not closed"),
        ("name: 'a\n", 1, 7, "the file ends inside a quoted text"),
        ("name: *lost\n", 1, 7, "an alias to an anchor that is not there"),
        ("name: @a\n", 1, 7, "a word may not start with this character; put the text in quotes"),
        ("name: a\n---\nname: b\n", 2, 1, "a second document starts here"),
        ("name: a\x01\n", 1, 8, "character U+0001 may not stand in YAML"),
        (b"name: a\nseed: \xff\n", 2, 7, "byte 0xff is not UTF-8; save the file in UTF-8"),
        ("a: &a {b: *a}\n", 1, 4, "an alias stands inside what it is an alias of"),
        ('a: "\\ud800"\n', 1, 4, "an escape stands for half a character"),
        ("[" * 1000, 1, 1, "nested too deeply"),
        ("%YAML 3.0\n---\na: 1\n", 1, 1, "a directive that is not understood"),
    ],
)
def test_what_is_not_yaml_is_told_with_its_place(tmp_path: Path, text: str | bytes, line: int, column: int, words: str) -> None:
    with pytest.raises(BadTopology) as told:
        source_of(tmp_path, text)
    (error,) = told.value.errors
    assert (error.line, error.column) == (line, column)
    assert words in str(error)
    assert told.value.exit_status == 2


def test_a_missing_file_a_folder_and_a_device_are_refused(tmp_path: Path) -> None:
    for path, words in (
        (tmp_path / "none.yaml", "No such file"),
        (tmp_path, "is a directory"),
        (Path("/dev/zero"), "not an ordinary"),
    ):
        with pytest.raises(BadTopology, match=words):
            read(path)


def test_a_huge_file_is_refused_without_being_parsed(tmp_path: Path) -> None:
    with pytest.raises(BadTopology, match="is larger than 256 KiB"):
        source_of(tmp_path, b"#" * (LARGEST_FILE_BYTES + 1))


def test_aliases_of_aliases_are_refused_before_they_fill_the_memory(tmp_path: Path) -> None:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    with pytest.raises(BadTopology, match="more than 50000 values"):
        source_of(tmp_path, "\n".join(levels))


def test_values_and_keys_have_positions_from_one(tmp_path: Path) -> None:
    source = source_of(tmp_path, "name: a\nwires:\n  - [fr1, eoc]\n")
    assert source.values["wires", 0, 1] == Position(3, 11)
    assert source.keys["wires",] == Position(2, 1)


def test_a_place_that_the_file_does_not_have_is_told_at_the_nearest_one(tmp_path: Path) -> None:
    error = source_of(tmp_path, "hosts:\n  fr1: {gateway: 1}\n").bad(("hosts", "fr1", "function", "address", 0), "wrong")
    assert (error.line, error.column) == (2, 8)


def test_every_duplicate_key_is_told_and_reading_goes_on(tmp_path: Path) -> None:
    source = source_of(tmp_path, "name: a\nname: b\nhosts: {x: 1, x: 2}\n")
    assert [(error.line, error.column) for error in source.defects] == [(2, 1), (3, 15)]
    assert source.data == {"name": "a", "hosts": {"x": 1}}


def test_what_a_merged_mapping_merges_is_merged_too(tmp_path: Path) -> None:
    """YAML merge key, working draft of 2005: the keys of the merged mapping, which are those that it has after its own merges."""
    source = source_of(tmp_path, "a: &a {x: 1, y: 2}\nb: &b {<<: *a, y: 3, z: 4}\nc: &c {<<: *b, w: 5}\nd: {<<: *c, x: 6}\n")
    assert source.data["c"] == {"x": 1, "y": 3, "z": 4, "w": 5}
    assert source.data["d"] == {"x": 6, "y": 3, "z": 4, "w": 5}


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("a: &a {<<: &b {<<: *a}}\n", "merges one other mapping"),
        ("a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: *a{n - 1}, <<: *a{n - 1}}}\n" for n in range(1, 49)), "merges one"),
        ("a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: *a{n - 1}}}\n" for n in range(1, 60)), "more than 50 mappings"),
    ],
)
def test_merges_without_end_are_refused(text: str, cause: str, tmp_path: Path) -> None:
    source = source_of(tmp_path, text)
    assert any(cause in defect.cause for defect in source.defects)


def test_anchors_aliases_and_merges_are_understood(tmp_path: Path) -> None:
    source = source_of(tmp_path, "a: &a {x: 1, y: 2}\nb: *a\nc: {<<: *a, y: 3}\n")
    assert source.data == {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 2}, "c": {"x": 1, "y": 3}}
    assert source.defects == []


def test_tags_of_programming_languages_are_refused(tmp_path: Path) -> None:
    (defect,) = source_of(tmp_path, "name: !!python/object/apply:os.getcwd []\nseed: !!python/name:os 1\n").defects
    assert "is not used here" in defect.cause


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("yes", "yes"),
        ("true", True),
        ("null", None),
        ("~", None),
        ("", None),
        ("1e-6", 1e-6),
        ("5", 5),
        ("010", 10),
        ("0x10", 16),
        ("0o10", 8),
        ("1:30", "1:30"),
        ("2012-12-12", "2012-12-12"),
        ("802.11a", "802.11a"),
        ("10.10.0.1", "10.10.0.1"),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_unquoted_words_mean_what_yaml_1_2_says(text: str, value: object) -> None:
    assert plain_scalar(text) == value


def test_quoted_words_are_text(tmp_path: Path) -> None:
    assert source_of(tmp_path, "a: '5'\nb: \"true\"\nc: !!str 5\n").data == {"a": "5", "b": "true", "c": "5"}


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    assert source_of(tmp_path, "\ufeffname: a\n").data == {"name": "a"}


def test_what_an_error_quotes_stays_on_one_line(tmp_path: Path) -> None:
    error = source_of(tmp_path, "name: a\n").bad(("name",), f"'{'x' * 500}' and \n and \x1b[31m")
    assert len(str(error)) < 200 + len(str(tmp_path))
    assert str(error).isprintable()
