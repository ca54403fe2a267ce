// SPDX-License-Identifier: GPL-2.0-or-later
#include "guarantee.h"

#include <algorithm>

namespace netboxit
{

namespace
{

constexpr double AVERAGING_WINDOW = 2.0; ///< s (TS 23.203, Table 6.1.7, note on the default window of 2000 ms)

} // namespace

Guarantee::Guarantee(double rate, double patience, Precedence precedence)
    : m_rate(rate), m_patience(static_cast<std::int64_t>(patience * 1e9)), m_precedence(precedence),
      m_tokens(rate / 8.0 * AVERAGING_WINDOW)
{
}

void Guarantee::Fill(std::int64_t now)
{
    m_tokens = std::min(m_tokens + m_rate / 8.0 * static_cast<double>(now - m_filled) / 1e9,
                        m_rate / 8.0 * AVERAGING_WINDOW);
    m_filled = now;
}

void Guarantee::Waits(std::uint64_t bytes, std::int64_t now)
{
    if (m_waiting == 0)
    {
        m_since = now;
    }
    m_waiting = bytes;
}

void Guarantee::Served(std::uint64_t bytes, std::int64_t now, bool exclusively)
{
    Fill(now);
    const auto taken = std::min(bytes, m_waiting);
    const double left = m_tokens - static_cast<double>(taken);
    m_tokens = exclusively ? left : std::max(left, std::min(m_tokens, 0.0));
    m_waiting -= taken;
    m_since = now;
}

bool Guarantee::IsUrgent(std::int64_t now)
{
    if (m_rate <= 0.0 || m_waiting == 0)
    {
        return false;
    }
    Fill(now);
    const double entitled = std::min(static_cast<double>(m_waiting), m_tokens);
    const double quantum = m_rate / 8.0 * static_cast<double>(m_patience) / 1e9;
    return entitled >= 1.0 && (now - m_since >= m_patience || entitled >= quantum);
}

QciTraits TraitsOf(int qci)
{
    switch (qci)
    {
    case 1:
        return {20, 0.100};
    case 2:
        return {40, 0.150};
    case 3:
        return {30, 0.050};
    case 4:
        return {50, 0.300};
    case 5:
        return {10, 0.100};
    case 6:
        return {60, 0.300};
    case 7:
        return {70, 0.100};
    case 8:
        return {80, 0.300};
    case 65:
        return {7, 0.075};
    case 66:
        return {20, 0.100};
    case 69:
        return {5, 0.060};
    case 70:
        return {55, 0.200};
    default:
        return {90, 0.300};
    }
}

} // namespace netboxit
