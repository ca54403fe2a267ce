# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

#: Fixtures for tests of all packages.
pytest_plugins = ["tests.installed_packages", "tests.small_labs"]

# A busy machine is slow, and nothing is wrong with what it computes.
settings.register_profile("netboxit", deadline=None)
settings.load_profile("netboxit")


@pytest.fixture(autouse=True, scope="session")
def folders_that_nodes_can_reach(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Labs of tests are below pytest's folder, which is for its owner alone: the nodes of a lab are somebody else on the host."""
    base = tmp_path_factory.getbasetemp()
    for folder in (base, base.parent):
        folder.chmod(0o711)


@pytest.fixture(autouse=True, scope="session")
def signals_that_end_programs() -> Iterator[None]:
    """A shell that starts the suite in the background has it ignore Ctrl-C (POSIX, XCU 2.11), nohup(1) the end of its terminal.

    So does all that the suite then starts. Tests that interrupt themselves, or what they started, would fail there alone.
    """
    handlers = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
