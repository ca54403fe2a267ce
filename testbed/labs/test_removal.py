# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import pytest

from contracts.errors import NetBoxITError
from ownership.ledger import UndoFailed
from system import namespaces
from testbed.labs import removal
from testbed.labs.lab import Lab
from tests.small_labs import PlanPair


def test_why_a_lab_was_given_up_is_told_also_where_something_of_it_stays() -> None:
    def undo() -> None:
        raise UndoFailed("container a: has not ended")

    with pytest.raises(UndoFailed, match=r"(?s)^switch s is not ready.*container a: has not ended$"):
        removal.give_up(NetBoxITError("switch s is not ready"), undo)
    with pytest.raises(UndoFailed, match=r"^container a"):
        removal.give_up(None, undo)
    with pytest.raises(UndoFailed, match=r"^container a"):
        removal.give_up(KeyboardInterrupt(), undo)


@pytest.mark.lab
@pytest.mark.usefixtures("nothing_left")
def test_a_namespace_that_somebody_made_in_the_place_of_a_labs_stays_and_is_told(plan_pair: PlanPair) -> None:
    lab = Lab.up(plan_pair())
    taken, own = (node.namespace for node in lab.plan.nodes)
    namespaces.delete(taken)
    namespaces.create([taken])
    try:
        (note,) = removal.take_down(lab.name)
        assert taken in note
        assert "left alone" in note
        assert namespaces.path(taken).exists()
        assert not namespaces.path(own).exists()
    finally:
        namespaces.delete(taken)
