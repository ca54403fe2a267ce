// SPDX-License-Identifier: GPL-2.0-or-later
#include "frames_under_way.h"

#include <algorithm>

namespace netboxit
{

std::optional<FramesUnderWay::Entry> FramesUnderWay::Refused(SlotId slot)
{
    const auto found = std::find_if(
        m_entries.rbegin(), m_entries.rend(), [slot](const auto& entry) { return entry.slot == slot; });
    if (found == m_entries.rend())
    {
        return std::nullopt;
    }
    const auto entry = *found;
    m_entries.erase(std::next(found).base());
    return entry;
}

std::deque<FramesUnderWay::Entry>::iterator FramesUnderWay::FromFront(SlotId slot)
{
    return std::ranges::find(m_entries, slot, &Entry::slot);
}

} // namespace netboxit
