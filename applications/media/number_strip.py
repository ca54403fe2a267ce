# SPDX-License-Identifier: GPL-2.0-or-later
"""A frame's number drawn into its picture as a row of black and white squares, so that a decoded frame says which one it is.

Squares of a macroblock's size (16 x 16, H.264 clause 3) survive any compression that leaves a picture recognisable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: 2**18 frames: four hours at 15 frames a second.
BITS = 18
SQUARE = 16
_MARGIN = 16


@dataclass(frozen=True)
class NumberStrip:
    """Where the strip is in a picture of this size: at the bottom left, the lowest bit first, then all bits once more inverted
    below it, by which a damaged picture is recognised."""

    height: int

    @property
    def top(self) -> int:
        return (self.height // SQUARE - 3) * SQUARE

    def filters(self) -> str:
        """The ffmpeg filters that draw it, frame by frame."""
        boxes = [f"drawbox=x={_MARGIN}:y={self.top}:w={BITS * SQUARE}:h={2 * SQUARE}:c=black:t=fill"]
        for bit in range(BITS):
            place = f"x={_MARGIN + bit * SQUARE}:w={SQUARE}:h={SQUARE}:c=white:t=fill"
            boxes += [
                f"drawbox={place}:y={y}:enable='eq(mod(floor(n/{1 << bit}),2),{value})'"
                for y, value in ((self.top, 1), (self.top + SQUARE, 0))
            ]
        return ",".join(boxes)

    def read(self, luma: NDArray[np.uint8]) -> int | None:
        """The number in a decoded picture (rows x columns of luma), or None when it cannot be read for sure."""
        strip = luma[self.top : self.top + 2 * SQUARE, _MARGIN : _MARGIN + BITS * SQUARE]
        # The inner half of each square: the edges bleed into their neighbours.
        squares = strip.reshape(2, SQUARE, BITS, SQUARE)[:, 4:12, :, 4:12].mean(axis=(1, 3))
        bits = squares > 128
        if np.any(bits[0] == bits[1]):
            return None
        return int(np.dot(bits[0], 1 << np.arange(BITS)))
