// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace netboxit
{

/// Which share of the packets that came lately was dropped, those of the latest so many arrivals.
class RecentLosses
{
  public:
    explicit RecentLosses(std::size_t window) : m_drops(window)
    {
    }

    void Arrives()
    {
        m_latest = (m_latest + 1) % m_drops.size();
        m_arrivals = std::min(m_arrivals + 1, m_drops.size());
        m_sum -= m_drops[m_latest];
        m_drops[m_latest] = 0;
    }

    /// Since the latest arrival.
    void Dropped()
    {
        ++m_drops[m_latest];
        ++m_sum;
    }

    double Share() const
    {
        return m_arrivals == 0 ? 0.0 : std::min(1.0, static_cast<double>(m_sum) / static_cast<double>(m_arrivals));
    }

  private:
    std::vector<std::uint32_t> m_drops; ///< by arrival, since it and before the next
    std::size_t m_latest{};
    std::size_t m_arrivals{};
    std::uint64_t m_sum{};
};

} // namespace netboxit
