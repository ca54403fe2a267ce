// SPDX-License-Identifier: GPL-2.0-or-later
#include "sequence_account.h"

#include <algorithm>

namespace netboxit
{

SequenceAccount::SequenceAccount() : m_seen(WINDOW / 64)
{
}

void SequenceAccount::Arrived(std::uint64_t sequence)
{
    if (m_received == 0)
    {
        m_lowest = sequence;
        m_next = sequence;
    }
    if (sequence >= m_next)
    {
        MoveOn(sequence);
    }
    else if (m_next - sequence > WINDOW)
    {
        ++m_unplaced;
        return;
    }
    else if ((WordOf(sequence) & BitOf(sequence)) != 0)
    {
        ++m_duplicates;
        return;
    }
    else
    {
        ++m_reordered;
        m_lowest = std::min(m_lowest, sequence);
    }
    WordOf(sequence) |= BitOf(sequence);
    ++m_received;
}

void SequenceAccount::MoveOn(std::uint64_t sequence)
{
    if (sequence - m_next >= WINDOW)
    {
        std::ranges::fill(m_seen, 0);
    }
    else
    {
        for (auto passed = m_next; passed <= sequence; ++passed)
        {
            WordOf(passed) &= ~BitOf(passed);
        }
    }
    m_next = sequence + 1;
}

} // namespace netboxit
