# SPDX-License-Identifier: GPL-2.0-or-later
"""What is a plug-in is named by nobody else: all that belongs to a technology is in its folder."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from contracts.installation import CHECKOUT
from netboxes.technology import technologies

_CORE: Final = ("contracts", "ownership", "system", "results", "applications", "testbed", "netboxes", "campaigns")
#: Of networks in general, or in examples for users: only a text that is nothing but the word is meant.
_ORDINARY_WORDS: Final = {"endpoints", "ethernet", "generator", "sink", "meoc"}
#: Also a word of the kernel's, as in `ip link`.
_OTHER_THINGS: Final = {"link"}
#: This machine is measured with netboxes that everybody has, and hosts are such a one in virtual time.
_BUILT_IN: Final = {
    "testbed/plans/load.py": {"ethernet"},
    "testbed/probes/calibrate.py": {"ethernet", "generator", "sink"},
    "testbed/probes/trial_lab.py": {"ethernet"},
    "testbed/virtual_time/network.py": {"endpoints"},
}


def names() -> set[str]:
    """Of technologies, and of one node of the example that everybody looks at."""
    found = {"meoc", *technologies().ours} - _OTHER_THINGS
    assert {"satellite", "ethernet"} <= found
    return found


@pytest.mark.parametrize("package", _CORE)
def test_the_core_names_no_technology(package: str) -> None:
    words = re.compile(rf"\b({'|'.join(names() - _ORDINARY_WORDS)})\b", re.IGNORECASE)
    found = [
        f"{file}:{line}: {text}"
        for file, line, text in _texts(package)
        if words.search(text) or (text in names() and text not in _BUILT_IN.get(file, ()))
    ]
    assert not found, found


@pytest.mark.parametrize("package", _CORE)
def test_the_core_imports_nothing_of_a_technology(package: str) -> None:
    parts = re.compile(rf"netboxes\.({'|'.join(technologies().ours)})\b")
    found = [
        f"{file.relative_to(CHECKOUT)}:{node.lineno}"
        for file in _modules(package)
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        if parts.search(ast.unparse(node).replace("from netboxes import ", "netboxes."))
    ]
    assert not found, found


def test_pages_name_no_technology() -> None:
    words = re.compile(rf"\b({'|'.join(names() - _ORDINARY_WORDS)})\b", re.IGNORECASE)
    pages = [file for package in _CORE for kind in ("j2", "js", "css") for file in (CHECKOUT / package).rglob(f"*.{kind}")]
    assert pages
    assert not [str(file) for file in pages if words.search(file.read_text())]


def _texts(package: str) -> Iterator[tuple[str, int, str]]:
    """Those of the program itself: what documents it may give an example."""
    for file in _modules(package):
        tree = ast.parse(file.read_text())
        documenting = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documenting:
                yield str(file.relative_to(CHECKOUT)), node.lineno, node.value


def _modules(package: str) -> Iterator[Path]:
    own = {CHECKOUT / "netboxes" / name for name in technologies().ours}
    for file in sorted((CHECKOUT / package).rglob("*.py")):
        if file.name.startswith("test_") or file.name == "conftest.py" or own & {*file.parents}:
            continue
        yield file
