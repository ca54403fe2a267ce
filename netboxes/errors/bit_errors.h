// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../queueing/discipline.h"

#include <cstdint>
#include <span>

namespace netboxit::errors
{

/// Independent bit errors. What is drawn are the distances between them, so a frame without any costs a subtraction.
class BitErrors
{
  public:
    explicit BitErrors(queueing::Chance chance);

    void SetRate(double rate);

    /// Whether a frame of so many bits is hit; with `bytes`, its bits are inverted there (the first bit is the highest of the
    /// first byte).
    bool Hit(std::uint64_t bits, std::span<std::uint8_t> bytes);

    bool IsNone() const
    {
        return m_rate == 0;
    }

  private:
    std::uint64_t Distance();

    queueing::Chance m_chance;
    double m_rate{0};
    std::uint64_t m_next{0}; ///< correct bits before the next error
};

} // namespace netboxit::errors
