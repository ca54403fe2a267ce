// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <random>

namespace netboxit::queueing
{

/// Bytes of the longest packet of these tests.
constexpr std::uint32_t LONGEST = 1500;

/// What tests of schedulers draw: the same from the same seed.
class Random
{
  public:
    explicit Random(unsigned seed) : m_engine(seed)
    {
    }

    double operator()()
    {
        return std::uniform_real_distribution{}(m_engine);
    }

    std::uint32_t Below(std::uint32_t end)
    {
        return std::uniform_int_distribution<std::uint32_t>{0, end - 1}(m_engine);
    }

    /// Of a packet, bytes.
    std::uint32_t Length()
    {
        return 40 + Below(LONGEST - 39);
    }

  private:
    std::mt19937 m_engine;
};

} // namespace netboxit::queueing
