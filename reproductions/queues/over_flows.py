# SPDX-License-Identifier: GPL-2.0-or-later
"""What several flows of a run have together."""

from __future__ import annotations


def mean(*values: float) -> float:
    return sum(values) / len(values)


def jain(*values: float) -> float:
    """The index of Jain, Chiu and Hawe (1984): 1 when all have the same, 1/n when one has all."""
    return min(1.0, sum(values) ** 2 / (len(values) * sum(value * value for value in values)))  # rounded up, it can be more
