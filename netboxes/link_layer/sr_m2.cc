// SPDX-License-Identifier: GPL-2.0-or-later
#include "sr_m2.h"

namespace netboxit::multiservice
{

void SelectiveRepeatM2::NameMissing(Number arrived, Number highest)
{
    SelectiveRepeatM1::NameMissing(arrived, highest);
    if (m_space.Distance(m_expected, arrived) >= m_space.Distance(m_expected, highest))
    {
        return;
    }
    const auto naks = NaksFor(arrived);
    for (auto number = m_expected; number != arrived; number = m_space.Next(number))
    {
        if (IsMissing(number) && NaksFor(number) <= naks)
        {
            SendNak(number);
        }
    }
}

} // namespace netboxit::multiservice
