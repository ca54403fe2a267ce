// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

namespace netboxit
{

/// The rate at which a bearer is served while it has more to send: the mean over the latest 0.1 s of such time, the older weighing less.
class ServiceRate
{
  public:
    /// bit/s, what is believed at first.
    explicit ServiceRate(double first) : m_first(first)
    {
    }

    /// A transmission opportunity of so many bytes.
    void Serves(std::uint32_t bytes, std::int64_t now)
    {
        if (m_busy)
        {
            m_time += now - m_latest;
            m_bytes += bytes;
            if (m_time > WINDOW)
            {
                m_bytes *= static_cast<double>(WINDOW) / static_cast<double>(m_time);
                m_time = WINDOW;
            }
        }
        m_latest = now;
    }

    /// After it, so much is left to send.
    void Leaves(std::uint64_t bytes)
    {
        m_busy = bytes > 0;
    }

    /// bit/s
    double Rate() const
    {
        return m_time > 0 ? 8e9 * m_bytes / static_cast<double>(m_time) : m_first;
    }

  private:
    static constexpr std::int64_t WINDOW = 100'000'000; ///< ns

    double m_first;
    bool m_busy{};
    std::int64_t m_latest{}; ///< ns
    std::int64_t m_time{};   ///< ns
    double m_bytes{};
};

} // namespace netboxit
