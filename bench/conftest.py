# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs of these tests leave nothing behind either."""

from tests.small_labs import nothing_left, state_folder

__all__ = ["nothing_left", "state_folder"]
