// SPDX-License-Identifier: GPL-2.0-or-later
#include "priority.h"

#include <algorithm>

namespace netboxit::queueing
{

void Priority::Begin(LineId line, std::uint32_t)
{
    m_waits[line] = true;
}

LineId Priority::Next()
{
    return static_cast<LineId>(std::ranges::find(m_waits, true) - m_waits.begin());
}

void Priority::Sent(LineId line, std::uint32_t, std::uint32_t following)
{
    m_waits[line] = following > 0;
}

void Priority::TakenOut(LineId line, std::uint32_t following)
{
    m_waits[line] = following > 0;
}

} // namespace netboxit::queueing
