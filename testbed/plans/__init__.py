# SPDX-License-Identifier: GPL-2.0-or-later
"""From a topology to a plan, data to the last detail, and what is different between two of them."""
