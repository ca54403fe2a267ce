# SPDX-License-Identifier: GPL-2.0-or-later
"""A program that rates speech by PESQ, for the sandbox: its C code works on recordings that nodes wrote.

    pesq_program.py RATE nb|wb < ARRAYS

Reads pairs of arrays (numpy's format, one after another: what was spoken, what was heard), and writes a line of JSON: for each
pair its MOS-LQO, or null where PESQ cannot rate it.
"""

from __future__ import annotations

import io
import json
import sys

import numpy as np
from numpy.typing import NDArray
from pesq import PesqError, pesq  # type: ignore[import-untyped]


def main() -> None:
    rate, mode = int(sys.argv[1]), sys.argv[2]
    content, scores = io.BytesIO(sys.stdin.buffer.read()), list[float | None]()
    while content.tell() < len(content.getbuffer()):
        spoken, heard = (np.load(content, allow_pickle=False) for _ in range(2))
        scores.append(_score(rate, spoken, heard, mode))
    print(json.dumps(scores))


def _score(rate: int, spoken: NDArray[np.float64], heard: NDArray[np.float64], mode: str) -> float | None:
    if not np.any(spoken) and not np.any(heard):
        return None
    try:
        score = float(pesq(rate, spoken, heard, mode))
    except PesqError:  # too short, or without an utterance
        return None
    return score if np.isfinite(score) else None


if __name__ == "__main__":
    main()
