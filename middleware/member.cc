// SPDX-License-Identifier: GPL-2.0-or-later
#include "member.h"

#include "periods.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace netboxit::middleware
{

namespace
{

constexpr Time LONGEST_TIMEOUT = 64 * SECOND; ///< as DHCP (RFC 2131, section 4.1)
/// After so many tries without an answer the allocator is reported as unreachable. Our own choice: with 30 % loss in both directions 7 % of
/// requests come to that, and the next answer ends it.
constexpr unsigned UNREACHABLE = 4;
constexpr unsigned LEAVING_TRIES = 3;
/// In each refresh period, and three times as many before a lease ends. With 30 % loss in both directions half of them have no answer, and
/// one lease in ten million ends so; with half the tries one in 3,000.
constexpr Time TRIES = 8;
/// At once. Further ones wait for the timer, so that two ends which disagree about a token do not exchange them without end.
constexpr unsigned CHALLENGES = 3;
constexpr Time SHORTEST_RETRY = SECOND;
constexpr Time LONGEST_RETRY = 3600 * SECOND;
/// A member that knows that the allocator is there again joins not sooner after its last try.
constexpr Time SOONEST_JOIN = 4 * SECOND;
constexpr Time SHORTEST_PROBE = 4 * SECOND;
constexpr Time NOTE_OTHERS = 60 * SECOND;

// Parts of a time between which it is chosen at random, so that members do not send at once for ever: timeouts of a quarter around, and
// refreshes up to a quarter earlier, as BFD has its packets (RFC 5880, section 6.8.7).
constexpr double LEAST_TIMEOUT = 0.75;
constexpr double TIMEOUT_JITTER = 0.5;
constexpr double LEAST_REFRESH = 0.75;
constexpr double REFRESH_JITTER = 0.25;

Time InNanoseconds(std::uint32_t milliseconds)
{
    return milliseconds * MILLISECOND;
}

Time Part(Time time, double part)
{
    return static_cast<Time>(static_cast<double>(time) * part);
}

/// Three announcements may be lost.
Time SilenceOf(const Terms& terms)
{
    return InNanoseconds(terms.announce) * 7 / 2;
}

} // namespace

Member::Member(const Settings& settings, Random random)
    : m_settings(settings),
      m_random(std::move(random)),
      m_dybra(settings.threshold)
{
}

double Member::Chance()
{
    constexpr unsigned UNUSED_BITS = 11;
    return static_cast<double>(m_random() >> UNUSED_BITS) / static_cast<double>(std::uint64_t{1} << (64 - UNUSED_BITS));
}

void Member::Note(Event::Kind kind, std::optional<Reason> reason)
{
    m_events.push_back({.kind = kind, .budget = m_applied, .reason = reason});
}

void Member::Count(Ignored reason)
{
    ++m_ignored[static_cast<std::size_t>(reason)];
}

void Member::Apply(std::optional<Rate> budget)
{
    if (m_applied != budget)
    {
        m_applied = budget;
        Note(Event::Kind::BudgetChanged);
    }
}

void Member::ApplyTerms()
{
    Apply(m_dybra.Budget(m_terms.share, m_access));
}

void Member::Join(Time now)
{
    if (m_state == State::Joining || m_state == State::Member)
    {
        return;
    }
    do
    {
        m_session = m_random();
    } while (m_session == 0);
    m_sequence = 0;
    m_instance = 0;
    m_terms = {};
    m_state = State::Joining;
    Ask(Kind::Join, now);
}

void Member::Leave(Time now)
{
    if (m_state == State::Out || m_state == State::Leaving)
    {
        return;
    }
    // It may be registered without knowing it: the grant is still on its way.
    m_instance = m_instance == 0 && m_request ? m_request->instance : m_instance;
    ForgetLease();
    Apply(std::nullopt);
    m_state = State::Leaving;
    if (m_instance == 0)
    {
        Finish();
        return;
    }
    Ask(Kind::Leave, now);
}

void Member::Finish()
{
    m_request.reset();
    m_state = State::Out;
    Note(Event::Kind::Left);
}

void Member::ForgetLease()
{
    m_lease = m_refresh = m_silence = m_probe = NEVER;
    m_dybra.Set({});
    m_judged.reset();
}

void Member::LoseLease(Time now)
{
    ForgetLease();
    ++m_leasesLost;
    m_state = State::Joining;
    Note(Event::Kind::LeaseLost);
    if (m_settings.withoutLease == WithoutLease::Unmanaged)
    {
        Apply(std::nullopt);
    }
    if (m_request)
    {
        m_request->kind = Kind::Join;
        m_request->tries = 1;
    }
    else
    {
        Ask(Kind::Join, now);
    }
}

void Member::SetAccess(Rate access, Time now)
{
    if (access < 0 || access > MOST_RATE)
    {
        throw std::invalid_argument("the rate of an access is 0 to 10^15 bit/s, not " + std::to_string(access));
    }
    Advance(now);
    m_access = access;
    if (HasLease())
    {
        ApplyTerms();
        Assess(now);
    }
}

void Member::Assess(Time now)
{
    const bool isJoining = m_request && m_request->kind == Kind::Join;
    if (!m_reassigns || !HasLease() || isJoining)
    {
        return;
    }
    const auto before = m_dybra.State();
    if (!m_dybra.Assess(m_terms.share, m_terms.good, m_access))
    {
        return;
    }
    if (m_judged == std::pair(m_access, m_terms.epoch))
    {
        m_dybra.Set(before);
        return;
    }
    if (before.isBad && !m_dybra.State().isBad)
    {
        // The others have what it left. It takes its share when the allocator has taken that back from them: with the answer.
        m_dybra.Set(before);
        if (m_request && m_request->kind == Kind::Report && m_request->access == m_access)
        {
            return;
        }
    }
    else
    {
        ApplyTerms();
    }
    Ask(Kind::Report, now);
}

void Member::Ask(Kind kind, Time now)
{
    ++m_requests;
    m_request = Request{.kind = kind, .first = m_sequence + 1, .asked = now, .epoch = m_terms.epoch, .access = m_access};
    Transmit(now);
}

Body Member::BodyOf(const Request& request) const
{
    switch (request.kind)
    {
    case Kind::Join: {
        auto join = middleware::Join{.token = request.token};
        if (HasLease())
        {
            join.heldInstance = m_instance;
            join.heldEpoch = m_terms.epoch;
            join.heldMembers = m_terms.members;
        }
        return join;
    }
    case Kind::Report:
        return Report{request.access};
    case Kind::Leave:
        return middleware::Leave{};
    default:
        return Refresh{m_terms.epoch};
    }
}

Time Member::LongestTimeout() const
{
    // A challenge is answered to the last try alone: a join waits for it.
    const bool joins = m_request->kind == Kind::Join;
    return HasLease() && !joins ? std::min(InNanoseconds(m_terms.refresh) / TRIES, LONGEST_TIMEOUT) : LONGEST_TIMEOUT;
}

void Member::Transmit(Time now)
{
    auto& request = *m_request;
    ++m_sequence;
    const auto timeout = m_retransmission.Timeout(request.tries, LongestTimeout());
    request.times[m_sequence % request.times.size()] = now;
    request.again = now + Part(timeout, LEAST_TIMEOUT + TIMEOUT_JITTER * Chance());
    const Header header{.domain = m_settings.domain,
                        .sequence = m_sequence,
                        .session = m_session,
                        .instance = request.kind == Kind::Join ? request.instance : m_instance};
    m_datagrams.push_back(
        {.to = m_settings.allocator, .bytes = WriteMessage({.header = header, .body = BodyOf(request)}, m_settings.key)});
}

void Member::TryAgain(Time now)
{
    auto& request = *m_request;
    if (request.kind == Kind::Leave && request.tries >= LEAVING_TRIES)
    {
        Finish();
        return;
    }
    if (++m_unanswered >= UNREACHABLE && m_isReachable)
    {
        m_isReachable = false;
        Note(Event::Kind::Unreachable);
    }
    ++m_repeated;
    ++request.tries;
    request.challenges = 0;
    request.isRefused = false;
    Transmit(now);
}

Time Member::Due() const
{
    const auto asks = m_request ? m_request->again : std::min(m_refresh, m_probe);
    return std::min({asks, m_lease, m_silence});
}

void Member::Advance(Time now)
{
    if (m_lease <= now)
    {
        LoseLease(now);
    }
    if (m_request)
    {
        if (m_request->again <= now)
        {
            TryAgain(now);
        }
    }
    else if (std::min(m_refresh, m_probe) <= now)
    {
        const bool isProbe = m_probe <= now;
        m_probe = NEVER;
        Ask(Kind::Refresh, now);
        m_request->isProbe = isProbe;
    }
    if (m_silence <= now)
    {
        // Where no multicast arrives, but answers do, it asks ever more rarely.
        Listen(2 * m_silencePeriod, now);
        if (!m_request && m_probe == NEVER)
        {
            Ask(Kind::Refresh, now);
        }
    }
}

void Member::Listen(Time period, Time now)
{
    m_silencePeriod = std::min(period, LONGEST_PERIOD);
    // All hear the same announcements, and must not ask at the same time when there are none any more.
    m_silence = now + m_silencePeriod + Part(SpreadFor(m_terms.share), Chance());
}

void Member::Receive(std::span<const std::uint8_t> bytes, const Address& from, Time now)
{
    Advance(now);
    const auto read = ReadMessage(bytes, m_settings.key);
    if (const auto* fault = std::get_if<Fault>(&read))
    {
        ++m_faults[static_cast<std::size_t>(*fault)];
        return;
    }
    const auto& message = std::get<Message>(read);
    const auto& header = message.header;
    if (header.domain != m_settings.domain)
    {
        Count(Ignored::Domain);
    }
    else if (const auto* announcement = std::get_if<Announcement>(&message.body))
    {
        TakeAnnouncement(header, announcement->terms, from, now);
    }
    else if (from != m_settings.allocator)
    {
        Count(Ignored::Source);
    }
    else if (header.session != m_session)
    {
        Count(Ignored::Session);
    }
    else if (!IsAnswer(header))
    {
        Count(Ignored::Unexpected);
    }
    else
    {
        std::visit([&](const auto& body) { Take(header, body, now); }, message.body);
    }
}

bool Member::IsAnswer(const Header& header) const
{
    return m_request && header.sequence >= m_request->first && header.sequence <= m_sequence;
}

/// When the transmission was sent that is answered; nothing of one that was long before the last.
std::optional<Time> Member::SentAt(std::uint32_t sequence) const
{
    const auto& times = m_request->times;
    return m_sequence - sequence < times.size() ? std::optional(times[sequence % times.size()]) : std::nullopt;
}

template <typename Other>
void Member::Take(const Header&, const Other&, Time)
{
    Count(Ignored::Unexpected);
}

void Member::Hear(const Header& header, Time now)
{
    if (const auto sent = SentAt(header.sequence))
    {
        m_retransmission.Sample(now - *sent);
    }
    m_unanswered = 0;
    if (!m_isReachable)
    {
        m_isReachable = true;
        Note(Event::Kind::Reachable);
    }
}

void Member::Take(const Header& header, const Challenge& challenge, Time now)
{
    auto& request = *m_request;
    if (request.kind == Kind::Leave || header.sequence != m_sequence)
    {
        Count(Ignored::Unexpected);
        return;
    }
    ++m_challenges;
    Hear(header, now);
    request.kind = Kind::Join;
    request.token = challenge.token;
    request.instance = header.instance;
    if (request.challenges < CHALLENGES)
    {
        ++request.challenges;
        Transmit(now);
    }
}

void Member::Take(const Header& header, const Grant& grant, Time now)
{
    const auto request = *m_request;
    if (request.kind == Kind::Leave)
    {
        Count(Ignored::Unexpected);
        return;
    }
    const bool isOurs = HasLease() && header.instance == m_instance;
    if (!isOurs && header.instance != request.instance)
    {
        Count(Ignored::Instance);
        return;
    }
    ++m_grants;
    const auto sent = SentAt(header.sequence);
    Hear(header, now);
    const bool isOvertaken = isOurs && grant.terms.epoch < m_terms.epoch && request.epoch <= grant.terms.epoch;
    if (isOurs && request.epoch > grant.terms.epoch)
    {
        // The allocator has not come to the epoch yet of which the member had heard before it asked.
        Count(Ignored::Disproved);
    }
    if (header.instance != m_instance)
    {
        m_instance = header.instance;
        ++m_instances;
    }
    else if (request.isProbe)
    {
        NoteOther(now);
    }
    if (!isOvertaken)
    {
        m_terms = grant.terms;
    }
    m_state = State::Member;
    m_request.reset();
    m_reassigns = grant.reassigns;
    m_dybra.Set({.isBad = grant.isBad, .rate = grant.isBad ? grant.budget : 0});
    m_judged.reset();
    if (request.kind == Kind::Report)
    {
        m_judged = {request.access, m_terms.epoch};
    }
    // From the request on, so that it ends here before it ends there (as RFC 2131, section 4.4.1).
    const auto asked = sent.value_or(request.asked);
    m_lease = asked + InNanoseconds(grant.terms.lease);
    m_refresh = now + Part(InNanoseconds(grant.terms.refresh), LEAST_REFRESH + REFRESH_JITTER * Chance());
    m_probe = NEVER;
    if (m_silence == NEVER || !isOurs)
    {
        Listen(SilenceOf(m_terms), now);
    }
    if (!isOurs)
    {
        Note(Event::Kind::Joined);
    }
    ApplyTerms();
    Assess(now);
}

void Member::Take(const Header& header, const Refused& refused, Time now)
{
    ++m_refusals;
    Hear(header, now);
    const auto retry = std::clamp(InNanoseconds(refused.retry), SHORTEST_RETRY, LONGEST_RETRY);
    m_request->again = now + Part(retry, LEAST_TIMEOUT + TIMEOUT_JITTER * Chance());
    m_request->isRefused = true;
    Note(Event::Kind::Refused, refused.reason);
}

void Member::Take(const Header& header, const Released&, Time now)
{
    if (m_request->kind != Kind::Leave)
    {
        Count(Ignored::Unexpected);
        return;
    }
    Hear(header, now);
    Finish();
}

void Member::NoteOther(Time now)
{
    if (now >= m_nextNote)
    {
        m_nextNote = now + NOTE_OTHERS;
        Note(Event::Kind::OtherAllocator);
    }
}

void Member::TakeAnnouncement(const Header& header, const Terms& terms, const Address& from, Time now)
{
    if (m_state == State::Out || m_state == State::Leaving)
    {
        return;
    }
    if (from != m_settings.allocator)
    {
        ++m_otherAllocators;
        NoteOther(now);
        return;
    }
    if (!HasLease() || header.instance != m_instance)
    {
        TakeOtherInstance(terms, now);
        return;
    }
    if (terms.epoch < m_terms.epoch)
    {
        Count(Ignored::Epoch);
        return;
    }
    if (terms.epoch == m_terms.epoch && terms != m_terms)
    {
        Count(Ignored::Contradiction);
        return;
    }
    ++m_announcements;
    const bool isNew = terms.epoch > m_terms.epoch;
    m_terms = terms;
    Listen(SilenceOf(terms), now);
    if (!isNew)
    {
        return;
    }
    m_refresh = std::min(m_refresh, now + Part(InNanoseconds(terms.refresh), LEAST_REFRESH + REFRESH_JITTER * Chance()));
    ApplyTerms();
    Assess(now);
}

/// The allocator was restarted, or another one has its address, or somebody repeats old announcements. Its own answer will tell.
void Member::TakeOtherInstance(const Terms& terms, Time now)
{
    // Its own share says how many are there better than what an allocator announces that has no members yet.
    const auto share = m_terms.refresh > 0 ? std::min(m_terms.share, terms.share) : terms.share;
    const auto chosen = now + Part(SpreadFor(share), Chance());
    if (!HasLease())
    {
        if (m_request->isRefused)
        {
            return;
        }
        m_request->again = std::min(m_request->again, std::max(chosen, *SentAt(m_sequence) + SOONEST_JOIN));
        return;
    }
    ++m_otherAllocators;
    if (m_probe == NEVER && now >= m_nextProbe)
    {
        m_probe = chosen;
        m_nextProbe = now + std::max(InNanoseconds(m_terms.refresh), SHORTEST_PROBE);
    }
}

std::vector<Datagram> Member::TakeDatagrams()
{
    return std::exchange(m_datagrams, {});
}

std::vector<Member::Event> Member::TakeEvents()
{
    return std::exchange(m_events, {});
}

nlohmann::json Member::Read() const
{
    constexpr std::array<const char*, 4> STATES{"out", "joining", "member", "leaving"};
    constexpr std::array<const char*, IGNORED> REASONS{
        "domain", "source", "session", "instance", "unexpected", "epoch", "contradiction", "disproved"};
    nlohmann::json ignored;
    for (std::size_t fault = 0; fault < FAULTS; ++fault)
    {
        ignored[std::string(NameOf(static_cast<Fault>(fault)))] = m_faults[fault];
    }
    for (std::size_t reason = 0; reason < IGNORED; ++reason)
    {
        ignored[REASONS[reason]] = m_ignored[reason];
    }
    const auto roundTrip = m_retransmission.RoundTrip();
    return {{"state", STATES[static_cast<std::size_t>(m_state)]},
            {"budget", m_applied ? nlohmann::json(*m_applied) : nlohmann::json(nullptr)},
            {"epoch", m_terms.epoch},
            {"bad", m_dybra.State().isBad},
            {"access", m_access},
            {"reachable", m_isReachable},
            {"round_trip_s", roundTrip > 0 ? nlohmann::json(static_cast<double>(roundTrip) / SECOND) : nlohmann::json(nullptr)},
            {"requests", m_requests},
            {"repeated", m_repeated},
            {"grants", m_grants},
            {"challenges", m_challenges},
            {"refusals", m_refusals},
            {"announcements", m_announcements},
            {"leases_lost", m_leasesLost},
            {"instances", m_instances},
            {"ignored", ignored},
            {"other_allocators", m_otherAllocators}};
}

} // namespace netboxit::middleware
