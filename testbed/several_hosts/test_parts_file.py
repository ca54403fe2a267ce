# SPDX-License-Identifier: GPL-2.0-or-later
"""`down` of a lab over two machines, from what is on record here; what it has there is a folder and nothing that needs root."""

from __future__ import annotations

from pathlib import Path

import pytest

from ownership import state
from ownership.ledger import UndoFailed
from testbed import where
from testbed.labs import removal
from testbed.labs.lab import Lab
from testbed.plan_part import PARTS_FILE
from testbed.several_hosts.agent import OWNER_FILE
from testbed.several_hosts.conftest import StandIn
from testbed.several_hosts.connection import Connection
from testbed.several_hosts.lab_parts import LabParts
from testbed.several_hosts.parts_file import PartsRecord
from testbed.several_hosts.remote_part import RemotePart
from tests.small_labs import RoomFor

OWNER = "0123456789abcdef"


def take_down(name: str) -> list[str]:
    """As `netboxit down` does."""
    return removal.take_down(name, where.undo)


@pytest.fixture
def lab(beta: StandIn) -> Path:
    """Its folder here; it has one on beta, too."""
    folder = state.make_lab_folder("x")
    PartsRecord("alpha", OWNER, (beta.machine,), {"lab": "x", "nodes": []}).write(folder)
    there(beta).mkdir(parents=True)
    (there(beta) / OWNER_FILE).write_text(OWNER)
    return folder


def there(beta: StandIn) -> Path:
    return beta.state / "labs" / "x"


def test_a_lab_goes_down_with_its_parts(lab: Path, beta: StandIn) -> None:
    assert take_down("x") == []
    assert not lab.exists()
    assert not there(beta).exists()


def test_a_part_that_is_gone_is_nothing_to_take_down(lab: Path, beta: StandIn) -> None:
    (there(beta) / OWNER_FILE).unlink()
    there(beta).rmdir()
    assert take_down("x") == []
    assert not lab.exists()


def test_another_lab_of_that_name_is_left_alone(lab: Path, beta: StandIn) -> None:
    (there(beta) / OWNER_FILE).write_text("another")
    (note,) = take_down("x")
    assert "beta: lab x is no part of this one and was left alone" in note
    assert not lab.exists()
    assert there(beta).exists()


def test_a_machine_that_cannot_be_reached_stays_on_record(lab: Path, beta: StandIn) -> None:
    beta.switch_off()
    with pytest.raises(UndoFailed, match=r"(?s)lab x is not down everywhere.*beta cannot be reached; ssh said:.*No route"):
        take_down("x")
    assert there(beta).exists()
    assert (lab / PARTS_FILE).exists()
    beta.switch_on()
    assert take_down("x") == []
    assert not lab.exists()
    assert not there(beta).exists()


def test_what_was_taken_down_is_not_asked_for_again(lab: Path, beta: StandIn) -> None:
    record = PartsRecord.of(lab)
    assert record is not None
    record.keep_only([], lab)
    beta.switch_off()
    assert take_down("x") == []
    assert there(beta).exists()


def test_what_is_down_elsewhere_need_not_be_written_down_where_the_disk_is_full(
    lab: Path, beta: StandIn, room_for: RoomFor
) -> None:
    with room_for(0):
        assert take_down("x") == []
    assert not there(beta).exists()
    assert not lab.exists()


def test_parts_that_were_kept_already_go_down_when_the_lab_does_not_come_up(lab: Path, beta: StandIn) -> None:
    with Connection(beta.machine) as connection:
        connection.begin("open", lab="x", owner=OWNER).done()
        record = PartsRecord.of(lab)
        assert record is not None
        lab_parts = LabParts(Lab("x", lab), record, {"beta": RemotePart(connection)})
        lab_parts.keep()
        lab_parts.undo(None)
    assert not there(beta).exists()
    assert not lab.exists()
