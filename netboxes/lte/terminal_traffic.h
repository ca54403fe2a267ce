// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "carrier_packet.h"
#include "frames_under_way.h"
#include "plan.h"
#include "rate_limit.h"

#include "../engine/loss_counts.h"


namespace netboxit
{

/// The frames of one UE that are on their way up and down, and what became of them.
class TerminalTraffic
{
  public:
    TerminalTraffic(StationId id, const StationPlan& plan, std::size_t classes, Fates& fates);
    TerminalTraffic(const TerminalTraffic&) = delete;
    TerminalTraffic& operator=(const TerminalTraffic&) = delete;

    /// The UE's.
    StationId Station() const
    {
        return m_id;
    }

    /// A frame is about to leave the UE, or the core for it. False, and it is lost, when there is no connection or it is more than its bearer's
    /// maximum rate permits.
    bool LeavesTerminal(Destination to, const Frame& frame, bool connected);
    bool LeavesCore(const Frame& frame, bool connected);
    /// It has arrived. False when it was given up before; then nothing is known of it any more.
    bool ArrivedAtCore(SlotId slot, ClassId trafficClass);
    bool ArrivedAtTerminal(SlotId slot, ClassId trafficClass);
    /// It waits in this queue of a bearer now.
    void Queued(const CarrierPacket& packet, bool uplink, QueueNumber queue);
    /// RLC got it from the queue, after those that it got before.
    void Passed(const CarrierPacket& packet, bool uplink);
    /// The queue has dropped it.
    void Dropped(const CarrierPacket& packet, bool uplink, Loss reason);

    /// A handover begins: of what is lost now, that is the cause.
    void Disturbed();
    /// The connection is lost, and all that was on its way over it.
    void Interrupted();

    /// Adds its counters to those of the UE.
    void Read(Json& counters) const;
    /// Counts from now on; what is on its way stays so.
    void Reset();

  private:
    struct Direction
    {
        std::vector<FramesUnderWay> underWay; ///< by class
        std::vector<RateLimit> limits;        ///< by class
        LossCounts lost;

        std::size_t Count() const;
    };

    FramesUnderWay& UnderWay(const CarrierPacket& packet, bool uplink);
    void Sweep();
    void LoseUp(const FramesUnderWay::Entry& entry, Loss reason);
    void LoseDown(SlotId slot, Loss reason);
    /// How a frame was lost that was sent then and never heard of.
    Loss Silent(const FramesUnderWay::Entry& entry) const;

    StationId m_id;
    Fates& m_fates;
    Direction m_up;
    Direction m_down;
    std::int64_t m_disturbed{-1}; ///< ns, when the latest handover or loss of connection was
    std::uint64_t m_sent{};
    std::uint64_t m_received{};
};

} // namespace netboxit
