// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "plan.h"

#include "../queueing/chance.h"
#include "../queueing/queue.h"

#include "ns3/mac48-address.h"
#include "ns3/wifi-mac-queue.h"

#include <functional>

namespace netboxit
{

/// One transmit queue of a station: that of its only access category, or of one of four.
///
/// A fifo that is limited in packets alone is the MAC's own queue. Any other queue is a queueing::Queue above it, as in Linux:
/// the MAC then holds `device_queue` packets, and takes the next when one of them is acknowledged or given up.
class TransmitQueue
{
  public:
    /// A token, as its device sends it.
    struct Outgoing
    {
        ns3::Ptr<ns3::Packet> token;
        ns3::Mac48Address to;
        std::uint16_t etherType{};
    };

    using Send = std::function<void(const Outgoing& frame)>;
    /// Hears of each frame that is dropped before the MAC gets it, at once.
    using Lost = std::function<void(const Outgoing& frame, Loss reason)>;
    /// Marks a frame as having experienced congestion; false where its packet is not capable of ECN.
    using MarkFrame = std::function<bool(const Outgoing& frame)>;

    /// In front of the MAC's queue `mac`, which `send` ends in. Random numbers are those of `stream`.
    /// `channel` tells of the receivers.
    TransmitQueue(const CellPlan& plan,
                  ns3::Ptr<ns3::WifiMacQueue> mac,
                  std::int64_t stream,
                  Send send,
                  Lost lost,
                  MarkFrame mark,
                  const queueing::Channel& channel);
    TransmitQueue(const TransmitQueue&) = delete;
    TransmitQueue& operator=(const TransmitQueue&) = delete;
    ~TransmitQueue();

    /// Another queue, as queue.py dumps it, at a rate in bit/s; throws OutOfRange and then changes nothing. What waits above the
    /// MAC keeps its order; what has no room any more is lost. What the MAC has stays there.
    void Set(const Json& queue, double rate);

    /// Sends it, now or when its turn comes. `rate` is what the station sends with now, bit/s.
    void Enqueue(const Outgoing& frame, const queueing::Entry& entry, double rate);

    /// The MAC has put a frame on the air for the first time, which it had for so long, ns.
    void CountSent(std::int64_t waited)
    {
        m_macStatistics.Waited(waited);
    }

    /// The MAC has dropped a frame.
    void CountDropped(Loss reason)
    {
        m_macStatistics.Dropped(reason);
    }

    /// {queue}, and where that is above the MAC, {mac_queued}: packets that the MAC holds below it.
    Json Read() const;
    /// Statistics count from now on.
    void Reset();

  private:
    using Queue = queueing::Queue<Outgoing>;

    void SetMacRoom(std::uint32_t packets);
    bool MacHasRoom() const;
    std::uint32_t PacketsOfMac() const;
    void Drain();
    void OnRoom();
    void Enqueued(ns3::Ptr<const ns3::WifiMpdu> mpdu);
    void Dequeued(ns3::Ptr<const ns3::WifiMpdu> mpdu);

    const CellPlan& m_plan;
    ns3::Ptr<ns3::WifiMacQueue> m_mac;
    std::int64_t m_stream;
    queueing::LaterChances m_chances;
    Send m_send;
    Lost m_lost;
    MarkFrame m_mark;
    const queueing::Channel& m_channel;
    std::unique_ptr<Queue> m_queue; ///< above the MAC; none where the MAC's own queue is all
    std::uint32_t m_room{};         ///< packets that the MAC gets from here, before one more has to wait or is lost
    std::uint32_t m_macLimit;       ///< packets that the MAC itself takes: more than m_room while it has more than that
    std::uint64_t m_macBytes{};     ///< of the MSDUs and management frames in the MAC's queue
    queueing::QueueStatistics m_macStatistics;
    bool m_expectsRoom{false}; ///< OnRoom() is scheduled
    ns3::EventId m_due;        ///< when the queue above the MAC, which has a rate of its own, is due
};

} // namespace netboxit
