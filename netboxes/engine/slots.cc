// SPDX-License-Identifier: GPL-2.0-or-later
#include "slots.h"

#include <algorithm>

namespace netboxit
{

void Slot::Await(StationId station)
{
    m_awaiting[station / 64] |= std::uint64_t{1} << station % 64;
    ++m_outstanding;
}

void Slot::Mark(StationId station)
{
    m_marked[station / 64] |= std::uint64_t{1} << station % 64;
}

bool Slot::IsMarked(StationId station) const
{
    return station / 64u < m_marked.size() && (m_marked[station / 64] >> station % 64 & 1) != 0;
}

bool Slot::Settle(StationId station)
{
    if (!Awaits(station))
    {
        return false;
    }
    m_awaiting[station / 64] &= ~(std::uint64_t{1} << station % 64);
    m_marked[station / 64] &= ~(std::uint64_t{1} << station % 64);
    --m_outstanding;
    return true;
}

bool Slot::Awaits(StationId station) const
{
    return station / 64u < m_awaiting.size() && (m_awaiting[station / 64] >> station % 64 & 1) != 0;
}

SlotTable::SlotTable(std::uint32_t capacity, std::size_t largestFrame, std::size_t stations)
    : m_capacity(capacity), m_stride((largestFrame + 63) / 64 * 64), m_words((stations + 63) / 64)
{
    m_pieces.reserve(capacity / PIECE + 1);
    m_free.reserve(capacity);
}

Slot* SlotTable::Take()
{
    if (m_free.empty())
    {
        Grow();
    }
    if (m_free.empty())
    {
        return nullptr;
    }
    auto& slot = At(m_free.back());
    m_free.pop_back();
    return &slot;
}

void SlotTable::Grow()
{
    const auto first = static_cast<std::uint32_t>(m_pieces.size()) * PIECE;
    const auto count = std::min(PIECE, m_capacity - std::min(first, m_capacity));
    if (count == 0)
    {
        return;
    }
    Piece piece{std::make_unique<Slot[]>(count), std::make_unique<std::uint8_t[]>(count * m_stride)};
    for (std::uint32_t i = count; i-- > 0;)
    {
        auto& slot = piece.slots[i];
        slot.m_index = first + i;
        slot.room = {piece.bytes.get() + i * m_stride, m_stride};
        slot.m_awaiting.resize(m_words);
        slot.m_marked.resize(m_words);
        m_free.push_back(slot.m_index);
    }
    m_pieces.push_back(std::move(piece));
}

void SlotTable::Admit(Slot& slot, std::int64_t now)
{
    slot.admitted = now;
    slot.m_earlier = m_newest;
    slot.m_later = NONE;
    (m_newest == NONE ? m_oldest : At(m_newest).m_later) = slot.m_index;
    m_newest = slot.m_index;
    ++m_admitted;
    ++slot.m_generation; // odd: admitted
}

void SlotTable::Release(Slot& slot)
{
    if (slot.m_generation % 2 == 1)
    {
        (slot.m_earlier == NONE ? m_oldest : At(slot.m_earlier).m_later) = slot.m_later;
        (slot.m_later == NONE ? m_newest : At(slot.m_later).m_earlier) = slot.m_earlier;
        --m_admitted;
        ++slot.m_generation;
    }
    m_free.push_back(slot.m_index);
}

Slot* SlotTable::Find(SlotId id)
{
    return const_cast<Slot*>(std::as_const(*this).Find(id));
}

const Slot* SlotTable::Find(SlotId id) const
{
    if (id.index / PIECE >= m_pieces.size() || id.generation % 2 == 0)
    {
        return nullptr;
    }
    auto& slot = At(id.index);
    return slot.m_generation == id.generation ? &slot : nullptr;
}

} // namespace netboxit
