# SPDX-License-Identifier: GPL-2.0-or-later
"""What runs in the nodes: netboxes' control, Click, FRRouting, Open vSwitch."""
