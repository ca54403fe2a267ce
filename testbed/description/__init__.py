# SPDX-License-Identifier: GPL-2.0-or-later
"""A network as its user's file describes it: parsed, checked, and what in it can be changed. Nothing here touches the system."""
