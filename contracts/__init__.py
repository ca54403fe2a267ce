# SPDX-License-Identifier: GPL-2.0-or-later
"""What all packages of NetBoxIT rely on: the words, the data and the files by which they deal with each other.

It imports nothing of theirs.
"""
