// SPDX-License-Identifier: GPL-2.0-or-later
#include "unsolicited.h"

#include "mac_overhead.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace netboxit::wimax
{

std::uint32_t UnsolicitedBytes(const ServiceFlow& flow, double rate)
{
    const auto payload =
        static_cast<std::uint32_t>(std::ceil(rate * flow.interval.GetSeconds() / 8.0));
    const auto sdus = flow.packetBytes > 0 ? (payload + flow.packetBytes - 1) / flow.packetBytes : 1;
    const auto header = GENERIC_HEADER + (flow.carriage.crc ? CRC : 0);
    if (!flow.carriage.fragmentation)
    {
        return std::max(payload, sdus * flow.packetBytes) + sdus * header;
    }
    const auto packed = flow.carriage.packing ? header + (sdus + 1) * PACKING_SUBHEADER : UINT32_MAX;
    return payload + std::min((sdus + 1) * header + 2 * FRAGMENTATION_SUBHEADER, packed);
}

std::optional<std::uint32_t> GrantSize::Ask(std::uint32_t needed, std::uint32_t granted)
{
    const auto wanted = std::min(needed, m_largest);
    if (wanted >= granted)
    {
        m_larger = 0;
        m_need = 0;
        return wanted > granted ? std::optional(wanted) : std::nullopt;
    }
    m_need = std::max(m_need, wanted);
    if (++m_larger < PATIENCE)
    {
        return std::nullopt;
    }
    m_larger = 0;
    return std::exchange(m_need, 0);
}

} // namespace netboxit::wimax
