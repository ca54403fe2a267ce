# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab as commands have it: `BackEnd` says what they do with one, `LocalLab` does it on this machine."""
