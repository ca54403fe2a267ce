# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs: brought up, found, taken down."""
