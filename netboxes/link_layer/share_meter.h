// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "air_frame.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace netboxit::multiservice
{

/// The share of each service in the bytes that are handed to the services (section 6.2.1), for links whose shares nobody sets.
/// An interval is at least one period and PACKETS packets long.
class ShareMeter
{
  public:
    using Shares = std::array<double, MOST_SERVICES>;

    /// Packets of an interval, at least: our choice, as the two below.
    static constexpr std::uint32_t PACKETS = 20;
    /// A service that sends nothing keeps so much, that its first frame does not wait for ever.
    static constexpr double FLOOR = 0.01;
    /// Weight of the latest interval in the average.
    static constexpr double LATEST = 0.5;

    void Count(ServiceId service, std::uint32_t bytes)
    {
        m_bytes[service] += bytes;
        m_sum += bytes;
        ++m_packets;
    }

    /// A period has passed. The shares of the first `services`, where the interval ends with it.
    std::optional<Shares> End(std::size_t services)
    {
        if (m_packets < PACKETS || m_sum == 0)
        {
            return std::nullopt;
        }
        Shares shares{};
        for (std::size_t service = 0; service < services; ++service)
        {
            const auto latest = static_cast<double>(m_bytes[service]) / static_cast<double>(m_sum);
            m_average[service] = m_hasAverage ? LATEST * latest + (1 - LATEST) * m_average[service] : latest;
            shares[service] = std::max(FLOOR, m_average[service]);
        }
        m_hasAverage = true;
        m_bytes = {};
        m_sum = 0;
        m_packets = 0;
        return shares;
    }

  private:
    std::array<std::uint64_t, MOST_SERVICES> m_bytes{};
    std::uint64_t m_sum{};
    std::uint32_t m_packets{};
    Shares m_average{};
    bool m_hasAverage{};
};

} // namespace netboxit::multiservice
