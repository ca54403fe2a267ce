# SPDX-License-Identifier: GPL-2.0-or-later
"""How everything looks on the terminal and in pictures; the rest of the testbed never prints."""
