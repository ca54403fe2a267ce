# SPDX-License-Identifier: GPL-2.0-or-later
"""A queue's own rate: who reads YAML and who is the netbox agree whether a technology has it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from netboxes.engine.virtual import EmulationFailed, emulate
from netboxes.technology import technologies

WITH_QUEUES = sorted(name for name, model in technologies().items() if model.TYPICAL and "queue" in model.LIVE)


def typical(technology: str) -> dict[str, Any]:
    return dict(technologies()[technology].TYPICAL or {})


def takes_a_rate(technology: str) -> bool:
    try:
        technologies()[technology].model_validate(typical(technology) | {"queue": {"rate": "1 Mbit/s"}})
    except ValidationError as error:
        assert "`rate` needs a transmitter that waits for its queue" in str(error)
        return False
    return True


def test_some_technologies_have_it_and_some_refuse_it() -> None:
    assert {takes_a_rate(technology) for technology in WITH_QUEUES} == {True, False}


@pytest.mark.parametrize("technology", WITH_QUEUES)
def test_a_running_netbox_takes_it_where_yaml_does(technology: str) -> None:
    parameters = technologies()[technology].model_validate(typical(technology))
    queue = parameters.model_dump(mode="json")["queue"] | {"discipline": "fifo", "rate": 1e6}

    def run() -> None:
        emulate(technology, typical(technology), {}, events=[(0.5, "queue", queue)], duration_s=1.0)

    if takes_a_rate(technology):
        run()
        return
    with pytest.raises(EmulationFailed) as refused:
        run()
    assert "queue: rate needs a transmitter that waits for its queue" in str(refused.value)
