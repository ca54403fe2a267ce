# SPDX-License-Identifier: GPL-2.0-or-later
"""Changing a lab that is up: one thing, by a timetable, or until it is what its file says now."""
