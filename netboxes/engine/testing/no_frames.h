// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../segment.h"

namespace netboxit
{

/// For tests of frames that nobody looks into.
class NoFrames : public Frames
{
  public:
    bool Emit(StationId, Bytes) override
    {
        return false;
    }

    Bytes Read(SlotId) const override
    {
        return {};
    }

    std::span<std::uint8_t> Rewrite(SlotId) override
    {
        return {};
    }

    bool MarkCongestion(SlotId, std::optional<StationId>) override
    {
        return false;
    }

    std::optional<SlotId> Duplicate(SlotId, StationId) override
    {
        return std::nullopt;
    }

    std::int64_t ArrivedAt(SlotId) const override
    {
        return 0;
    }

    void Absorb(SlotId) override
    {
    }

    std::int64_t Behind() const override
    {
        return 0;
    }

    std::int64_t StampOf(std::int64_t time) const override
    {
        return time;
    }
};

} // namespace netboxit
