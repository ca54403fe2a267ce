// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "datagram_source.h"

#include "ns3/random-variable-stream.h"

#include <vector>

namespace netboxit
{

/// Datagrams of one length in some periods: at equal distances, or at random with exponential gaps of that mean (Poisson).
class DatagramPeriods : public DatagramSource
{
  public:
    struct Period
    {
        std::int64_t from;  ///< ns after the start
        std::int64_t until; ///< exclusive
    };

    /// `gaps` draws from 0 to 1; without it distances are equal.
    DatagramPeriods(std::vector<Period> periods,
                    double perSecond,
                    std::size_t length,
                    ns3::Ptr<ns3::UniformRandomVariable> gaps = nullptr);

    std::optional<Datagram> Next() override;
    bool IsNumbered() const override;

  private:
    std::vector<Period> m_periods;
    double m_distance; ///< ns
    std::size_t m_length;
    ns3::Ptr<ns3::UniformRandomVariable> m_gaps;
    std::size_t m_period{0};
    std::uint64_t m_inPeriod{0};
    double m_latest{0}; ///< ns after the period's beginning, with random gaps
};

} // namespace netboxit
