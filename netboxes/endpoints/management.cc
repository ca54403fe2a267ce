// SPDX-License-Identifier: GPL-2.0-or-later
#include "management.h"

#include "../engine/big_endian.h"

#include <algorithm>

namespace netboxit
{

namespace
{

/// Of the number of the link in a message (middleware/README.md, "The protocol").
constexpr std::size_t DOMAIN_AT = 16;

/// The part in the link that a message names. Where the host has none in it the first one, which counts the message as another
/// link's.
template <typename Part>
Part& Addressed(std::deque<Part>& parts, std::span<const std::uint8_t> message)
{
    const auto isItsOwn = [&](const Part& part) {
        return message.size() > DOMAIN_AT && part.Domain() == BigEndianReader(message.subspan(DOMAIN_AT)).Get(4);
    };
    const auto found = std::ranges::find_if(parts, isItsOwn);
    return found == parts.end() ? parts.front() : *found;
}

} // namespace

Management::Management(const std::vector<ManagementPart>& parts,
                       Host& host,
                       Announcements& announcements,
                       std::int64_t randomStream)
    : m_random(ns3::CreateObject<ns3::UniformRandomVariable>())
{
    m_random->SetStream(randomStream);
    const auto random = [this] { return Random(); };
    for (const auto& [part, whileSending] : parts)
    {
        if (const auto* const allocator = std::get_if<middleware::AllocatorPart>(&part.role))
        {
            if (!m_allocatorPort)
            {
                m_allocatorPort.emplace(host, middleware::ALLOCATOR_PORT, [this](auto bytes, const auto& from, const auto& own) {
                    Addressed(m_allocators, bytes).Receive(bytes, from, own);
                });
            }
            m_allocators.emplace_back(part.name, *allocator, host, *m_allocatorPort, announcements, random);
        }
        else
        {
            if (!m_memberPort)
            {
                m_memberPort.emplace(host, middleware::MEMBER_PORT, [this](auto bytes, const auto& from, const auto&) {
                    Addressed(m_members, bytes).Receive(bytes, from);
                });
            }
            m_members.emplace_back(
                part.name, std::get<middleware::MemberPart>(part.role), whileSending, host, *m_memberPort, announcements, random);
        }
    }
}

void Management::Begin()
{
    std::ranges::for_each(m_allocators, &LinkAllocator::Begin);
    std::ranges::for_each(m_members, &LinkMember::Begin);
}

void Management::SetAccess(const ns3::Ptr<ns3::NetDevice>& device, middleware::Rate access)
{
    for (auto& member : m_members)
    {
        member.SetAccess(device, access);
    }
}

void Management::TakeTelemetry(const ns3::Ptr<ns3::NetDevice>& device, const LinkState& state)
{
    for (auto& allocator : m_allocators)
    {
        allocator.TakeTelemetry(device, state);
    }
    const auto transmit = static_cast<middleware::Rate>(std::min<std::uint64_t>(state.transmit, middleware::MOST_RATE));
    for (auto& member : m_members)
    {
        if (member.FollowsTelemetry())
        {
            member.SetAccess(device, transmit);
        }
    }
}

bool Management::SetCapacity(middleware::Rate capacity)
{
    bool isDivided = false;
    for (auto& allocator : m_allocators)
    {
        if (!allocator.FollowsTelemetry())
        {
            allocator.SetCapacity(capacity);
            isDivided = true;
        }
    }
    return isDivided;
}

Json Management::Read() const
{
    auto read = Json::array();
    for (const auto& allocator : m_allocators)
    {
        read.push_back(allocator.Read());
    }
    for (const auto& member : m_members)
    {
        read.push_back(member.Read());
    }
    return read;
}

/// 64 bits, of a stream of ns-3: so that runs repeat.
std::uint64_t Management::Random()
{
    const std::uint64_t high = m_random->GetInteger(0, UINT32_MAX);
    return high << 32 | m_random->GetInteger(0, UINT32_MAX);
}

} // namespace netboxit
