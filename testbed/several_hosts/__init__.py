# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab over several machines."""
