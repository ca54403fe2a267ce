// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"
#include "packet_pool.h"

namespace netboxit::multiservice
{

/// The frames of a netbox that are in the link layers of both ends, each as one or several pieces. A frame arrives with its
/// last piece, and is lost with the first piece that is lost.
class PacketsUnderWay
{
  public:
    explicit PacketsUnderWay(const SegmentSetup& setup);

    /// A frame for a station begins; its number is that of the pieces' packets.
    std::uint64_t Begin(SlotId slot, StationId to, std::uint32_t pieces);
    /// It may arrive more than once: keeps its bytes, where one piece has all of them.
    void Keep(std::uint64_t item);
    /// A piece of it has arrived.
    void Arrived(std::uint64_t item);
    /// A frame that had arrived did once more: where it was kept, it leaves at its station as a frame of its own.
    void ArrivedAgain(std::uint64_t item);
    /// Nothing refers to a piece of it any more.
    void Settled(std::uint64_t item, bool isDelivered, Drop reason);
    /// So many pieces of it are not sent at all: another piece is lost.
    void Withhold(std::uint64_t item, std::uint32_t pieces);
    bool IsLost(std::uint64_t item) const;
    SlotId SlotOf(std::uint64_t item) const;
    /// Its bytes, where one piece has all of them; or none.
    Bytes WholeFrame(std::uint64_t item) const;
    /// The segment ends: what becomes of frames is told to nobody any more.
    void End();

  private:
    struct Entry
    {
        SlotId slot;
        StationId to{};
        std::uint32_t pieces{};
        std::uint32_t arrived{};
        std::uint32_t open{}; ///< pieces that are not settled
        bool isLost{};
        std::vector<std::uint8_t> kept{}; ///< its bytes
    };

    void Close(std::uint64_t item, std::uint32_t pieces);

    Fates& m_fates;
    Frames& m_frames;
    bool m_hasEnded{false};
    std::vector<Entry> m_entries;
    std::vector<std::uint64_t> m_unused;
};

} // namespace netboxit::multiservice
