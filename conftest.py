# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import pytest


@pytest.fixture(autouse=True, scope="session")
def folders_that_nodes_can_reach(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Labs of tests are below pytest's folder, which is for its owner alone: the nodes of a lab are somebody else on the host."""
    base = tmp_path_factory.getbasetemp()
    for folder in (base, base.parent):
        folder.chmod(0o711)
