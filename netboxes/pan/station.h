// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/fragmentation.h"
#include "../engine/loss_counts.h"
#include "../queueing/queue.h"

#include "fragment.h"
#include "radio.h"

#include "ns3/lr-wpan-mac.h"

#include <functional>
#include <map>

namespace netboxit
{

/// Why a datagram did not get over a hop.
enum class HopEnd
{
    Sent,      ///< every fragment left, and was acknowledged if it had to be
    NoAck,     ///< a fragment was not acknowledged, as often as it was repeated
    NoChannel, ///< the channel was never found idle
};

/// What a station's surroundings do for it.
struct StationEvents
{
    /// A datagram has arrived whole.
    std::function<void(StationId at, const Datagram&)> arrived;
    /// A datagram was dropped in a station's queue.
    std::function<void(StationId at, const Datagram&, Loss)> dropped;
    /// A hop is over, and whatever can arrive has.
    std::function<void(StationId sender, const Datagram&, std::optional<StationId> hop, std::uint16_t number, HopEnd)> ended;
};

/// One station: a queue, fragmentation and reassembly above ns-3's MAC, of which it asks one frame at a time.
class Station
{
  public:
    Station(StationId id, const SegmentSetup& setup, Radio& radio, const StationEvents& events);
    Station(const Station&) = delete;
    Station& operator=(const Station&) = delete;
    ~Station();

    /// It is sent when its turn in the queue comes, or dropped. Without a hop it is a broadcast.
    void Send(const Datagram& datagram, std::optional<StationId> hop);
    /// Whether this datagram of that sender arrived here whole.
    bool HasCompleted(StationId sender, std::uint16_t number) const;
    /// Whether its fragments came too slowly (`reassembly_timeout`).
    bool HasTimedOut(StationId sender, std::uint16_t number) const;
    /// Another queue (a parameter `queue`, as queue.py dumps it); throws OutOfRange and then changes nothing.
    void SetQueue(const Json& value);
    void CountLoss(Loss reason)
    {
        ++m_lost[reason];
    }

    Json Read() const;
    void Reset();

  private:
    struct Outgoing
    {
        Datagram datagram;
        std::optional<StationId> hop;
    };

    /// What is known of a sender's latest datagram. A sender sends one after the other, and each one's fragments in order.
    struct Incoming
    {
        std::optional<std::uint16_t> number;
        std::uint32_t received{}; ///< bytes, without a gap
        ns3::Time began;
        bool complete{};
        bool late{};
    };

    void SendNext();
    void SendFragment();
    void Confirmed(ns3::lrwpan::McpsDataConfirmParams params);
    void Settle(Outgoing outgoing, std::uint16_t number, HopEnd end);
    void Received(ns3::lrwpan::McpsDataIndicationParams params, ns3::Ptr<ns3::Packet> packet);
    void TransmissionBegins(ns3::Ptr<const ns3::Packet> packet);
    void CountAbandoned(const Incoming& incoming);

    StationId m_id;
    Frames& m_frames;
    Radio& m_radio;
    const StationEvents& m_events;
    Fragmentation m_fragmentation;
    bool m_acknowledged;
    bool m_extended;
    ns3::Time m_reassemblyTimeout;
    queueing::Queue<Outgoing> m_queue;
    std::optional<Outgoing> m_sending;
    ns3::EventId m_sendsNext;   ///< when its queue, which has a rate of its own, is due
    std::uint16_t m_number{};   ///< of the datagram that is being sent
    std::uint32_t m_offset{};   ///< of the fragment that is being sent
    std::uint32_t m_attempts{}; ///< of that fragment
    std::vector<Incoming> m_incoming; ///< by sender
    std::optional<StationId> m_lastHeard;

    std::uint64_t m_transmissions{};
    std::uint64_t m_retransmissions{};
    std::uint64_t m_noAcknowledgement{};
    std::uint64_t m_channelAccessFailures{};
    std::uint64_t m_reassemblyFailures{};
    std::uint64_t m_fragmentsReceived{};
    std::uint64_t m_lastLqi{};
    double m_airtime{}; ///< s
    LossCounts m_lost;
};

} // namespace netboxit
