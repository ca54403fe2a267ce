// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "datagram.h"
#include "dybra.h"
#include "member_table.h"
#include "messages.h"
#include "periods.h"

#include <nlohmann/json.hpp>

#include <array>
#include <set>
#include <vector>

namespace netboxit::middleware
{

using Json = nlohmann::json;

/// The gateway's part of C2ML: divides the rate of a link among its members and tells them. C. A. Grazia, dissertation, sections 2.2.3 and
/// 2.3.2, over UDP with leases in the place of a TCP session for each member.
///
/// It has no sockets, no clock and no threads. Its host gives it each datagram with the time, calls Advance() not later than at Due(), and
/// sends what TakeDatagrams() returns after each call. Calls must not come with earlier times than the one before.
///
/// - A member joins in two steps: a challenge with a token shows that it receives at its address (as RFC 6347, section 4.2.1), before it
///   takes room here.
/// - Changes are collected for a moment, answered together, and announced by one multicast message, which is repeated ever more rarely.
/// - A member whose lease ends is gone.
/// - With `recovers` it expects members of a former instance. They say how many shared the link; those that have not come back yet keep
///   their part until their leases have ended, so that the sum of all budgets stays below the capacity.
class Allocator
{
  public:
    struct Settings
    {
        std::uint32_t domain;                        ///< number of the link, the same for its members
        Rate capacity;                               ///< of the link, from 0 to MOST_RATE
        Key key{};                                   ///< of the group; 0, 0 where none is agreed
        bool reassigns{};                            ///< DyBRA; otherwise Unweighted Fair Budget
        Equations equations{Equations::Corrected};   ///< of DyBRA
        std::uint32_t members{65'536};               ///< at most; 65,536 take about 20 MB
        std::uint32_t perHost{1};                    ///< members with one host's address: budgets are a node's, not a socket's
        bool recovers{true};                         ///< another instance may have run before
        bool multicast{true};                        ///< otherwise the host sends a copy of each announcement to each member
    };

    /// What outsiders must not know or be able to guess.
    struct Secrets
    {
        std::uint64_t instance; ///< new with each start, not 0
        Key tokens;             ///< of the challenges
    };

    /// Throws std::invalid_argument where settings are not as above.
    Allocator(const Settings& settings, const Secrets& secrets, Time now);

    /// A datagram came. What is no message of a member, or not its next one, is counted and ignored. A host with several
    /// addresses says at which one it came: answers have it as Datagram::from, since a member takes them from no other one.
    void Receive(std::span<const std::uint8_t> bytes, const Address& from, Time now, const HostAddress& at = {});
    /// Throws std::invalid_argument where it is not from 0 to MOST_RATE.
    void SetCapacity(Rate capacity, Time now);
    /// Does what is due.
    void Advance(Time now);
    Time Due() const;

    std::vector<Datagram> TakeDatagrams();

    /// As of the last call, in base units:
    /// - `kind`: "unweighted" or "dybra"; `instance` in hexadecimal digits; `epoch`; `capacity`, `share`, `assigned`: bit/s;
    /// - `members`; `bad`: of them, with DyBRA; `absent`: of a former instance, not back yet; `recovering`;
    /// - `refresh_s`, `lease_s`: what members are told;
    /// - `announcements` of changes, and their `repetitions`; `grants`, `challenges`;
    /// - `joins`, `restarts` (a known address with a new session), `leaves`, `expired`; `refused`: {`full`, `per_host`};
    /// - `reports` of access rates; `returns`: bad members that have the share again because it fell;
    /// - `ignored` by reason: those of Fault, and `domain`, `unexpected` (a kind that no member sends), `session` (not that of this
    ///   address), `instance`, `sequence` (an old message);
    /// - `other_allocators`: announcements of another instance for this link.
    Json Read() const;

    /// The addresses of all members, for a host without multicast.
    std::vector<Address> Members() const;
    /// From which address of the host a member, one of Members(), takes announcements: that of its last message that was accepted.
    HostAddress AskedBy(const Address& member) const;

