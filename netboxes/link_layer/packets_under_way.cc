// SPDX-License-Identifier: GPL-2.0-or-later
#include "packets_under_way.h"

namespace netboxit::multiservice
{

namespace
{

/// What becomes of a frame, by what became of its piece.
Loss LossOf(Drop reason)
{
    switch (reason)
    {
    case Drop::WindowFull:
    case Drop::QueueFull:
        return Loss::QueueFull;
    case Drop::OnAir:
        return Loss::OnAir;
    case Drop::Ended:
    case Drop::GivenUp:
    case Drop::Suppressed:
        break;
    }
    return Loss::RetryLimit;
}

} // namespace

PacketsUnderWay::PacketsUnderWay(const SegmentSetup& setup) : m_fates(setup.fates), m_frames(setup.frames)
{
}

std::uint64_t PacketsUnderWay::Begin(SlotId slot, StationId to, std::uint32_t pieces)
{
    if (m_unused.empty())
    {
        m_unused.push_back(m_entries.size());
        m_entries.emplace_back();
    }
    const auto item = m_unused.back();
    m_unused.pop_back();
    m_entries[item] = {.slot = slot, .to = to, .pieces = pieces, .open = pieces};
    return item;
}

void PacketsUnderWay::Keep(std::uint64_t item)
{
    const auto bytes = WholeFrame(item);
    m_entries[item].kept.assign(bytes.begin(), bytes.end());
}

void PacketsUnderWay::ArrivedAgain(std::uint64_t item)
{
    const auto& entry = m_entries[item];
    if (!entry.kept.empty())
    {
        m_frames.Emit(entry.to, entry.kept);
    }
}

void PacketsUnderWay::Arrived(std::uint64_t item)
{
    auto& entry = m_entries[item];
    if (++entry.arrived == entry.pieces && !entry.isLost)
    {
        m_fates.Deliver(entry.slot, entry.to);
    }
}

void PacketsUnderWay::Settled(std::uint64_t item, bool isDelivered, Drop reason)
{
    auto& entry = m_entries[item];
    if (!isDelivered && !entry.isLost && !m_hasEnded)
    {
        entry.isLost = true;
        if (reason == Drop::Suppressed)
        {
            m_frames.Absorb(entry.slot); // it has done its work here
        }
        else
        {
            m_fates.Lose(entry.slot, entry.to, LossOf(reason));
        }
    }
    Close(item, 1);
}

void PacketsUnderWay::Withhold(std::uint64_t item, std::uint32_t pieces)
{
    Close(item, pieces);
}

bool PacketsUnderWay::IsLost(std::uint64_t item) const
{
    return m_entries[item].isLost;
}

SlotId PacketsUnderWay::SlotOf(std::uint64_t item) const
{
    return m_entries[item].slot;
}

Bytes PacketsUnderWay::WholeFrame(std::uint64_t item) const
{
    const auto& entry = m_entries[item];
    return entry.pieces == 1 ? m_frames.Read(entry.slot) : Bytes{};
}

void PacketsUnderWay::End()
{
    m_hasEnded = true;
}

void PacketsUnderWay::Close(std::uint64_t item, std::uint32_t pieces)
{
    auto& entry = m_entries[item];
    entry.open -= pieces;
    if (entry.open == 0)
    {
        m_unused.push_back(item);
    }
}

} // namespace netboxit::multiservice
