// SPDX-License-Identifier: GPL-2.0-or-later
#include "link_allocator.h"

#include "../../middleware/announced.h"

#include <algorithm>
#include <utility>

namespace netboxit
{

namespace
{

std::int64_t Now()
{
    return ns3::Simulator::Now().GetNanoSeconds();
}

} // namespace

LinkAllocator::LinkAllocator(std::string name,
                             const middleware::AllocatorPart& part,
                             Host& host,
                             ManagementPort& port,
                             Announcements& announcements,
                             middleware::Member::Random random)
    : m_name(std::move(name)), m_host(host), m_settings(part.settings), m_follows(part.follows), m_group(part.group), m_port(port),
      m_announcements(announcements), m_random(std::move(random))
{
    const auto own = host.Addresses();
    if (m_group && std::ranges::find(own, IpAddressOf(m_group->from)) == own.end())
    {
        throw std::invalid_argument("host " + host.Name() + ", allocator of link " + m_name + ": address is none of its own; " +
                                    "give the one that members ask");
    }
    if (m_follows && !host.DeviceNamed(m_follows->interface))
    {
        throw std::invalid_argument("host " + host.Name() + ", allocator of link " + m_name + ": there is no interface \"" +
                                    m_follows->interface + "\"; name one of the host's");
    }
}

void LinkAllocator::Begin()
{
    m_hasBegun = true;
    m_allocator.reset();
    if (m_follows)
    {
        m_due.Stop();
    }
    else
    {
        Open();
    }
}

void LinkAllocator::Open()
{
    m_epoch = 0;
    m_allocator.emplace(
        m_settings, middleware::Allocator::Secrets{.instance = m_random() | 1, .tokens = {m_random(), m_random()}}, Now());
    Settle();
}

void LinkAllocator::TakeTelemetry(const ns3::Ptr<ns3::NetDevice>& device, const LinkState& state)
{
    if (!m_hasBegun || !m_follows || device != m_host.DeviceNamed(m_follows->interface))
    {
        return;
    }
    const auto capacity = m_follows->CapacityOf(state.transmit, state.receive);
    if (!capacity || (m_allocator && *capacity == m_settings.capacity))
    {
        return;
    }
    SetCapacity(*capacity);
    if (!m_allocator)
    {
        Open();
    }
}

void LinkAllocator::Receive(std::span<const std::uint8_t> bytes,
                            const middleware::Address& from,
                            const middleware::HostAddress& own)
{
    if (m_allocator)
    {
        m_allocator->Receive(bytes, from, Now(), own);
        Settle();
    }
}

void LinkAllocator::SetCapacity(middleware::Rate capacity)
{
    m_settings.capacity = capacity;
    if (m_allocator)
    {
        m_allocator->SetCapacity(capacity, Now());
        Settle();
    }
}

void LinkAllocator::Settle()
{
    for (const auto& datagram : m_allocator->TakeDatagrams())
    {
        if (datagram.to)
        {
            m_port.Send(datagram.from, *datagram.to, datagram.bytes);
            continue;
        }
        if (m_group)
        {
            m_port.SendToGroup(m_group->from, {.host = m_group->group, .port = middleware::MEMBER_PORT}, datagram.bytes);
            continue;
        }
        // Each member has its own copy.
        for (const auto& member : m_allocator->Members())
        {
            m_port.Send(m_allocator->AskedBy(member), member, datagram.bytes);
        }
    }
    if (const auto& terms = m_allocator->Announced(); std::exchange(m_epoch, terms.epoch) != terms.epoch)
    {
        auto [name, details] = middleware::AnnouncedOf(terms);
        details.update({{"host", m_host.Name()}, {"link", m_name}});
        m_announcements.Announce(name, std::nullopt, details);
    }
    if (const auto due = m_allocator->Due(); due != middleware::NEVER)
    {
        m_due.Set(std::max<std::int64_t>(due - Now(), 0), [this] {
            m_allocator->Advance(Now());
            Settle();
        });
    }
    else
    {
        m_due.Stop();
    }
}

Json LinkAllocator::Read() const
{
    auto read = m_allocator ? m_allocator->Read() : Json::object();
    read["name"] = m_name;
    read["role"] = "allocator";
    return read;
}

} // namespace netboxit
