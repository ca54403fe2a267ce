// SPDX-License-Identifier: GPL-2.0-or-later
#include "datagram_periods.h"

#include <cmath>

namespace netboxit
{

DatagramPeriods::DatagramPeriods(std::vector<Period> periods,
                                 double perSecond,
                                 std::size_t length,
                                 ns3::Ptr<ns3::UniformRandomVariable> gaps)
    : m_periods(std::move(periods)), m_distance(1e9 / perSecond), m_length(length), m_gaps(std::move(gaps))
{
}

std::optional<DatagramSource::Datagram> DatagramPeriods::Next()
{
    for (; m_period < m_periods.size(); ++m_period, m_inPeriod = 0, m_latest = 0)
    {
        const auto& [from, until] = m_periods[m_period];
        // From the beginning of the period, so that no rounding adds up.
        m_latest = m_gaps ? m_latest - m_distance * std::log1p(-m_gaps->GetValue(0, 1)) : static_cast<double>(m_inPeriod) * m_distance;
        const auto offset = from + std::llround(m_latest);
        if (offset < until)
        {
            ++m_inPeriod;
            return Datagram{offset, m_length, {}};
        }
    }
    return std::nullopt;
}

bool DatagramPeriods::IsNumbered() const
{
    return true;
}

} // namespace netboxit
