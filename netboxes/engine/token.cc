// SPDX-License-Identifier: GPL-2.0-or-later
#include "frame.h"

#include "ns3/header.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace netboxit
{

namespace
{

/// Tells a token from what a technology sends on its own account: "NBXT".
constexpr std::uint32_t MAGIC = 0x4e425854;

using TokenBytes = std::array<std::uint32_t, 3>;
static_assert(sizeof(TokenBytes) == MINIMUM_TOKEN);

/// Written in front of a packet of virtual zeros, which ns-3 keeps virtual below the headers and trailers
/// that models add.
class TokenHeader : public ns3::Header
{
  public:
    explicit TokenHeader(SlotId slot = {}) : m_words{MAGIC, slot.index, slot.generation}
    {
    }

    static ns3::TypeId GetTypeId()
    {
        static ns3::TypeId tid =
            ns3::TypeId("netboxit::TokenHeader").SetParent<ns3::Header>().AddConstructor<TokenHeader>();
        return tid;
    }

    ns3::TypeId GetInstanceTypeId() const override
    {
        return GetTypeId();
    }

    std::uint32_t GetSerializedSize() const override
    {
        return MINIMUM_TOKEN;
    }

    void Serialize(ns3::Buffer::Iterator start) const override
    {
        start.Write(reinterpret_cast<const std::uint8_t*>(m_words.data()), MINIMUM_TOKEN);
    }

    std::uint32_t Deserialize(ns3::Buffer::Iterator start) override
    {
        start.Read(reinterpret_cast<std::uint8_t*>(m_words.data()), MINIMUM_TOKEN);
        return MINIMUM_TOKEN;
    }

    void Print(std::ostream& os) const override
    {
        os << "slot " << m_words[1] << " generation " << m_words[2];
    }

  private:
    TokenBytes m_words;
};

} // namespace

ns3::Ptr<ns3::Packet> MakeToken(const Frame& frame)
{
    auto packet = ns3::Create<ns3::Packet>(std::max(frame.length, MINIMUM_TOKEN) - MINIMUM_TOKEN);
    packet->AddHeader(TokenHeader(frame.slot));
    return packet;
}

std::optional<SlotId> ReadToken(const ns3::Ptr<const ns3::Packet>& packet)
{
    TokenBytes words;
    const auto read = packet->CopyData(reinterpret_cast<std::uint8_t*>(words.data()), MINIMUM_TOKEN);
    if (read < MINIMUM_TOKEN || words[0] != MAGIC)
    {
        return std::nullopt;
    }
    return SlotId{words[1], words[2]};
}

} // namespace netboxit
