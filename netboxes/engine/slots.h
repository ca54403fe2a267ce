// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "frame.h"
#include "headers.h"

#include <memory>
#include <vector>

namespace netboxit
{

/// One Ethernet frame inside the netbox: its bytes, and the stations that still wait for a copy.
class Slot
{
  public:
    /// Where the bytes of a received frame go.
    std::span<std::uint8_t> room;
    Bytes bytes; ///< the frame, without FCS

    std::uint64_t identity{};
    std::int64_t arrivalStamp{}; ///< ns since 1970
    std::int64_t admitted{};     ///< simulated time, ns
    std::int64_t enteredLate{};  ///< the simulation had passed the time of arrival by so much, ns
    StationId from{};
    ClassId trafficClass{};
    std::uint32_t departing{}; ///< copies delivered by the segment, but not yet handed over

    /// `bytes`, which lie in `room`, to be changed.
    std::span<std::uint8_t> Writable() const
    {
        return room.subspan(static_cast<std::size_t>(bytes.data() - room.data()), bytes.size());
    }

    SlotId Id() const
    {
        return {m_index, m_generation};
    }

    /// Stations still without a copy or a reason for its loss.
    std::uint32_t Outstanding() const
    {
        return m_outstanding;
    }

    void Await(StationId station);
    /// The copy for a station that awaits one will be marked as having experienced congestion.
    void Mark(StationId station);
    bool IsMarked(StationId station) const;
    /// False when this station did not wait for a copy (any more). Its mark is gone afterwards.
    bool Settle(StationId station);
    bool Awaits(StationId station) const;

  private:
    friend class SlotTable;

    std::uint32_t m_index{};
    std::uint32_t m_generation{};
    std::uint32_t m_outstanding{};
    std::uint32_t m_earlier{};
    std::uint32_t m_later{};
    std::vector<std::uint64_t> m_awaiting; ///< one bit a station
    std::vector<std::uint64_t> m_marked;   ///< likewise
};

/// All frames inside a netbox, at most `capacity`. Memory grows in pieces as it is needed and is never given
/// back, so that a warm netbox allocates nothing.
class SlotTable
{
  public:
    SlotTable(std::uint32_t capacity, std::size_t largestFrame, std::size_t stations);

    /// An empty slot to receive a frame into, or null when the table is full.
    Slot* Take();
    /// Puts a taken slot behind all others in the order of expiry.
    void Admit(Slot& slot, std::int64_t now);
    /// Frees a slot: its name is stale from now on.
    void Release(Slot& slot);
    /// The slot that is admitted under this name, or null when the name is stale.
    Slot* Find(SlotId id);
    const Slot* Find(SlotId id) const;

    /// The slot that was admitted first of those still there, or null.
    Slot* Oldest()
    {
        return m_oldest == NONE ? nullptr : &At(m_oldest);
    }

    /// The slot admitted next after this one, or null.
    Slot* After(const Slot& slot)
    {
        return slot.m_later == NONE ? nullptr : &At(slot.m_later);
    }

    std::uint32_t Admitted() const
    {
        return m_admitted;
    }

  private:
    static constexpr std::uint32_t NONE = UINT32_MAX;
    static constexpr std::uint32_t PIECE = 64;

    struct Piece
    {
        std::unique_ptr<Slot[]> slots;
        std::unique_ptr<std::uint8_t[]> bytes;
    };

    Slot& At(std::uint32_t index)
    {
        return m_pieces[index / PIECE].slots[index % PIECE];
    }

    const Slot& At(std::uint32_t index) const
    {
        return m_pieces[index / PIECE].slots[index % PIECE];
    }

    void Grow();

    std::uint32_t m_capacity;
    std::size_t m_stride;
    std::size_t m_words;
    std::vector<Piece> m_pieces;
    std::vector<std::uint32_t> m_free;
    std::uint32_t m_oldest{NONE};
    std::uint32_t m_newest{NONE};
    std::uint32_t m_admitted{0};
};

} // namespace netboxit
