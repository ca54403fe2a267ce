// SPDX-License-Identifier: GPL-2.0-or-later
#include "adaptive_xor.h"

#include <algorithm>

namespace netboxit::multiservice
{

namespace
{

/// Block numbers have three bits.
constexpr std::uint32_t BLOCKS = 8;

} // namespace

AdaptiveXor::AdaptiveXor(ServicePort& port, const Json& settings)
    : XorParity(port,
                HeaderFields::Block,
                SchemeSettings(settings, port.Facts()).Integer("block", 1, ParityBlock::MOST - 1),
                BLOCKS),
      m_inactivity(SchemeSettings(settings, port.Facts()).Time("inactivity")),
      m_quiet(port.Time(), [this] { EndBlock(); })
{
}

void AdaptiveXor::Set(const Json& settings)
{
    m_inactivity = SchemeSettings(settings, m_port.Facts()).Time("inactivity");
}

void AdaptiveXor::TakePacket(const Packet& packet)
{
    XorParity::TakePacket(packet);
    m_quiet.Start(m_inactivity);
}

void AdaptiveXor::Number(AirFrame& frame, const Place& place) const
{
    frame.block = static_cast<std::uint8_t>(place.block);
    frame.sequence = static_cast<std::uint16_t>(place.position);
}

XorParity::Place AdaptiveXor::PlaceOf(const AirFrame& frame) const
{
    return {frame.block, std::min<std::uint32_t>(frame.sequence, ParityBlock::MOST - 1)};
}

} // namespace netboxit::multiservice
