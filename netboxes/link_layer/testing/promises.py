# SPDX-License-Identifier: GPL-2.0-or-later
"""What each scheme of the link layer promises, by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from netboxes.link_layer.testing.arq_promises import GoBackN, SelectiveRepeat, SelectiveRepeatM1, SelectiveRepeatM2
from netboxes.link_layer.testing.promise import AirFrame, Promise
from netboxes.link_layer.testing.rlp_promises import Rlp, RlpOutOfSequence
from netboxes.link_layer.testing.xor_promises import AdaptiveXor, Xor


class Raw(Promise):
    """`none`: what arrives is handed up (7.1)."""

    stands_alone = repeats = True

    def arrives(self, frame: AirFrame, at: int) -> list[int]:
        return [frame.item]


PROMISES: Final[Mapping[str, type[Promise]]] = {
    "none": Raw,
    "go-back-n": GoBackN,
    "sr": SelectiveRepeat,
    "sr-m1": SelectiveRepeatM1,
    "sr-m2": SelectiveRepeatM2,
    "rlp": Rlp,
    "rlp-oos": RlpOutOfSequence,
    "xor": Xor,
    "xor-adaptive": AdaptiveXor,
}
