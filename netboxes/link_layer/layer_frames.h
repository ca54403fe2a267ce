// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/loss_counts.h"
#include "air_frame.h"
#include "frame_codec.h"

#include <deque>
#include <functional>

namespace netboxit::link_layer
{

using multiservice::AirFrame;

/// The EtherType of the frames of a link layer: IEEE 802-2014, 9.2.3, local experimental EtherType 2.
inline constexpr std::uint16_t LINK_LAYER = 0x88b6;

/// What the technology below a link layer has in the place of the engine: the frames of the link layer that it carries, which only this knows,
/// and all others, which stay the engine's.
class LayerFrames : public Frames, public Fates
{
  public:
    /// A frame of the link layer that a technology carries.
    struct Carried
    {
        StationId from{};
        StationId to{};
        AirFrame frame{};
        /// The packet that it carries, all or a part of, where a mark of congestion goes.
        std::optional<SlotId> packet{};
    };

    /// `hasArrived` says whether the technology delivered the frame undamaged.
    using End = std::function<void(const Carried& carried, bool hasArrived)>;

    /// Frames of a station that arrived, and how many of them did so late.
    struct Arrivals
    {
        std::uint64_t all{};
        std::uint64_t late{};
    };

    /// A frame is late when the technology had it for longer than `longest`, ns.
    LayerFrames(const SegmentSetup& setup, std::int64_t longest, End end);

    /// A frame that the technology is about to have. Its bytes are the headers of Ethernet and of the link layer, in this format.
    SlotId Begin(const Carried& carried, const multiservice::HeaderFormat& format);

    /// How many frames of a station the technology lost, by its reasons.
    const LossCounts& LossesOf(StationId from) const
    {
        return m_losses[from];
    }

    const Arrivals& ArrivalsOf(StationId from) const
    {
        return m_arrivals[from];
    }

    void ResetStatistics();

    bool Emit(StationId station, Bytes frame) override;
    Bytes Read(SlotId frame) const override;
    std::span<std::uint8_t> Rewrite(SlotId frame) override;
    bool MarkCongestion(SlotId frame, std::optional<StationId> station) override;
    std::optional<SlotId> Duplicate(SlotId frame, StationId station) override;
    std::int64_t ArrivedAt(SlotId frame) const override;
    void Absorb(SlotId frame) override;
    std::int64_t Behind() const override;
    std::int64_t StampOf(std::int64_t time) const override;

    void Deliver(SlotId frame, StationId station) override;
    void Lose(SlotId frame, StationId station, Loss reason) override;
    void LoseAll(SlotId frame, Loss reason) override;

  private:
    static constexpr std::size_t LONGEST_HEADERS = ETHERNET_HEADER + multiservice::LONGEST_HEADER;

    struct Entry
    {
        std::uint32_t generation{};
        bool isUnderWay{};
        Carried carried{};
        std::int64_t begun{}; ///< simulated time, ns
        std::array<std::uint8_t, LONGEST_HEADERS> headers{};
        std::size_t headerBytes{};
        /// Where the technology may have changed it: the frame, with zeros in the place of the packet.
        std::vector<std::uint8_t> rewritten{};

        bool IsDamaged() const;
    };

    struct Begun
    {
        SlotId slot;
        std::int64_t time;
    };

    static bool IsOwn(SlotId frame);
    Entry* Find(SlotId frame);
    const Entry* Find(SlotId frame) const;
    SlotId Take(std::int64_t now);
    /// Frames of which a technology says nothing for as long as the engine keeps frames are lost.
    void Expire(std::int64_t now);
    void Finish(SlotId frame, bool hasArrived);

    Frames& m_frames;
    Fates& m_fates;
    std::int64_t m_longest;
    End m_end;
    std::vector<Entry> m_entries;
    std::vector<std::uint32_t> m_unused;
    std::deque<Begun> m_begun; ///< in their order
    std::vector<LossCounts> m_losses; ///< by station
    std::vector<Arrivals> m_arrivals; ///< likewise
};

} // namespace netboxit::link_layer
