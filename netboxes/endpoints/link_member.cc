// SPDX-License-Identifier: GPL-2.0-or-later
#include "link_member.h"

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

const char* NameOf(middleware::Reason reason)
{
    return reason == middleware::Reason::Full ? "full" : "per_host";
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
    if (m_host.Budgets()->IsUsed(Device()))
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
        m_host.Budgets()->Set(m_name, Device(), m_member->Budget());
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
    using Kind = middleware::Member::Event::Kind;
    Json details{{"host", m_host.Name()}, {"link", m_name}};
    switch (event.kind)
    {
    case Kind::BudgetChanged:
        details["budget_bps"] = event.budget ? Json(*event.budget) : Json();
        m_announcements.Announce("budget", std::nullopt, details);
        break;
    case Kind::Joined:
        m_announcements.Announce("lease", std::nullopt, details);
        break;
    case Kind::Refused:
        details["reason"] = event.reason ? Json(NameOf(*event.reason)) : Json();
        m_announcements.Announce("lease_refused", std::nullopt, details);
        break;
    case Kind::LeaseLost:
        m_announcements.Announce("lease_lost", std::nullopt, details);
        break;
    case Kind::Unreachable:
        m_announcements.Announce("allocator_unreachable", std::nullopt, details);
        break;
    case Kind::Reachable:
        m_announcements.Announce("allocator_reachable", std::nullopt, details);
        break;
    case Kind::OtherAllocator:
        m_announcements.Announce("other_allocator", std::nullopt, details);
        break;
    case Kind::Left:
        m_announcements.Announce("left", std::nullopt, details);
        break;
    }
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
