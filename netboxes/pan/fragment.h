// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/frame.h"

#include "ns3/tag.h"

#include <optional>

namespace netboxit
{

/// A layer-3 packet on its way through the network.
struct Datagram
{
    SlotId slot;
    std::uint16_t length{}; ///< bytes
    StationId origin{};
    std::optional<StationId> destination; ///< none: everyone
    ClassId trafficClass{};
};

/// What a MAC frame carries of a datagram. It travels as a tag of ns-3's packet, whose bytes are virtual: they count, but say nothing.
struct Fragment
{
    Datagram datagram;
    StationId sender{};     ///< of this hop
    std::uint16_t number{}; ///< of the datagram at that sender (RFC 4944's datagram_tag)
    std::uint16_t offset{}; ///< bytes
    std::uint16_t part{};   ///< bytes of the datagram that it carries

    bool IsLast() const { return offset + part >= datagram.length; }
};

class FragmentTag : public ns3::Tag
{
  public:
    FragmentTag() = default;

    explicit FragmentTag(const Fragment& fragment) : m_fragment(fragment)
    {
    }

    static ns3::TypeId GetTypeId();
    ns3::TypeId GetInstanceTypeId() const override;
    std::uint32_t GetSerializedSize() const override;
    void Serialize(ns3::TagBuffer buffer) const override;
    void Deserialize(ns3::TagBuffer buffer) override;
    void Print(std::ostream& os) const override;

    const Fragment& Carried() const
    {
        return m_fragment;
    }

  private:
    Fragment m_fragment;
};

} // namespace netboxit
