// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "datagram_source.h"

#include <vector>

namespace netboxit
{

/// Datagrams of one length at equal distances, in some periods.
class DatagramPeriods : public DatagramSource
{
  public:
    struct Period
    {
        std::int64_t from;  ///< ns after the start
        std::int64_t until; ///< exclusive
    };

    DatagramPeriods(std::vector<Period> periods, double perSecond, std::size_t length);

    std::optional<Datagram> Next() override;
    bool IsNumbered() const override;

  private:
    std::vector<Period> m_periods;
    double m_distance; ///< ns
    std::size_t m_length;
    std::size_t m_period{0};
    std::uint64_t m_inPeriod{0};
};

} // namespace netboxit
