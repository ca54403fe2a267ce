# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from testbed.description.test_topology import PAIR, load_text
from testbed.description.wire_ends import ends_of


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("fr1--field", ("fr1", "field")),
        ("fr1.eth0--field.responder", ("fr1.eth0", "field.responder")),
        (" fr1 -- field ", ("fr1", "field")),
        ("[fr1, field.responder]", ("fr1", "field.responder")),
        ("fr1,field", ("fr1", "field")),
        ("a---b", ("a-", "b")),
        ("fr1", None),
        ("field.responder", None),
    ],
)
def test_a_wire_is_written_by_its_two_ends(text: str, ends: tuple[str, str] | None) -> None:
    assert ends_of(text) == ends


@pytest.mark.parametrize("text", ["a--", "--a", "a--b--c", "[a]", "[a, b, c]", "a.b.c--d", "--", ",", "a b--c"])
def test_what_looks_like_a_wire_and_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write it like fr1--field"):
        ends_of(text)


def test_a_file_may_write_its_wires_so_too(tmp_path: Path) -> None:
    assert load_text(tmp_path, PAIR.replace("[a, b]", "a--b.eth0")).wires[0].ends == ("a", "b.eth0")
