// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "medium.h"

#include "ns3/csma-channel.h"
#include "ns3/csma-net-device.h"

namespace netboxit
{

/// One wire that all stations share, half duplex: ns-3's csma. Each station has a queue in front of its device, which gets the
/// next frame when it becomes ready.
class Shared final : public Medium
{
  public:
    explicit Shared(const SegmentSetup& setup);
    ~Shared() override;

    void Transmit(StationId from, Destination to, const Frame& frame) override;

  private:
    using Packet = ns3::Ptr<const ns3::Packet>;

    struct Station
    {
        ns3::Ptr<ns3::CsmaNetDevice> device;
        std::unique_ptr<queueing::Queue<Outgoing>> queue;
        bool isBusy{false};        ///< the device has a frame, or gets one when the gap ends and the queue is due
        std::int64_t gapEndsAt{0}; ///< the interframe gap after the latest frame, simulated time, ns
        ns3::EventId sendsNext;    ///< when it gets that one
        bool sendingIsCut{false};  ///< its wire was cut under the frame that it sends
        std::uint64_t sent{0};
        std::uint64_t backoffs{0};
        double airtime{0.0}; ///< s
    };

    void AddStation(StationId id, const Json& parameters);
    /// Gives the device the frame whose turn it is.
    void SendNext(StationId sender);
    /// Does so when the device may send again, and the queue is due.
    void SendAfterGap(StationId sender);
    void SendAt(StationId sender, std::int64_t time);
    void Begins(StationId sender, Packet packet);
    void Ends(StationId sender, Packet packet);
    void GivesUp(StationId sender, Packet packet);
    bool Receives(StationId receiver, Packet packet, StationId sender);
    void Lose(StationId sender, SlotId slot, StationId receiver, Loss reason);
    void LoseAll(StationId sender, SlotId slot, Loss reason);
    /// ns-3's devices take rate and delay from their channel when they are attached: they get another one when nothing is on it.
    void Retune();

    void ApplyRate(StationId station) override;
    void ApplyDelay(StationId station) override;
    void ApplyCut(StationId station) override;
    void ApplyQueue(const Json& queue) override;
    void Check(double rate, double delay) const override;
    Json ReadStation(StationId station) const override;
    void ResetStation(StationId station) override;

    Frames& m_frames;
    std::uint32_t m_slot; ///< of the backoff, bit times
    std::uint32_t m_ceiling;
    std::uint32_t m_attempts;
    std::vector<Station> m_stations;
    ns3::Ptr<ns3::CsmaChannel> m_channel;
    std::uint64_t m_rate{}; ///< of the channel, bit/s
    bool m_retuning{false};
    ns3::EventId m_retune;
};

} // namespace netboxit
