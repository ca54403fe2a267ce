// SPDX-License-Identifier: GPL-2.0-or-later
#include "layer_frames.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace netboxit::link_layer
{

namespace
{

/// In a slot's index, of those of this table: the engine has fewer slots.
constexpr std::uint32_t OWN = 0x8000'0000;
/// As long as the engine keeps a frame, ns.
constexpr std::int64_t LONGEST = 30'000'000'000;

std::int64_t Now()
{
    return ns3::Simulator::Now().GetNanoSeconds();
}

/// Locally administered, by the number of the station.
void WriteAddress(StationId station, std::span<std::uint8_t> to)
{
    constexpr std::uint8_t LOCAL = 0x02;
    to[0] = LOCAL;
    to[4] = static_cast<std::uint8_t>(station >> 8);
    to[5] = static_cast<std::uint8_t>(station);
}

} // namespace

bool LayerFrames::Entry::IsDamaged() const
{
    const auto own = std::span(headers).first(headerBytes);
    return !rewritten.empty() && !(std::ranges::equal(std::span(rewritten).first(headerBytes), own) &&
                                   std::ranges::all_of(std::span(rewritten).subspan(headerBytes), [](auto byte) { return byte == 0; }));
}

LayerFrames::LayerFrames(const SegmentSetup& setup, std::int64_t longest, End end)
    : m_frames(setup.frames), m_fates(setup.fates), m_longest(longest), m_end(std::move(end)), m_losses(setup.stations.size()),
      m_arrivals(setup.stations.size())
{
}

SlotId LayerFrames::Begin(const Carried& carried, const multiservice::HeaderFormat& format)
{
    const auto now = Now();
    Expire(now);
    const auto slot = Take(now);
    auto& entry = *Find(slot);
    entry.carried = carried;
    entry.headers = {};
    WriteAddress(carried.to, std::span(entry.headers).subspan(0, 6));
    WriteAddress(carried.from, std::span(entry.headers).subspan(6, 6));
    entry.headers[12] = static_cast<std::uint8_t>(LINK_LAYER >> 8);
    entry.headers[13] = static_cast<std::uint8_t>(LINK_LAYER);
    const std::span<std::uint8_t, multiservice::LONGEST_HEADER> header(entry.headers.data() + ETHERNET_HEADER, multiservice::LONGEST_HEADER);
    entry.headerBytes = ETHERNET_HEADER + multiservice::EncodeHeader(carried.frame, format, header);
    return slot;
}

void LayerFrames::ResetStatistics()
{
    std::ranges::fill(m_losses, LossCounts{});
    std::ranges::fill(m_arrivals, Arrivals{});
}

bool LayerFrames::Emit(StationId station, Bytes frame)
{
    return m_frames.Emit(station, frame);
}

Bytes LayerFrames::Read(SlotId frame) const
{
    if (!IsOwn(frame))
    {
        return m_frames.Read(frame);
    }
    const auto* entry = Find(frame);
    return entry == nullptr ? Bytes{} : Bytes(entry->headers).first(entry->headerBytes);
}

std::span<std::uint8_t> LayerFrames::Rewrite(SlotId frame)
{
    if (!IsOwn(frame))
    {
        return m_frames.Rewrite(frame);
    }
    auto* entry = Find(frame);
    if (entry == nullptr)
    {
        return {};
    }
    if (entry->rewritten.empty())
    {
        entry->rewritten.resize(ETHERNET_HEADER + entry->carried.frame.Bytes());
        std::copy_n(entry->headers.begin(), entry->headerBytes, entry->rewritten.begin());
    }
    return entry->rewritten;
}

bool LayerFrames::MarkCongestion(SlotId frame, std::optional<StationId> station)
{
    if (!IsOwn(frame))
    {
        return m_frames.MarkCongestion(frame, station);
    }
    const auto* entry = Find(frame);
    return entry != nullptr && entry->carried.packet && m_frames.MarkCongestion(*entry->carried.packet, entry->carried.to);
}

std::optional<SlotId> LayerFrames::Duplicate(SlotId frame, StationId station)
{
    if (!IsOwn(frame))
    {
        return m_frames.Duplicate(frame, station);
    }
    if (Find(frame) == nullptr)
    {
        return std::nullopt;
    }
    const auto slot = Take(Now());
    const auto& original = *Find(frame);
    auto& copy = *Find(slot);
    copy.carried = original.carried;
    copy.headers = original.headers;
    copy.headerBytes = original.headerBytes;
    copy.rewritten = original.rewritten;
    return slot;
}

std::int64_t LayerFrames::ArrivedAt(SlotId frame) const
{
    if (!IsOwn(frame))
    {
        return m_frames.ArrivedAt(frame);
    }
    const auto* entry = Find(frame);
    return entry == nullptr ? 0 : m_frames.StampOf(entry->begun);
}

void LayerFrames::Absorb(SlotId frame)
{
    if (IsOwn(frame))
    {
        Finish(frame, false);
    }
    else
    {
        m_frames.Absorb(frame);
    }
}

std::int64_t LayerFrames::Behind() const
{
    return m_frames.Behind();
}

std::int64_t LayerFrames::StampOf(std::int64_t time) const
{
    return m_frames.StampOf(time);
}

void LayerFrames::Deliver(SlotId frame, StationId station)
{
    if (!IsOwn(frame))
    {
        m_fates.Deliver(frame, station);
        return;
    }
    if (const auto* entry = Find(frame); entry != nullptr && entry->carried.to == station)
    {
        const bool isDamaged = entry->IsDamaged();
        m_losses[entry->carried.from][Loss::OnAir] += isDamaged;
        auto& arrivals = m_arrivals[entry->carried.from];
        ++arrivals.all;
        arrivals.late += Now() - entry->begun > m_longest;
        Finish(frame, !isDamaged);
    }
}

void LayerFrames::Lose(SlotId frame, StationId station, Loss reason)
{
    if (IsOwn(frame))
    {
        LoseAll(frame, reason);
    }
    else
    {
        m_fates.Lose(frame, station, reason);
    }
}

void LayerFrames::LoseAll(SlotId frame, Loss reason)
{
    if (!IsOwn(frame))
    {
        m_fates.LoseAll(frame, reason);
        return;
    }
    if (const auto* entry = Find(frame))
    {
        ++m_losses[entry->carried.from][reason];
        Finish(frame, false);
    }
}

bool LayerFrames::IsOwn(SlotId frame)
{
    return (frame.index & OWN) != 0;
}

LayerFrames::Entry* LayerFrames::Find(SlotId frame)
{
    return const_cast<Entry*>(std::as_const(*this).Find(frame));
}

const LayerFrames::Entry* LayerFrames::Find(SlotId frame) const
{
    const auto index = frame.index & ~OWN;
    const bool isKnown = index < m_entries.size() && m_entries[index].isUnderWay && m_entries[index].generation == frame.generation;
    return isKnown ? &m_entries[index] : nullptr;
}

SlotId LayerFrames::Take(std::int64_t now)
{
    if (m_unused.empty())
    {
        m_unused.push_back(static_cast<std::uint32_t>(m_entries.size()));
        m_entries.emplace_back();
    }
    const auto index = m_unused.back();
    m_unused.pop_back();
    auto& entry = m_entries[index];
    entry.isUnderWay = true;
    entry.begun = now;
    const SlotId slot{index | OWN, entry.generation};
    m_begun.push_back({slot, now});
    return slot;
}

void LayerFrames::Expire(std::int64_t now)
{
    while (!m_begun.empty() && (Find(m_begun.front().slot) == nullptr || now - m_begun.front().time > LONGEST))
    {
        const auto slot = m_begun.front().slot;
        m_begun.pop_front();
        LoseAll(slot, Loss::Unknown);
    }
}

void LayerFrames::Finish(SlotId frame, bool hasArrived)
{
    auto* entry = Find(frame);
    if (entry == nullptr)
    {
        return;
    }
    const auto carried = std::exchange(entry->carried, {});
    entry->isUnderWay = false;
    entry->rewritten.clear();
    ++entry->generation;
    m_unused.push_back(frame.index & ~OWN);
    m_end(carried, hasArrived);
}

} // namespace netboxit::link_layer
