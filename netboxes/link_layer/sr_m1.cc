// SPDX-License-Identifier: GPL-2.0-or-later
#include "sr_m1.h"

namespace netboxit::multiservice
{

void SelectiveRepeatM1::NameMissing(Number arrived, Number highest)
{
    if (m_space.Distance(m_expected, arrived) >= m_space.Distance(m_expected, highest))
    {
        SendNaks(highest, arrived);
    }
}

void SelectiveRepeatM1::TakeNak(const AirFrame& frame)
{
    Repeat(frame.sequence);
}

} // namespace netboxit::multiservice
