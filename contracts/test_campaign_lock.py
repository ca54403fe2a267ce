# SPDX-License-Identifier: GPL-2.0-or-later
"""Who may be at a campaign's folder with whom."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.campaign_lock import CampaignBusy, alone, unchanged


def test_two_commands_do_not_work_at_one_campaign(tmp_path: Path) -> None:
    with alone(tmp_path), pytest.raises(CampaignBusy, match="another command"), alone(tmp_path):
        pass
    with alone(tmp_path):
        pass


def test_nobody_works_at_a_campaign_that_others_read(tmp_path: Path) -> None:
    with unchanged(tmp_path), unchanged(tmp_path), pytest.raises(CampaignBusy, match="another command"), alone(tmp_path):
        pass
    with alone(tmp_path), pytest.raises(CampaignBusy, match="another command"), unchanged(tmp_path):
        pass


def test_a_folder_in_which_nothing_can_be_written_is_locked_and_nothing_is_left(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with unchanged(tmp_path):
        assert not [*tmp_path.iterdir()]
