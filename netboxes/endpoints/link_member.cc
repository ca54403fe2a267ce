// SPDX-License-Identifier: GPL-2.0-or-later
#include "link_member.h"

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

LinkMember::LinkMember(const std::string& name,
                       const middleware::MemberPart& part,
                       bool whileSending,
                       Host& host,
                       ManagementPort& port,
                       Announcements& announcements,
                       middleware::Member::Random random)
    : m_name(name), m_part(part), m_whileSending(whileSending),
      m_allocator(IpAddressOf(part.settings.allocator.host)), m_host(host), m_port(port),
      m_announcements(announcements), m_random(std::move(random))
{
    const auto refuse = [&](const std::string& cause) {
        throw std::invalid_argument("host " + host.Name() + ", member of link " + name + ": " + cause);
    };
    if (part.enforcement == middleware::Enforcement::Shaper)
    {
        refuse("enforcement \"shaper\" is a queue of the kernel, and this host has none; write \"window\" or \"none\"");
    }
    const auto own = host.Addresses();
    if (std::ranges::find(own, m_allocator) != own.end())
    {
        refuse("allocator is an address of the host itself, whose packets to itself do not leave it; leave the member out");
    }
    if (m_allocator.isIpv6 && !host.HasIpv6())
    {
        refuse("allocator is an IPv6 address, and the host has none; give it one");
    }
    if (part.interface && !host.DeviceNamed(*part.interface))
    {
        refuse("there is no interface \"" + *part.interface + "\"; name one of the host's");
    }
    if (part.group)
    {
        port.Join(*part.group);
    }
}

LinkMember::~LinkMember()
{
    m_host.Budgets()->Watch(m_name, nullptr);
}

void LinkMember::Begin()
{
    m_member.emplace(m_part.settings, m_random);
    if (m_part.access)
    {
        m_member->SetAccess(*m_part.access, Now());
    }
    if (m_whileSending)
    {
        m_host.Budgets()->Watch(m_name, [this] { FollowConnections(); });
    }
    else
    {
        m_member->Join(Now());
    }
    Settle();
}

void LinkMember::FollowConnections()
{
    if (std::exchange(m_isUsed, m_host.Budgets()->IsUsed(Way())) == m_isUsed)
    {
        return;
    }
    if (m_isUsed)
    {
        m_member->Join(Now());
    }
    else
    {
        m_member->Leave(Now());
    }
    Settle();
}

void LinkMember::Receive(std::span<const std::uint8_t> bytes, const middleware::Address& from)
{
    if (m_member)
    {
        m_member->Receive(bytes, from, Now());
        Settle();
    }
}

void LinkMember::SetAccess(const ns3::Ptr<ns3::NetDevice>& device, middleware::Rate access)
{
    if (device != Device())
    {
        return;
    }
    m_part.access = access;
    if (m_member)
    {
        m_member->SetAccess(access, Now());
        Settle();
    }
}

ns3::Ptr<ns3::NetDevice> LinkMember::Device() const
{
    return m_part.interface ? m_host.DeviceNamed(*m_part.interface) : m_host.DeviceTowards(m_allocator);
}

SendingBudgets::Way LinkMember::Way() const
{
    return {.device = Device(), .beside = m_part.beside};
}

void LinkMember::Settle()
{
    for (const auto& datagram : m_member->TakeDatagrams())
    {
        if (const auto own = m_host.SourceTowards(m_allocator))
        {
            m_port.Send(HostAddressOf(*own), m_part.settings.allocator, datagram.bytes);
        }
    }
    for (const auto& event : m_member->TakeEvents())
    {
        Tell(event);
    }
    if (m_part.enforcement == middleware::Enforcement::Window)
    {
        m_host.Budgets()->Set(m_name, Way(), m_member->Budget());
    }
    if (const auto due = m_member->Due(); due != middleware::NEVER)
    {
        m_due.Set(std::max<std::int64_t>(due - Now(), 0), [this] {
            m_member->Advance(Now());
            Settle();
        });
    }
    else
    {
        m_due.Stop();
    }
}

void LinkMember::Tell(const middleware::Member::Event& event)
{
    auto [name, details] = middleware::AnnouncedOf(event);
    details.update({{"host", m_host.Name()}, {"link", m_name}});
    m_announcements.Announce(name, std::nullopt, details);
}

Json LinkMember::Read() const
{
    auto read = m_member ? m_member->Read() : Json::object();
    read["name"] = m_name;
    read["role"] = "member";
    read["enforcement"] = middleware::NameOf(m_part.enforcement);
    return read;
}

} // namespace netboxit
