// SPDX-License-Identifier: GPL-2.0-or-later
#include "frames_under_way.h"

namespace netboxit
{

void FramesUnderWay::Queued(SlotId slot, QueueNumber queue)
{
    // The latest ones are at the end.
    const auto found = std::find_if(
        m_waiting.rbegin(), m_waiting.rend(), [slot](const auto& entry) { return entry.slot == slot; });
    if (found != m_waiting.rend())
    {
        found->queue = queue;
    }
}

void FramesUnderWay::Passed(SlotId slot)
{
    if (const auto entry = TakeWaiting(slot))
    {
        m_passed.push_back(*entry);
    }
}

std::optional<FramesUnderWay::Entry> FramesUnderWay::TakeWaiting(SlotId slot)
{
    const auto found = std::ranges::find(m_waiting, slot, &Entry::slot);
    if (found == m_waiting.end())
    {
        return std::nullopt;
    }
    const auto entry = *found;
    m_waiting.erase(found);
    return entry;
}

} // namespace netboxit
