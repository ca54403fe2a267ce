// SPDX-License-Identifier: GPL-2.0-or-later
#include "packet_pool.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace netboxit::multiservice
{

Packet Packet::MakeParity() const
{
    return m_pool->TakeParity();
}

void Packet::Cover(const Packet& packet) const
{
    auto& parity = m_pool->m_entries[m_number];
    parity.sum ^= packet.Sum();
    parity.bytes = std::max(parity.bytes, packet.Bytes());
    parity.covered.push_back(packet);
}

Packet Packet::Recover(std::uint32_t sumOfOthers) const
{
    const auto number = Sum() ^ sumOfOthers;
    ++m_pool->m_entries[number].references;
    return {*m_pool, number};
}

PacketPool::PacketPool(Settle settle) : m_settle(std::move(settle))
{
}

Packet PacketPool::Take(std::uint64_t item, std::uint32_t bytes)
{
    const auto number = TakeEntry();
    auto& entry = m_entries[number];
    entry.item = item;
    entry.bytes = bytes;
    entry.sum = number;
    return {*this, number};
}

Packet PacketPool::TakeParity()
{
    const auto number = TakeEntry();
    m_entries[number].isParity = true;
    return {*this, number};
}

std::uint32_t PacketPool::TakeEntry()
{
    if (m_unused.empty())
    {
        m_entries.emplace_back();
        m_unused.push_back(static_cast<std::uint32_t>(m_entries.size() - 1));
    }
    const auto number = m_unused.back();
    m_unused.pop_back();
    auto& entry = m_entries[number];
    entry.references = 1;
    entry.bytes = entry.sum = 0;
    entry.reason = Drop::Ended;
    entry.isDelivered = entry.isParity = false;
    return number;
}

void PacketPool::Release(std::uint32_t number)
{
    auto& entry = m_entries[number];
    const auto [item, isDelivered, isParity, reason] = std::tuple(entry.item, entry.isDelivered, entry.isParity, entry.reason);
    // What it covers may be settled now, and may be taken again while the others are: the list leaves the entry first.
    auto covered = std::move(entry.covered);
    entry.covered.clear();
    for (auto& packet : covered)
    {
        packet = {};
    }
    covered.clear();
    m_entries[number].covered = std::move(covered);
    m_unused.push_back(number);
    if (!isParity)
    {
        m_settle(item, isDelivered, reason);
    }
}

} // namespace netboxit::multiservice
