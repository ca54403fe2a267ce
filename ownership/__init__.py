# SPDX-License-Identifier: GPL-2.0-or-later
"""What is on record of labs, so that everything can be removed again: where they are kept, their ledgers and plans."""
