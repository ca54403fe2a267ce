# SPDX-License-Identifier: GPL-2.0-or-later
"""A bench for schedulers; in Python its plots."""
