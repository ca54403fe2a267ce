// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base_downlink.h"
#include "base_uplink.h"
#include "configuration.h"
#include "subscriber.h"

#include <map>
#include <memory>

namespace netboxit::wimax
{

/// A point-to-multipoint cell: the frame clock and the way of frames (cell.cc), what happens on the air
/// (cell_air.cc), and the radio conditions and statistics (cell_state.cc).
class Cell : public Segment
{
  public:
    explicit Cell(const SegmentSetup& setup);

    void Transmit(StationId from, Destination to, const Frame& frame) override;
    void Set(std::string_view parameter, const Json& value) override;
    Json Read() const override;
    bool Ready() const override;

  private:
    /// The frame clock: maps, downlink bursts, and what the uplink subframe will hold.
    void BeginFrame();
    void Contend(bool ranging);
    void RangeInitially();
    void RequestInContention();
    void SendUplinkBurst(const UplinkGrant& grant);
    void SendDownlinkBurst(const DownlinkBurst& burst);

    /// The ends of a frame's hops.
    void ArriveAtBase(const std::shared_ptr<Sdu>& sdu);
    void ArriveAtSubscriber(const std::shared_ptr<Sdu>& sdu, std::size_t receiver);
    void SendDownlink(StationId from, Destination to, const Frame& frame);

    /// Radio conditions, at the beginning and after a change of a parameter.
    void UpdateLinks();
    void UpdateLink(std::size_t index, const LinkBudget& budget);
    ns3::Time Propagation(StationId subscriber) const;
    bool Corrupts(double blockErrorRate, std::uint32_t offset, std::uint32_t bytes, ProfileId profile);

    Configuration m_configuration;
    Accounts m_accounts;
    FrameLayout m_layout;
    ReceiverSnr m_receiverSnr;
    std::vector<std::unique_ptr<Subscriber>> m_subscribers;
    std::map<StationId, std::size_t> m_indices; ///< station to index of subscriber
    BaseUplink m_baseUplink;
    BaseDownlink m_baseDownlink;
    ns3::Ptr<ns3::UniformRandomVariable> m_noise;
    UplinkMap m_nextMap; ///< with next-frame relevance: for the uplink subframe to come
    std::uint64_t m_frame{};
    std::uint64_t m_downlinkSymbolsUsed{};
    std::uint64_t m_uplinkSymbolsUsed{};
    std::uint64_t m_requestCollisions{};
};

} // namespace netboxit::wimax
