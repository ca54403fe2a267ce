// SPDX-License-Identifier: GPL-2.0-or-later
#include "datagram_periods.h"

#include <cmath>

namespace netboxit
{

DatagramPeriods::DatagramPeriods(std::vector<Period> periods, double perSecond, std::size_t length)
    : m_periods(std::move(periods)), m_distance(1e9 / perSecond), m_length(length)
{
}

std::optional<DatagramSource::Datagram> DatagramPeriods::Next()
{
    for (; m_period < m_periods.size(); ++m_period, m_inPeriod = 0)
    {
        const auto& [from, until] = m_periods[m_period];
        // From the beginning of the period, so that no rounding adds up.
        const auto offset = from + std::llround(static_cast<double>(m_inPeriod) * m_distance);
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
