# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import json
from pathlib import Path

import pytest

from contracts.installation import CHECKOUT
from contracts.netbox_configuration import CONFIGURATION_FILE, netbox_configuration
from testbed.plans.test_resolve import plan_of

OURS = sorted(file for file in (CHECKOUT / "topologies").glob("*.yaml") if not file.stem.endswith(".reference"))


@pytest.mark.parametrize("file", OURS, ids=lambda file: str(file.stem))
def test_what_a_netbox_is_told_has_the_shape_that_its_readers_know(file: Path) -> None:
    """No key is lost by reading it."""
    told = [node for node in plan_of(file).nodes if node.kind == "netbox"]
    assert told
    for node in told:
        assert netbox_configuration(node) == json.loads(node.files[CONFIGURATION_FILE])
