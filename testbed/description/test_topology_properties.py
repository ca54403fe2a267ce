# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever a file holds, it is a topology with a plan, or its writer is told what is wrong; nothing else happens."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.errors import BadTopology
from contracts.installation import CHECKOUT
from contracts.plan import RealtimeSupport
from testbed.description.topology_file import load
from testbed.plans.resolve import resolve

_WHOLE = (CHECKOUT / "topologies" / "emergency.yaml").read_text().splitlines()
#: Without comments, in which nothing can go wrong.
LINES = [line for line in _WHOLE if line.strip() and not line.lstrip().startswith("#")]

#: Words that mean something to YAML, to a topology, or to neither.
WORDS = st.sampled_from(
    [
        *("null", "~", "[]", "{}", "''", "5", "-1", "1e999", ".inf", "true", "no", "0x10", "[a, b]", "{a: b}", "*x", "&x", "<<:"),
        *("!!int", "!!str", "\\", '"', "'", "|", ">", "%", "@", "`", "---", "...", "#", ",", ":", "?", "-", "\t", "é", "x" * 20),
        *(
            "fr1",
            "eoc",
            "field",
            "field.responder",
            "meoc.ian",
            "longhaul",
            "name",
            "default",
            "lo",
            "wifi",
            "wimax",
            "satellite",
        ),
        *(
            "10.10.0.1/24",
            "10.10.0.11",
            "0.0.0.0/0",
            "::1/64",
            "fd00::1/64",
            "80 m",
            "ms",
            "5 dBm",
            "call",
            "camera",
            "ef",
            "uplink",
        ),
    ]
)

SETTINGS = settings(max_examples=70, derandomize=True)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mutants") / "mutant.yaml"


def load_or_be_told(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    lines = content.count(b"\n") + content.count(b"\r") + 1
    try:
        topology = load(file)
    except BadTopology as told:
        assert told.errors
        for error in told.errors:
            assert 1 <= error.line <= lines + 1
            assert error.column >= 1
            assert error.cause.isprintable()
        assert told.errors == sorted(told.errors, key=lambda error: error.line)
    else:
        resolve(topology, cores=(0, 1, 2), realtime=RealtimeSupport(True, 950_000, ""))


@SETTINGS
@given(content=st.binary(max_size=60))
def test_any_bytes(file: Path, content: bytes) -> None:
    load_or_be_told(file, content)


@SETTINGS
@given(text=st.text(st.sampled_from("ab:-[]{},'\"&*<!|>%#?\\\n \t\x85\u2028é1"), max_size=60))
def test_any_text_with_the_characters_of_yaml(file: Path, text: str) -> None:
    load_or_be_told(file, text.encode())


@SETTINGS
@given(index=st.integers(0, len(LINES) - 1), word=WORDS)
def test_the_emergency_network_with_another_value(file: Path, index: int, word: str) -> None:
    key, colon, _ = LINES[index].partition(":")
    load_or_be_told(file, "\n".join([*LINES[:index], f"{key}{colon} {word}", *LINES[index + 1 :]]).encode())


@SETTINGS
@given(index=st.integers(0, len(LINES) - 1), place=st.integers(0, 60), length=st.integers(0, 3), word=WORDS | st.just(""))
def test_the_emergency_network_with_some_characters_replaced(file: Path, index: int, place: int, length: int, word: str) -> None:
    line = LINES[index]
    load_or_be_told(file, "\n".join([*LINES[:index], line[:place] + word + line[place + length :], *LINES[index + 1 :]]).encode())


@SETTINGS
@given(index=st.integers(0, len(LINES) - 1), count=st.integers(1, 4), to=st.integers(0, len(LINES)), keep=st.booleans())
def test_the_emergency_network_with_lines_lost_moved_or_doubled(file: Path, index: int, count: int, to: int, keep: bool) -> None:
    cut = LINES[index : index + count]
    rest = LINES if keep else LINES[:index] + LINES[index + count :]
    load_or_be_told(file, "\n".join([*rest[:to], *cut, *rest[to:]]).encode())


@SETTINGS
@given(index=st.integers(0, len(LINES) - 1), indent=st.integers(0, 8))
def test_the_emergency_network_with_a_line_indented_otherwise(file: Path, index: int, indent: int) -> None:
    load_or_be_told(file, "\n".join([*LINES[:index], " " * indent + LINES[index].lstrip(), *LINES[index + 1 :]]).encode())