    /// What all members have together, with those that are absent, as it is announced next, bit/s.
    Rate Assigned() const
    {
        return m_budgets.Assigned();
    }

    const Terms& Announced() const
    {
        return m_terms;
    }

  private:
    using Entry = MemberTable::Entry;

    void Take(const Header& header, const Join& join, const Address& from, Time now);
    void Take(const Header& header, const Refresh& refresh, const Address& from, Time now);
    void Take(const Header& header, const Report& report, const Address& from, Time now);
    void Take(const Header& header, const Leave& leave, const Address& from, Time now);
    void Take(const Header& header, const Announcement& announcement, const Address& from, Time now);
    /// Of a kind that only an allocator sends to a member.
    template <typename Other>
    void Take(const Header& header, const Other& other, const Address& from, Time now);

    /// The member that sent the message; nothing, and counted or challenged, where it is none or the message is not its next one.
    Entry* Sender(const Header& header, const Address& from, Time now);
    void Admit(const Header& header, const Join& join, const Address& from, Time now);
    void Remove(const Address& address, Time now);
    void MarkState(const Address& address, const DybraState& before, const DybraState& after);

    std::uint64_t TokenFor(const Address& from, std::uint64_t session, Time slot) const;
    bool HasToken(const Header& header, const Join& join, const Address& from, Time now) const;

    /// Until when a member that refreshed then may hold its budget.
    Time LeaseEnd(const Entry& entry) const;
    void Expire(Time now);
    void CountAbsent(Time now);
    void SetAbsent(std::uint32_t members);
    void Settle();
    /// Something changed: it is announced soon.
    void Change(Time now);
    void Flush(Time now);
    void Repeat(Time now);
    Terms CurrentTerms() const;
    /// Of each announcement.
    std::uint32_t Copies() const;
    void SetPeriods(Time now);

    /// At once, or together with the change that is to be announced.
    void GrantTo(const Address& to, Entry& entry);
    void SendGrant(const Address& to, const Entry& entry);
    void Answer(const Address& to, const Header& asked, Body body, const HostAddress& from);
    void Announce();
    void Challenge(const Address& to, const Header& asked, Time now);

    Settings m_settings;
    Secrets m_secrets;
    Dybra m_budgets;
    MemberTable m_table;
    std::set<std::pair<Rate, Address>> m_bad; ///< by rate
    std::vector<Address> m_waiting;
    std::vector<Datagram> m_datagrams;
    HostAddress m_at{}; ///< where the datagram came that is being read

    Terms m_terms;
    Periods m_periods;
    Time m_formerLease{}; ///< what was in force until `m_shortened`
    Time m_shortened;     ///< the lease became shorter then

    Time m_start;
    Time m_flush{NEVER};
    Time m_changed; ///< the last announcement of a change
    Time m_repeat;
    Time m_interval{FIRST_REPETITION}; ///< between repetitions
    Time m_recoveryEnds{NEVER};
    std::uint32_t m_absent{};
    std::uint32_t m_backAndGone{}; ///< members of the former instance that came back and are no members any more

    std::array<std::uint64_t, FAULTS> m_faults{};
    std::array<std::uint64_t, 2> m_refused{};
    std::uint64_t m_otherDomain{};
    std::uint64_t m_unexpected{};
    std::uint64_t m_otherSession{};
    std::uint64_t m_otherInstance{};
    std::uint64_t m_oldSequence{};
    std::uint64_t m_otherAllocators{};
    std::uint64_t m_announcements{};
    std::uint64_t m_repetitions{};
    std::uint64_t m_grants{};
    std::uint64_t m_challenges{};
    std::uint64_t m_joins{};
    std::uint64_t m_restarts{};
    std::uint64_t m_leaves{};
    std::uint64_t m_expired{};
    std::uint64_t m_reports{};
    std::uint64_t m_returns{};
};

} // namespace netboxit::middleware
