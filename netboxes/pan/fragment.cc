// SPDX-License-Identifier: GPL-2.0-or-later
#include "fragment.h"

namespace netboxit
{

namespace
{

/// Stands for "everyone" where a station's number is written.
constexpr StationId EVERYONE = UINT16_MAX;

} // namespace

ns3::TypeId FragmentTag::GetTypeId()
{
    static const auto id = ns3::TypeId("netboxit::FragmentTag").SetParent<ns3::Tag>().AddConstructor<FragmentTag>();
    return id;
}

ns3::TypeId FragmentTag::GetInstanceTypeId() const
{
    return GetTypeId();
}

std::uint32_t FragmentTag::GetSerializedSize() const
{
    return 2 * sizeof(std::uint32_t) + 8 * sizeof(std::uint16_t);
}

void FragmentTag::Serialize(ns3::TagBuffer buffer) const
{
    const auto& datagram = m_fragment.datagram;
    buffer.WriteU32(datagram.slot.index);
    buffer.WriteU32(datagram.slot.generation);
    buffer.WriteU16(datagram.length);
    buffer.WriteU16(datagram.origin);
    buffer.WriteU16(datagram.destination.value_or(EVERYONE));
    buffer.WriteU16(datagram.trafficClass);
    buffer.WriteU16(m_fragment.sender);
    buffer.WriteU16(m_fragment.number);
    buffer.WriteU16(m_fragment.offset);
    buffer.WriteU16(m_fragment.part);
}

void FragmentTag::Deserialize(ns3::TagBuffer buffer)
{
    auto& datagram = m_fragment.datagram;
    datagram.slot.index = buffer.ReadU32();
    datagram.slot.generation = buffer.ReadU32();
    datagram.length = buffer.ReadU16();
    datagram.origin = buffer.ReadU16();
    const StationId destination = buffer.ReadU16();
    datagram.destination = destination == EVERYONE ? std::nullopt : std::optional(destination);
    datagram.trafficClass = buffer.ReadU16();
    m_fragment.sender = buffer.ReadU16();
    m_fragment.number = buffer.ReadU16();
    m_fragment.offset = buffer.ReadU16();
    m_fragment.part = buffer.ReadU16();
}

void FragmentTag::Print(std::ostream& os) const
{
    os << "slot " << m_fragment.datagram.slot.index << " from byte " << m_fragment.offset;
}

} // namespace netboxit
