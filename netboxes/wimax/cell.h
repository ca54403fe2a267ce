// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base_downlink.h"
#include "base_uplink.h"
#include "configuration.h"
#include "places.h"
#include "shadowing.h"
#include "subscriber.h"

#include <array>
#include <memory>

namespace netboxit::wimax
{

/// What the reserved rates of a direction would take of each subframe, and what there is.
struct Booking
{
    double symbols{};
    std::uint32_t available{};
    bool overbooked{};
};

/// A point-to-multipoint cell: the frame clock and the way of frames (cell.cc), what happens on the air
/// (cell_air.cc), and the radio conditions and statistics (cell_state.cc).
class Cell : public Segment
{
  public:
    explicit Cell(const SegmentSetup& setup);

    void Transmit(StationId from, Destination to, const Frame& frame) override;
    void Set(std::string_view parameter, const Json& value) override;
    Json Read() const override;
    std::vector<Unlinked> WithoutLink() const override;
    std::optional<LinkState> StateOf(StationId station) const override;
    bool Ready() const override;
    void Begin() override;
    void Reset() override;

  private:
    /// What the cell keeps of a subscriber beside its MAC.
    struct Radio
    {
        Shadowing shadowing;
        double distanceM{};
        double fadeDb{}; ///< with the cell's
        bool announcedUp{true};
        std::uint64_t uplinkSymbols{}; ///< of its bursts, with preambles
        double downlinkSymbols{};      ///< of bursts that it shares with others, in proportion
        std::uint64_t requestCollisions{};
    };

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

    /// Of all connections that have none of their own; throws OutOfRange and then changes nothing.
    void SetQueue(const Json& queue);

    /// Radio conditions, at the beginning and after a change of a parameter.
    void UpdateLinks();
    void UpdateLink(std::size_t index);
    /// Distance, fade and SNR as they are now.
    void UpdateSignal(std::size_t index);
    void LoseLink(std::size_t index);
    const char* ReasonOfLoss(std::size_t index) const;
    void AnnounceUp(std::size_t index);
    void AnnounceProfile(std::size_t index,
                         std::string_view direction,
                         std::optional<ProfileId> from,
                         std::optional<ProfileId> to);
    /// Says when reserved rates begin or cease to be more than a direction carries.
    void CheckBooking();
    bool Reaches(std::size_t index) const;
    /// Of a subscriber that is alone in the cell.
    LinkState AloneState(std::size_t index) const;
    /// Of coded data in a burst: what the burst profile carries while it lasts.
    double RateBps(const Link& link) const;
    ns3::Time Propagation(StationId subscriber) const;
    bool Corrupts(double blockErrorRate, std::uint32_t offset, std::uint32_t bytes, ProfileId profile);

    Configuration m_configuration;
    Announcements& m_announcements;
    Frames& m_frames;
    std::vector<std::string> m_names; ///< by StationId
    Places m_places;
    std::optional<LinkBudget> m_budget;
    std::vector<Radio> m_radios; ///< by index of subscriber
    bool m_changing{};           ///< links may change in each frame
    bool m_bookingStale{true};
    std::array<Booking, 2> m_booking; ///< by Direction
    double m_beganS{};
    bool m_began{};
    Accounts m_accounts;
    FrameLayout m_layout;
    ReceiverSnr m_receiverSnr;
    std::vector<std::unique_ptr<Subscriber>> m_subscribers;
    std::vector<std::size_t> m_indices; ///< station to index of subscriber
    BaseUplink m_baseUplink;
    BaseDownlink m_baseDownlink;
    ns3::Ptr<ns3::UniformRandomVariable> m_noise;
    UplinkMap m_nextMap; ///< with next-frame relevance: for the uplink subframe to come
    ns3::Time m_firstFrame{ns3::Simulator::Now()}; ///< when it began
    std::uint64_t m_frame{};
    std::uint64_t m_frameAtReset{};
    std::uint64_t m_downlinkSymbolsUsed{};
    std::uint64_t m_uplinkSymbolsUsed{};
    std::uint64_t m_requestCollisions{};
};

} // namespace netboxit::wimax
