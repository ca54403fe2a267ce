# SPDX-License-Identifier: GPL-2.0-or-later
"""Watching a lab that is up: its counters, what happens in it, captures, traces of its paths."""
