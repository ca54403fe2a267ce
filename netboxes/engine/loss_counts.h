// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "segment.h"

namespace netboxit
{

/// How many frames, or copies of frames, were lost, by the reason.
class LossCounts
{
  public:
    std::uint64_t& operator[](Loss reason)
    {
        return m_counts[static_cast<std::size_t>(reason)];
    }

    std::uint64_t operator[](Loss reason) const
    {
        return m_counts[static_cast<std::size_t>(reason)];
    }

    /// {name: count} of these reasons.
    Json Read(std::span<const Loss> reasons = LOSSES) const;
    /// Only of those that occurred.
    Json ReadOccurred() const;

  private:
    std::array<std::uint64_t, LOSS_NAMES.size()> m_counts{};
};

} // namespace netboxit
