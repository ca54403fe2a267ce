// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "frame_structure.h"
#include "radio.h"
#include "terminal.h"

#include "ns3/event-id.h"

#include <deque>
#include <set>

namespace netboxit
{

/// The network: how stations get at the channel, who has it, and what is sent over it.
class Cell
{
  public:
    Cell(const SegmentSetup& setup, Radio& radio);

    void Transmit(const Packet& packet);
    /// Radios, places or powers may have changed.
    void LookAtLinks();
    /// Those without a link when it was last looked at.
    std::vector<Unlinked> WithoutLink() const;

    void SetSlots(std::uint32_t slots);
    void SetCallSetupTime(double seconds)
    {
        m_setupTime = ns3::Seconds(seconds);
    }
    void SetHangTime(double seconds)
    {
        m_hangTime = ns3::Seconds(seconds);
    }

    /// Another discipline, room or time of all queues; throws OutOfRange and then changes nothing.
    void SetQueue(const Json& queue);

    Json Read() const;
    void Reset();

  private:
    /// A wish for a channel: before its access succeeded, while it is set up, while it waits for a channel or the other one.
    struct Request
    {
        enum class Stage
        {
            Access,
            SetUp,
            Waiting,
        };

        std::uint64_t id{};
        StationId from{};
        std::optional<StationId> to;
        std::int64_t since{};
        Stage stage{Stage::Access};
        std::int64_t opportunity{};
        int attempts{};
    };

    /// A packet on its way.
    struct Sending
    {
        StationId speaker{};
        Packet packet;
        std::uint32_t missing{}; ///< blocks
        int rounds{};
        bool arrived{};
        std::vector<StationId> reached; ///< of a group, who has every block
    };

    struct Call
    {
        std::uint64_t id{};
        StationId from{};
        std::optional<StationId> to; ///< none: a group call
        ClassId trafficClass{};
        std::size_t carrier{};
        SlotRange slots;
        std::vector<bool> members;
        std::int64_t began{};
        std::optional<StationId> holder; ///< who had the floor last
        std::int64_t holderSince{};
        std::optional<Sending> sending;
        ns3::EventId event;

        /// In its hang time.
        bool IsIdle() const
        {
            return !sending;
        }
    };

    bool IsBase(StationId station) const
    {
        return m_radio.Base() == station;
    }

    bool IsInCall(StationId station) const;
    /// The terminal's call; null: none. The base is in any number.
    Call* CallOf(StationId terminal) const;
    Call* CallBetween(StationId station, std::optional<StationId> other);
    Request* RequestBy(StationId station, std::optional<StationId> to);
    /// To whom a station in a call may speak.
    std::optional<StationId> Addressee(const Call& call, StationId station) const;
    ClassId UrgencyOf(const Request& request) const;
    void Lose(const Packet& packet, Loss reason);
    /// Schedules the loss of the packet for the end of its lifetime, if it waits then.
    void ExpireInTime(const Packet& packet);
    void Expire(StationId station);
    /// Net, of a call, bit/s.
    double Rate() const;
    const char* WhyDown(StationId station) const;

    // cell_access.cc
    /// The station has something new to send, or nothing that keeps it from sending any more.
    void Serve(StationId station);
    void Ask(StationId station, std::optional<StationId> to);
    void Contend(Request& request, std::int64_t earliest);
    void Resolve(std::int64_t opportunity);
    void AccessFails(Request& request, std::int64_t opportunity);
    void SetUpEnds(std::uint64_t id);
    void Allocate();
    /// Whether the request can be granted but for a channel.
    bool CanBegin(const Request& request) const;
    void Erase(std::uint64_t request);
    /// Drops those at this stage (and opportunity) whose packets are gone; their stations may want something else.
    void EraseIdle(Request::Stage stage, std::optional<std::int64_t> opportunity);
    /// Slots for a call; `idleEnded`: those that there would be if all calls without traffic ended.
    std::optional<std::pair<std::size_t, SlotRange>> FreeSlots(bool idleEnded = false) const;
    /// Ends the calls in their hang time that keep this request from a channel, if it can have one then.
    void EndIdleCallsBefore(const Request& request);
    /// Ends the least urgent call that is no emergency; false when there is none.
    bool Preempt();
    void StartCall(const Request& request, std::size_t carrier, SlotRange slots);

    // cell_call.cc
    void Proceed(Call& call);
    void Speak(Call& call, StationId station);
    /// Sends what is missing from `earliest` on.
    void SendRound(Call& call, std::int64_t earliest);
    /// Blocks that each of `receivers` misses of so many; `end` is when the last one has passed the air.
    std::vector<std::uint32_t> Spoiled(const Call& call,
                                       StationId speaker,
                                       const std::vector<StationId>& receivers,
                                       std::int64_t earliest,
                                       std::uint32_t blocks,
                                       std::int64_t& end);
    void RoundEnds(std::uint64_t id);
    void AcknowledgementEnds(std::uint64_t id, bool heard);
    void GroupRoundEnds(Call& call);
    void Finish(Call& call);
    void EndCall(std::uint64_t id);
    /// What was being sent in it is sent again in another one.
    void Release(Call& call);
    void AfterRelease();
    Call* Find(std::uint64_t id);

    std::vector<std::string> m_names;
    Fates& m_fates;
    Frames& m_frames;
    Announcements& m_announcements;
    Radio& m_radio;
    BlockFormat m_format;
    std::size_t m_carriers;
    std::int64_t m_slots;
    bool m_acknowledged;
    int m_retransmissions;
    ns3::Time m_setupTime;
    ns3::Time m_hangTime;
    std::int64_t m_turnaround;
    std::int64_t m_floorTime;
    std::int64_t m_longestCall;
    int m_accessAttempts;
    std::int64_t m_accessTimeout; ///< frames
    std::uint32_t m_accessFrame;  ///< opportunities
    std::optional<ClassId> m_emergency;
    ns3::Ptr<ns3::UniformRandomVariable> m_backoff;
    std::uint64_t m_lastId{};
    std::deque<Terminal> m_stations;
    std::vector<Request> m_requests;
    std::vector<std::unique_ptr<Call>> m_calls;
    std::set<std::int64_t> m_opportunities; ///< that somebody will use
    std::vector<bool> m_up;
};

} // namespace netboxit
