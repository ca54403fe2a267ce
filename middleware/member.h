// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "datagram.h"
#include "dybra_client.h"
#include "messages.h"
#include "retransmission.h"

#include <nlohmann/json.hpp>

#include <array>
#include <functional>
#include <optional>
#include <vector>

namespace netboxit::middleware
{

/// A client's part of C2ML: C. A. Grazia, dissertation, sections 2.2.3 and 2.3.2. It joins an allocator, keeps its lease, and says which
/// budget applies.
///
/// It has no sockets, no clock and no threads. Its host gives it each datagram with the time, calls Advance() not later than at Due(),
/// sends what TakeDatagrams() returns, and applies what TakeEvents() says, after each call. Calls must not come with earlier times than the
/// one before.
class Member
{
  public:
    /// What applies while the member has no lease.
    enum class WithoutLease : std::uint8_t
    {
        Unmanaged, ///< no budget, as C2ML's client: "drop all caps" (section 2.2.3)
        Hold,      ///< the last budget
    };

    struct Settings
    {
        std::uint32_t domain; ///< number of the link, the same for its allocator
        Address allocator;    ///< all but announcements of other addresses is ignored
        Key key{};            ///< of the group; 0, 0 where none is agreed
        WithoutLease withoutLease{WithoutLease::Unmanaged};
        unsigned threshold{DybraClient::THRESHOLD}; ///< of DyBRA, thousandths
    };

    /// 64 random bits. From a seed in tests and in virtual time; elsewhere nobody must be able to guess them: they name sessions, too.
    using Random = std::function<std::uint64_t()>;

    struct Event
    {
        enum class Kind : std::uint8_t
        {
            BudgetChanged,  ///< `budget` applies from now on
            Joined,         ///< the allocator granted a lease; also a restarted one
            Refused,        ///< by the allocator, for `reason`; the member tries again
            LeaseLost,      ///< it ended without an answer
            Unreachable,    ///< the allocator did not answer four times in a row
            Reachable,      ///< it answers again
            OtherAllocator, ///< another allocator announces budgets for this link: two manage one bottleneck
            Left,           ///< the allocator confirmed, or did not answer three times
        };

        Kind kind;
        std::optional<Rate> budget{}; ///< bit/s; nothing: none applies
        std::optional<Reason> reason{};
    };

    Member(const Settings& settings, Random random);

    /// Begins to join; does nothing if it began before.
    void Join(Time now);
    /// Returns the budget: no budget applies from now on.
    void Leave(Time now);
    /// The rate that the access allows, of 0 to MOST_RATE, which stands for no known limit. Throws std::invalid_argument otherwise. It has
    /// an effect only with an allocator that reassigns.
    void SetAccess(Rate access, Time now);

    /// A datagram came, to this member or to all. What is no answer to it is counted and ignored.
    void Receive(std::span<const std::uint8_t> bytes, const Address& from, Time now);
    /// Does what is due.
    void Advance(Time now);
    Time Due() const;

    std::vector<Datagram> TakeDatagrams();
    std::vector<Event> TakeEvents();

    /// What the member may send, bit/s; nothing where no budget applies.
    std::optional<Rate> Budget() const
    {
        return m_applied;
    }

    /// Of the allocator that granted the last lease; 0 before that.
    std::uint64_t Instance() const
    {
        return m_instance;
    }

    bool HasLease() const
    {
        return m_lease != NEVER;
    }

    /// As of the last call, in base units:
    /// - `state`: "out", "joining", "member", "leaving"; `budget` in bit/s or null; `epoch`; `bad` and `access`, with DyBRA;
    /// - `reachable`; `round_trip_s`, smoothed, or null;
    /// - `requests`, and how many of them were `repeated`; `grants`, `challenges`, `refusals`, `announcements` that were accepted;
    /// - `leases_lost`; `instances`: allocators that it had, one after another;
    /// - `ignored` by reason: those of Fault, and `domain`, `source` (not the allocator's address), `session`, `instance`, `unexpected` (a
    ///   kind that no allocator sends, or an answer to nothing), `epoch` (an old announcement), `contradiction` (the same epoch with
    ///   another content), `disproved` (announcements that the allocator's own answer showed to be false);
    /// - `other_allocators`: announcements of others for this link.
    nlohmann::json Read() const;

