// SPDX-License-Identifier: GPL-2.0-or-later
#include "ospf_neighbour.h"

#include <algorithm>

namespace netboxit::ospf
{

namespace
{

constexpr std::size_t IP_HEADER = 20;
constexpr std::size_t REQUEST = 12;
constexpr std::size_t DESCRIPTION = 8;

} // namespace

Neighbour::Neighbour(Surroundings& router, Id id, std::size_t interface, std::uint16_t mtu, std::int64_t retransmit)
    : m_router(router), m_id(id), m_interface(interface), m_mtu(mtu), m_retransmit(retransmit)
{
}

void Neighbour::Go(State state)
{
    const auto before = std::exchange(m_state, state);
    if (before != state)
    {
        m_router.Changed(*this, before);
    }
}

void Neighbour::Hear(bool namesUs)
{
    if (namesUs && m_state == State::Init)
    {
        Start();
    }
    else if (!namesUs && m_state != State::Init)
    {
        m_repeat.Stop();
        m_wanted.clear();
        m_unconfirmed.clear();
        m_summary.clear();
        m_received.reset();
        Go(State::Init);
    }
}

void Neighbour::Start()
{
    m_wanted.clear();
    m_unconfirmed.clear();
    m_summary.clear();
    m_received.reset();
    m_isMaster = true;
    ++m_sequence;
    m_sent = {.init = true, .more = true, .master = true, .sequence = m_sequence, .headers = {}};
    Go(State::ExStart);
    SendDescription();
    m_repeat.Set(m_retransmit, [this] { Repeat(); });
}

void Neighbour::Repeat()
{
    m_repeat.Set(m_retransmit, [this] { Repeat(); });
    if (m_state == State::ExStart || (m_state == State::Exchange && m_isMaster))
    {
        SendDescription();
    }
    if (m_state == State::Loading)
    {
        SendRequest();
    }
    std::vector<const Lsa*> all;
    for (const auto& [router, header] : m_unconfirmed)
    {
        all.push_back(m_router.TheDatabase().Find(router));
    }
    Send(all);
}

void Neighbour::SendDescription()
{
    m_router.SendTo(*this, Write(m_router.RouterId(), m_sent, m_mtu));
}

void Neighbour::Send(std::vector<const Lsa*> all)
{
    while (!all.empty())
    {
        m_router.SendTo(*this, WriteUpdate(m_router.RouterId(), all, m_mtu - IP_HEADER));
    }
}

void Neighbour::SendRequest()
{
    std::vector<Id> wanted;
    const auto room = (m_mtu - IP_HEADER - HEADER) / REQUEST;
    for (const auto& [router, header] : m_wanted)
    {
        if (wanted.size() < room)
        {
            wanted.push_back(router);
        }
    }
    m_router.SendTo(*this, WriteRequest(m_router.RouterId(), wanted));
}

void Neighbour::Take(const Description& description)
{
    if (m_state == State::Init)
    {
        return; // it names this router in its next hello
    }
    if (m_state == State::ExStart)
    {
        if (description.init && description.more && description.master && description.headers.empty() &&
            m_id > m_router.RouterId())
        {
            Negotiated(false, description.sequence);
            TakePart(description);
        }
        else if (!description.init && !description.master && description.sequence == m_sequence && m_id < m_router.RouterId())
        {
            Negotiated(true, m_sequence);
            TakePart(description);
        }
        return;
    }
    if (m_received == description)
    {
        if (!m_isMaster)
        {
            SendDescription(); // the answer was lost
        }
        return;
    }
    const auto expected = m_isMaster ? m_sequence : m_sequence + 1;
    if (m_state != State::Exchange || description.init || description.master == m_isMaster || description.sequence != expected)
    {
        Start(); // SeqNumberMismatch (RFC 2328, 10.3)
        return;
    }
    TakePart(description);
}

void Neighbour::Negotiated(bool asMaster, std::uint32_t sequence)
{
    m_isMaster = asMaster;
    m_sequence = sequence;
    for (const auto& [router, lsa] : m_router.TheDatabase().All())
    {
        m_summary.push_back(lsa.header);
    }
    Go(State::Exchange);
}

void Neighbour::TakePart(const Description& description)
{
    m_received = description;
    for (const auto& header : description.headers)
    {
        const auto* const own = m_router.TheDatabase().Find(header.router);
        if (own == nullptr || IsNewer(header, own->header))
        {
            m_wanted.insert_or_assign(header.router, header);
        }
    }
    const bool allSaid = !m_sent.init && !m_sent.more;
    if (m_isMaster && allSaid && !description.more)
    {
        Finish();
        return;
    }
    m_sequence = m_isMaster ? m_sequence + 1 : description.sequence;
    const auto room = std::min<std::size_t>(m_summary.size(), (m_mtu - IP_HEADER - HEADER - DESCRIPTION) / LSA_HEADER);
    const auto until = m_summary.begin() + static_cast<std::ptrdiff_t>(room);
    m_sent = {.init = false,
              .more = until != m_summary.end(),
              .master = m_isMaster,
              .sequence = m_sequence,
              .headers = {m_summary.begin(), until}};
    m_summary.erase(m_summary.begin(), until);
    SendDescription();
    if (!m_isMaster && !m_sent.more && !description.more)
    {
        Finish();
    }
}

void Neighbour::Finish()
{
    if (m_wanted.empty())
    {
        Go(State::Full);
        return;
    }
    Go(State::Loading);
    SendRequest();
}

void Neighbour::TakeRequest(const std::vector<Id>& wanted)
{
    if (m_state < State::Exchange)
    {
        return;
    }
    std::vector<const Lsa*> all;
    for (const auto router : wanted)
    {
        const auto* const lsa = m_router.TheDatabase().Find(router);
        if (lsa == nullptr)
        {
            Start(); // BadLSReq
            return;
        }
        all.push_back(lsa);
    }
    Send(all);
}

void Neighbour::HasSent(const LsaHeader& header)
{
    const auto wanted = m_wanted.find(header.router);
    if (wanted == m_wanted.end() || IsNewer(wanted->second, header))
    {
        return;
    }
    m_wanted.erase(wanted);
    if (m_state == State::Loading && m_wanted.empty())
    {
        Go(State::Full);
    }
}

void Neighbour::TakeAcknowledgement(const std::vector<LsaHeader>& headers)
{
    for (const auto& header : headers)
    {
        const auto found = m_unconfirmed.find(header.router);
        if (found != m_unconfirmed.end() && found->second == header)
        {
            m_unconfirmed.erase(found);
        }
    }
}

bool Neighbour::Owe(const LsaHeader& header)
{
    if (m_state < State::Exchange)
    {
        return false; // it is told by the exchange
    }
    if (const auto wanted = m_wanted.find(header.router); wanted != m_wanted.end())
    {
        const bool isNewerThere = IsNewer(wanted->second, header);
        const bool isSame = wanted->second == header;
        if (!isNewerThere)
        {
            HasSent(header);
        }
        if (isNewerThere || isSame)
        {
            return false;
        }
    }
    m_unconfirmed.insert_or_assign(header.router, header);
    return true;
}

} // namespace netboxit::ospf
