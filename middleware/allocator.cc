// SPDX-License-Identifier: GPL-2.0-or-later
#include "allocator.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace netboxit::middleware
{

namespace
{

/// A token is good in the slot in which it was made and in the next one: 30 to 60 s, longer than a join takes on any link.
constexpr Time TOKEN_SLOT = 30 * SECOND;
/// So long a restarted allocator collects members of the former instance before it grants anything. Our own choice: a geostationary
/// satellite's round-trip time of 0.6 s three times, as a returning member's first message and its two steps to join take.
constexpr Time LISTENING = 2 * SECOND;

std::uint32_t InMilliseconds(Time time)
{
    return static_cast<std::uint32_t>(time / MILLISECOND);
}

double InSeconds(Time time)
{
    return static_cast<double>(time) / SECOND;
}

void CheckCapacity(Rate capacity)
{
    if (capacity < 0 || capacity > MOST_RATE)
    {
        throw std::invalid_argument("the capacity of a managed link is 0 to 10^15 bit/s, not " + std::to_string(capacity));
    }
}

const Allocator::Settings& Checked(const Allocator::Settings& settings)
{
    CheckCapacity(settings.capacity);
    if (settings.members == 0 || settings.members > 65'536 || settings.perHost == 0)
    {
        throw std::invalid_argument("an allocator has 1 to 65536 members, and at least 1 for a host");
    }
    return settings;
}

} // namespace

Allocator::Allocator(const Settings& settings, const Secrets& secrets, Time now)
    : m_settings(Checked(settings)),
      m_secrets(secrets),
      m_budgets(settings.capacity, settings.equations),
      m_periods(PeriodsFor(0, settings.capacity)),
      m_shortened(now),
      m_start(now),
      m_changed(now),
      m_repeat(now + FIRST_REPETITION)
{
    if (secrets.instance == 0)
    {
        throw std::invalid_argument("an allocator's instance is not 0");
    }
    if (settings.recovers)
    {
        m_recoveryEnds = now + std::max(LISTENING, m_periods.lease);
    }
    m_terms = CurrentTerms();
    m_terms.epoch = 1;
    ++m_announcements;
    Announce();
}

void Allocator::Receive(std::span<const std::uint8_t> bytes, const Address& from, Time now, const HostAddress& at)
{
    Advance(now);
    m_at = at;
    const auto read = ReadMessage(bytes, m_settings.key);
    if (const auto* fault = std::get_if<Fault>(&read))
    {
        ++m_faults[static_cast<std::size_t>(*fault)];
        return;
    }
    const auto& message = std::get<Message>(read);
    if (message.header.domain != m_settings.domain)
    {
        ++m_otherDomain;
        return;
    }
    std::visit([&](const auto& body) { Take(message.header, body, from, now); }, message.body);
}

template <typename Other>
void Allocator::Take(const Header&, const Other&, const Address&, Time)
{
    ++m_unexpected;
}

void Allocator::Take(const Header& header, const Announcement&, const Address&, Time)
{
    // Its own comes back from a group that it is in itself.
    m_otherAllocators += header.instance != m_secrets.instance;
}

std::uint64_t Allocator::TokenFor(const Address& from, std::uint64_t session, Time slot) const
{
    std::array<std::uint8_t, 16 + 2 + 8 + 8> covered{};
    auto at = std::copy(from.host.begin(), from.host.end(), covered.begin());
    const auto put = [&at](std::uint64_t value, unsigned bytes) {
        for (; bytes-- > 0;)
        {
            *at++ = static_cast<std::uint8_t>(value >> (8 * bytes));
        }
    };
    put(from.port, 2);
    put(session, 8);
    put(static_cast<std::uint64_t>(slot), 8);
    return std::max<std::uint64_t>(SipHashOf(m_secrets.tokens, covered), 1);
}

bool Allocator::HasToken(const Header& header, const Join& join, const Address& from, Time now) const
{
    const auto slot = now / TOKEN_SLOT;
    return join.token == TokenFor(from, header.session, slot) || join.token == TokenFor(from, header.session, slot - 1);
}

void Allocator::Challenge(const Address& to, const Header& asked, Time now)
{
    ++m_challenges;
    Answer(to, asked, middleware::Challenge{TokenFor(to, asked.session, now / TOKEN_SLOT)}, m_at);
}

void Allocator::Take(const Header& header, const Join& join, const Address& from, Time now)
{
    if (!HasToken(header, join, from, now))
    {
        Challenge(from, header, now);
        return;
    }
    auto* entry = m_table.Find(from);
    if (entry == nullptr)
    {
        Admit(header, join, from, now);
        return;
    }
    if (entry->session == header.session && header.sequence <= entry->sequence)
    {
        ++m_oldSequence;
        return;
    }
    if (entry->session != header.session)
    {
        // The program at this address began anew without leaving.
        ++m_restarts;
        const auto before = entry->state;
        if (before.isBad)
        {
            m_budgets.Leave(before);
            m_budgets.Join();
            entry->state = {};
            MarkState(from, before, entry->state);
            Change(now);
        }
        entry->session = header.session;
    }
    entry->sequence = header.sequence;
    entry->asked = m_at;
    entry->refreshed = now;
    m_table.LookAt(from, *entry, LeaseEnd(*entry));
    GrantTo(from, *entry);
}

void Allocator::Admit(const Header& header, const Join& join, const Address& from, Time now)
{
    const bool isFull = m_table.Size() >= m_settings.members;
    if (isFull || m_table.OfHost(from.host) >= m_settings.perHost)
    {
        ++m_refused[isFull ? 0 : 1];
        Answer(from, header, Refused{isFull ? Reason::Full : Reason::PerHost, m_terms.refresh}, m_at);
        return;
    }
    ++m_joins;
    auto& entry = m_table.Insert(from);
    entry.session = header.session;
    entry.sequence = header.sequence;
    entry.asked = m_at;
    entry.refreshed = now;
    if (m_recoveryEnds != NEVER && join.heldInstance != 0 && join.heldInstance != m_secrets.instance)
    {
        entry.claim = std::min(join.heldMembers, m_settings.members);
    }
    m_table.LookAt(from, entry, LeaseEnd(entry));
    m_budgets.Join();
    Change(now);
    GrantTo(from, entry);
}

Allocator::Entry* Allocator::Sender(const Header& header, const Address& from, Time now)
{
    auto* entry = m_table.Find(from);
    if (entry == nullptr)
    {
        // Its lease ended, or it is a member of a former instance.
        Challenge(from, header, now);
        return nullptr;
    }
    if (entry->session != header.session)
    {
        ++m_otherSession;
        return nullptr;
    }
    if (header.instance != m_secrets.instance)
    {
        ++m_otherInstance;
        return nullptr;
    }
    if (header.sequence <= entry->sequence)
    {
        ++m_oldSequence;
        return nullptr;
    }
    entry->sequence = header.sequence;
    entry->asked = m_at;
    entry->refreshed = now;
    m_table.LookAt(from, *entry, LeaseEnd(*entry));
    return entry;
}

void Allocator::Take(const Header& header, const Refresh&, const Address& from, Time now)
{
    if (auto* entry = Sender(header, from, now))
    {
        GrantTo(from, *entry);
    }
}

void Allocator::Take(const Header& header, const Report& report, const Address& from, Time now)
{
    auto* entry = Sender(header, from, now);
    if (entry == nullptr)
    {
        return;
    }
    ++m_reports;
    const auto before = entry->state;
    if (m_settings.reassigns && m_budgets.Report(entry->state, report.access))
    {
        MarkState(from, before, entry->state);
        Change(now);
    }
    GrantTo(from, *entry);
}

void Allocator::Take(const Header& header, const Leave&, const Address& from, Time now)
{
    if (m_table.Find(from) != nullptr)
    {
        if (Sender(header, from, now) == nullptr)
        {
            return;
        }
        ++m_leaves;
        Remove(from, now);
    }
    // Also to one whose lease ended before, or whose first message of this kind was answered in vain.
    Answer(from, header, Released{}, m_at);
}

void Allocator::MarkState(const Address& address, const DybraState& before, const DybraState& after)
{
    if (before.isBad)
    {
        m_bad.erase({before.rate, address});
    }
    if (after.isBad)
    {
        m_bad.emplace(after.rate, address);
    }
}

void Allocator::Remove(const Address& address, Time now)
{
    const auto& entry = *m_table.Find(address);
    m_backAndGone += entry.claim ? 1 : 0;
    m_budgets.Leave(entry.state);
    MarkState(address, entry.state, {});
    m_table.Erase(address);
    Change(now);
}

void Allocator::SetCapacity(Rate capacity, Time now)
{
    CheckCapacity(capacity);
    Advance(now);
    m_settings.capacity = capacity;
    m_budgets.SetRate(capacity);
    // Bad members alone may have more than the link now.
    Settle();
    Change(now);
}

Time Allocator::Due() const
{
    return std::min({m_flush, m_repeat, m_recoveryEnds, m_table.Due()});
}

void Allocator::Advance(Time now)
{
    Expire(now);
    if (m_recoveryEnds <= now)
    {
        m_recoveryEnds = NEVER;
        Change(now);
    }
    if (m_flush <= now)
    {
        Flush(now);
    }
    if (m_repeat <= now)
    {
        Repeat(now);
    }
}

Time Allocator::LeaseEnd(const Entry& entry) const
{
    // A member that has not heard of a shorter period yet still refreshes by the longer one.
    const auto former = entry.refreshed < m_shortened ? m_formerLease : 0;
    return entry.refreshed + std::max(former, m_periods.lease);
}

void Allocator::Expire(Time now)
{
    while (m_table.Due() <= now)
    {
        const auto address = m_table.First();
        auto& entry = *m_table.Find(address);
        // Leases that became longer meanwhile are so for all members.
        const auto end = LeaseEnd(entry);
        if (end > now)
        {
            m_table.LookAt(address, entry, end);
            continue;
        }
        ++m_expired;
        Remove(address, now);
    }
}

void Allocator::SetAbsent(std::uint32_t members)
{
    if (members > m_absent)
    {
        m_budgets.Join(members - m_absent);
    }
    else
    {
        m_budgets.LeaveGood(m_absent - members);
    }
    m_absent = members;
}

/// The members of the former instance that may still hold a budget of it. What one member claims may be false; the median of all claims is
/// right as long as most members are honest.
void Allocator::CountAbsent(Time now)
{
    if (m_recoveryEnds == NEVER)
    {
        SetAbsent(0);
        return;
    }
    std::vector<std::uint32_t> claims;
    for (const auto& [address, entry] : m_table.All())
    {
        if (entry.claim)
        {
            claims.push_back(*entry.claim);
        }
    }
    if (claims.empty())
    {
        SetAbsent(0);
        return;
    }
    const auto middle = claims.begin() + static_cast<std::ptrdiff_t>(claims.size() / 2);
    std::ranges::nth_element(claims, middle);
    m_recoveryEnds = std::max(now + MILLISECOND, m_start + PeriodsFor(*middle, m_settings.capacity).lease);
    const auto back = static_cast<std::uint32_t>(claims.size()) + m_backAndGone;
    SetAbsent(*middle - std::min(*middle, back));
}

/// A bad member that has at least the share becomes good, the one with the most first: each return raises the share, so that the others may
/// stay as they are. Afterwards no bad member has more than the share, and so no good one less than capacity / members.
void Allocator::Settle()
{
    while (m_settings.equations == Equations::Corrected && !m_bad.empty())
    {
        const auto most = *m_bad.rbegin();
        auto& entry = *m_table.Find(most.second);
        if (!m_budgets.Returns(entry.state))
        {
            return;
        }
        ++m_returns;
        m_budgets.Return(entry.state);
        m_bad.erase(most);
    }
}

void Allocator::Change(Time now)
{
    if (m_flush == NEVER)
    {
        const auto listens = m_settings.recovers ? m_start + LISTENING : m_start;
        m_flush = std::max({now + SpacingFor(MOST_RATE), m_changed + SpacingFor(m_settings.capacity, Copies()), listens});
    }
}

void Allocator::SetPeriods(Time now)
{
    const auto periods = PeriodsFor(m_budgets.Members(), m_settings.capacity, Copies());
    if (periods.lease < m_periods.lease)
    {
        const bool isOver = now >= m_shortened + m_formerLease;
        m_formerLease = isOver ? m_periods.lease : std::max(m_formerLease, m_periods.lease);
        m_shortened = now;
    }
    m_periods = periods;
}

std::uint32_t Allocator::Copies() const
{
    return m_settings.multicast ? 1 : std::max<std::uint32_t>(m_table.Size(), 1);
}

Terms Allocator::CurrentTerms() const
{
    return {.epoch = m_terms.epoch,
            .share = m_budgets.Share(),
            .lease = InMilliseconds(m_periods.lease),
            .refresh = InMilliseconds(m_periods.refresh),
            .members = m_budgets.Members(),
            .good = m_budgets.Good(),
            .announce = InMilliseconds(m_periods.announce)};
}

void Allocator::Flush(Time now)
{
    m_flush = NEVER;
    CountAbsent(now);
    Settle();
    SetPeriods(now);
    const auto terms = CurrentTerms();
    if (terms != m_terms)
    {
        m_terms = terms;
        ++m_terms.epoch;
        ++m_announcements;
        Announce();
        m_changed = now;
        m_interval = std::max(FIRST_REPETITION, SpacingFor(m_settings.capacity, Copies()));
        m_repeat = now + m_interval;
    }
    for (const auto& address : m_waiting)
    {
        auto* entry = m_table.Find(address);
        if (entry != nullptr && entry->isWaiting)
        {
            entry->isWaiting = false;
            SendGrant(address, *entry);
        }
    }
    m_waiting.clear();
}

void Allocator::Repeat(Time now)
{
    ++m_repetitions;
    Announce();
    m_interval = std::min(2 * m_interval, m_periods.announce);
    m_repeat = now + m_interval;
}

void Allocator::GrantTo(const Address& to, Entry& entry)
{
    if (m_flush == NEVER)
    {
        SendGrant(to, entry);
    }
    else if (!entry.isWaiting)
    {
        entry.isWaiting = true;
        m_waiting.push_back(to);
    }
}

void Allocator::SendGrant(const Address& to, const Entry& entry)
{
    ++m_grants;
    const auto budget = entry.state.isBad ? entry.state.rate : m_terms.share;
    const Grant grant{.terms = m_terms, .budget = budget, .isBad = entry.state.isBad, .reassigns = m_settings.reassigns};
    Answer(to, {.sequence = entry.sequence, .session = entry.session}, grant, entry.asked);
}

void Allocator::Answer(const Address& to, const Header& asked, Body body, const HostAddress& from)
{
    const Header header{
        .domain = m_settings.domain, .sequence = asked.sequence, .session = asked.session, .instance = m_secrets.instance};
    m_datagrams.push_back(
        {.to = to, .bytes = WriteMessage({.header = header, .body = std::move(body)}, m_settings.key), .from = from});
}

void Allocator::Announce()
{
    const Header header{.domain = m_settings.domain, .instance = m_secrets.instance};
    m_datagrams.push_back({.to = {}, .bytes = WriteMessage({.header = header, .body = Announcement{m_terms}}, m_settings.key)});
}

std::vector<Datagram> Allocator::TakeDatagrams()
{
    return std::exchange(m_datagrams, {});
}

std::vector<Address> Allocator::Members() const
{
    std::vector<Address> addresses;
    for (const auto& [address, entry] : m_table.All())
    {
        addresses.push_back(address);
    }
    return addresses;
}

HostAddress Allocator::AskedBy(const Address& member) const
{
    return m_table.All().at(member).asked;
}

Json Allocator::Read() const
{
    Json ignored{{"domain", m_otherDomain},
                 {"unexpected", m_unexpected},
                 {"session", m_otherSession},
                 {"instance", m_otherInstance},
                 {"sequence", m_oldSequence}};
    for (std::size_t fault = 0; fault < FAULTS; ++fault)
    {
        ignored[std::string(NameOf(static_cast<Fault>(fault)))] = m_faults[fault];
    }
    std::array<char, 17> instance{};
    std::snprintf(instance.data(), instance.size(), "%016llx", static_cast<unsigned long long>(m_secrets.instance));
    return {{"kind", m_settings.reassigns ? "dybra" : "unweighted"},
            {"instance", instance.data()},
            {"epoch", m_terms.epoch},
            {"capacity", m_settings.capacity},
            {"share", m_terms.share},
            {"assigned", Assigned()},
            {"members", m_table.Size()},
            {"bad", m_budgets.Bad()},
            {"absent", m_absent},
            {"recovering", m_recoveryEnds != NEVER},
            {"refresh_s", InSeconds(m_periods.refresh)},
            {"lease_s", InSeconds(m_periods.lease)},
            {"announcements", m_announcements},
            {"repetitions", m_repetitions},
            {"grants", m_grants},
            {"challenges", m_challenges},
            {"joins", m_joins},
            {"restarts", m_restarts},
            {"leaves", m_leaves},
            {"expired", m_expired},
            {"refused", {{"full", m_refused[0]}, {"per_host", m_refused[1]}}},
            {"reports", m_reports},
            {"returns", m_returns},
            {"ignored", ignored},
            {"other_allocators", m_otherAllocators}};
}

} // namespace netboxit::middleware
