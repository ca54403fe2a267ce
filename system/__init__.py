# SPDX-License-Identifier: GPL-2.0-or-later
"""This host: its kernel, LXC and what else of it a lab is made of. One module a system, and nobody else speaks to that."""
