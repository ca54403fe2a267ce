# SPDX-License-Identifier: GPL-2.0-or-later
"""What parity promises (5.2.1): XOR, and adaptive XOR."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from netboxes.link_layer.testing.promise import OTHER, AirFrame, Facts, Promise, Scheme, keep

#: Numbers of XOR's frames, and of adaptive XOR's blocks (5.2.1).
_FRAME_NUMBERS, _BLOCK_NUMBERS = 256, 8


@dataclass
class _Block:
    items: dict[int, int] = field(default_factory=dict)
    #: Packets, where that is known.
    size: int | None = None
    has_parity: bool = False


@dataclass
class _Parity:
    """What one end sends: the packets of each block, and blocks whose parity is to go."""

    blocks: list[list[tuple[int, int]]] = field(default_factory=lambda: [[]])
    queued: deque[int] = field(default_factory=deque)
    #: When a block ends because nothing comes.
    ends: int | None = None


@dataclass
class _XorReceiver:
    current: int | None = None
    blocks: dict[int, _Block] = field(default_factory=dict)
    latest: int = 0


class Xor(Promise):
    """`xor` (5.2.1): hands up what comes, once, and the one packet of a block that does not, when its parity has come."""

    stands_alone = True
    header = 2

    def __init__(self, scheme: Scheme, facts: Facts, at: int) -> None:
        super().__init__(scheme, facts, at)
        self.block_numbers: int = _FRAME_NUMBERS // (scheme["block"] + 1)
        self.parities = (_Parity(), _Parity())
        self.receivers = (_XorReceiver(), _XorReceiver())
        self._places: dict[int, tuple[int, int]] = {}

    def takes(self, end: int, item: int, at: int) -> None:
        super().takes(end, item, at)
        parity = self.parities[end]
        block = parity.blocks[-1]
        self._places[item] = (len(parity.blocks) - 1, len(block))
        block.append((item, 0))
        if len(block) == self.scheme["block"]:
            self.ends_block(parity)

    def ends_block(self, parity: _Parity) -> None:
        parity.queued.append(len(parity.blocks) - 1)
        parity.blocks.append([])
        parity.ends = None

    def begins(self, frame: AirFrame, at: int) -> None:
        super().begins(frame, at)
        parity = self.parities[frame.end]
        if frame.kind == "data":
            block, position = self._places[frame.item]
            parity.blocks[block][position] = (frame.item, frame.size)
        else:
            keep(bool(parity.queued), "parity of a block that has not ended")
            block = parity.queued.popleft()
            position = len(parity.blocks[block])
            longest = max(size for _, size in parity.blocks[block])
            keep(frame.size == longest, f"parity of {frame.size} bytes where the longest frame has {longest}")
        frame.index = block
        keep(self.is_at(frame, block, position), f"a frame of block {block} has the number of another place")

    def is_at(self, frame: AirFrame, block: int, position: int) -> bool:
        """Whether the frame's numbers say this place."""
        return frame.sequence == block % self.block_numbers * (int(self.scheme["block"]) + 1) + position

    def known_size(self) -> int | None:
        """Of a block of which something has come."""
        return int(self.scheme["block"])

    def arrives(self, frame: AirFrame, at: int) -> list[int]:
        receiver = self.receivers[OTHER[frame.end]]
        if at - receiver.latest > self.facts.round_trip:
            receiver.blocks = {number: block for number, block in receiver.blocks.items() if number == receiver.current}
        receiver.latest = at
        receiver.current = frame.index if receiver.current is None else max(receiver.current, frame.index)
        block = receiver.blocks.setdefault(frame.index, _Block(size=self.known_size()))
        receiver.blocks = {number: each for number, each in receiver.blocks.items() if number >= receiver.current - 1}
        sent = self.parities[frame.end].blocks[frame.index]
        handed_up = []
        if frame.kind == "parity":
            block.has_parity = True
            block.size = len(sent)
        else:
            position = self._places[frame.item][1]
            if position in block.items:
                return []
            block.items[position] = frame.item
            handed_up.append(frame.item)
        if block.has_parity and block.size == len(block.items) + 1:
            position = next(place for place in range(block.size) if place not in block.items)
            block.items[position] = sent[position][0]
            handed_up.append(sent[position][0])
        return handed_up

    def permits(self, frame: AirFrame) -> bool:
        receiver = self.receivers[OTHER[frame.end]]
        if receiver.current is None:
            return True
        ahead = frame.index - receiver.current
        is_silent = self.now - receiver.latest > self.facts.round_trip
        if frame.overtaken_at and self.now - frame.overtaken_at > self.facts.round_trip:
            return False
        if ahead < 0:
            return ahead == -1 and self.block_numbers > 2
        # Numbers have not gone round, to one that is the latest block's or the one's before.
        return ahead < (self.block_numbers if is_silent or self.block_numbers == 2 else self.block_numbers - 1)

    def is_due(self, end: int) -> str:
        return super().is_due(end) or ("parity" if self.parities[end].queued else "")


class AdaptiveXor(Xor):
    """`xor-adaptive`: a block also ends when nothing comes for a while."""

    def __init__(self, scheme: Scheme, facts: Facts, at: int) -> None:
        super().__init__(scheme, facts, at)
        self.block_numbers = _BLOCK_NUMBERS

    def takes(self, end: int, item: int, at: int) -> None:
        super().takes(end, item, at)
        parity = self.parities[end]
        parity.ends = at + self.time_of("inactivity") if parity.blocks[-1] else None

    def passes(self, at: int) -> None:
        super().passes(at)
        for parity in self.parities:
            if parity.ends is not None and at >= parity.ends:
                self.ends_block(parity)

    def is_at(self, frame: AirFrame, block: int, position: int) -> bool:
        return frame.block == block % self.block_numbers and frame.sequence == position

    def known_size(self) -> int | None:
        return None