  private:
    enum class State : std::uint8_t
    {
        Out,
        Joining,
        Member,
        Leaving,
    };

    /// What was asked and not yet answered.
    struct Request
    {
        Kind kind;
        std::uint32_t first;      ///< sequence number of its first transmission
        Time asked;               ///< time of that
        std::uint64_t epoch;      ///< that the member had heard of then
        Rate access;              ///< what it reports
        bool isProbe{};           ///< asked because another instance announced something
        bool isRefused{};         ///< and waits as long as the allocator said
        /// Times of the latest transmissions, by sequence number modulo their number: one whose answer takes longer than until the next
        /// one is answered, too.
        std::array<Time, 32> times{};
        Time again{};             ///< when it is sent again
        unsigned tries{1};        ///< transmissions, without those that answered challenges
        unsigned challenges{};    ///< that were answered at once
        std::uint64_t token{};    ///< of the last challenge
        std::uint64_t instance{}; ///< of the last challenge
    };

    enum class Ignored : std::uint8_t
    {
        Domain,
        Source,
        Session,
        Instance,
        Unexpected,
        Epoch,
        Contradiction,
        Disproved,
    };

    static constexpr std::size_t IGNORED = 8;

    void Take(const Header& header, const Challenge& challenge, Time now);
    void Take(const Header& header, const Grant& grant, Time now);
    void Take(const Header& header, const Refused& refused, Time now);
    void Take(const Header& header, const Released& released, Time now);
    /// Of a kind that no allocator sends to a member.
    template <typename Other>
    void Take(const Header& header, const Other& other, Time now);
    void TakeAnnouncement(const Header& header, const Terms& terms, const Address& from, Time now);
    void TakeOtherInstance(const Terms& terms, Time now);

    /// Whether the message answers the request, in whichever of its transmissions.
    bool IsAnswer(const Header& header) const;
    void Ask(Kind kind, Time now);
    void Transmit(Time now);
    Body BodyOf(const Request& request) const;
    Time LongestTimeout() const;
    std::optional<Time> SentAt(std::uint32_t sequence) const;
    void TryAgain(Time now);
    /// The allocator answered.
    void Hear(const Header& header, Time now);
    void NoteOther(Time now);

    /// Reports the rate of the access if the allocator must know.
    void Assess(Time now);
    void LoseLease(Time now);
    void ForgetLease();
    void Finish();
    void ApplyTerms();
    void Apply(std::optional<Rate> budget);
    void Listen(Time period, Time now);
    void Note(Event::Kind kind, std::optional<Reason> reason = std::nullopt);
    void Count(Ignored reason);
    /// From 0 to below 1.
    double Chance();

    Settings m_settings;
    Random m_random;
    State m_state{State::Out};
    std::uint64_t m_session{};
    std::uint32_t m_sequence{};
    std::optional<Request> m_request;
    Retransmission m_retransmission;
    std::vector<Datagram> m_datagrams;
    std::vector<Event> m_events;

    std::uint64_t m_instance{};
    Terms m_terms{};
    Time m_lease{NEVER};   ///< its end
    Time m_refresh{NEVER}; ///< when it is to be prolonged
    Time m_silence{NEVER}; ///< without an announcement until then the allocator is asked
    Time m_silencePeriod{};
    Time m_probe{NEVER};   ///< when it asks whether the allocator was restarted
    Time m_nextProbe{};    ///< not before
    Time m_nextNote{};     ///< of another allocator, not before
    bool m_isReachable{true};
    unsigned m_unanswered{};

    bool m_reassigns{};
    DybraClient m_dybra;
    Rate m_access{MOST_RATE};
    /// What the allocator has judged already: the same is not reported again.
    std::optional<std::pair<Rate, std::uint64_t>> m_judged;
    std::optional<Rate> m_applied;

    std::array<std::uint64_t, FAULTS> m_faults{};
    std::array<std::uint64_t, IGNORED> m_ignored{};
    std::uint64_t m_requests{};
    std::uint64_t m_repeated{};
    std::uint64_t m_grants{};
    std::uint64_t m_challenges{};
    std::uint64_t m_refusals{};
    std::uint64_t m_announcements{};
    std::uint64_t m_leasesLost{};
    std::uint64_t m_instances{};
    std::uint64_t m_otherAllocators{};
};

} // namespace netboxit::middleware
