// SPDX-License-Identifier: GPL-2.0-or-later
#include "lost_frames.h"

namespace netboxit::errors
{

void LostFrames::Set(const Json& value, std::int64_t)
{
    std::vector<bool> isLost;
    for (const auto& lost : value.at("frames"))
    {
        isLost.push_back(lost.get<double>() > 0);
    }
    m_repeats = value.at("repeat");
    m_isLost = std::move(isLost);
    m_next = 0;
}

void LostFrames::Begin(std::int64_t)
{
    m_next = 0;
}

bool LostFrames::IsLost(const Transmission&)
{
    if (m_next == m_isLost.size() && m_repeats)
    {
        m_next = 0;
    }
    return m_next < m_isLost.size() && m_isLost[m_next++];
}

} // namespace netboxit::errors
