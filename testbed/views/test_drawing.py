# SPDX-License-Identifier: GPL-2.0-or-later
"""What is drawn on the terminal is what was meant."""

from __future__ import annotations

import pytest

from testbed.views import drawing


def test_mac_addresses_have_no_pictures_in_them(capsys: pytest.CaptureFixture[str]) -> None:
    table = drawing.table("wires", "address")
    table.add_row("02:cd:f4:ab:7e:90")
    drawing.console.cache_clear()
    drawing.console().print(table)
    drawing.console.cache_clear()
    assert "02:cd:f4:ab:7e:90" in capsys.readouterr().out
