// SPDX-License-Identifier: GPL-2.0-or-later
#include "police.h"

namespace netboxit::stages
{

Police::Police(const Json& settings) : m_meter(SettingsReader(settings, "police"))
{
}

bool Police::Entering(std::span<std::uint8_t>, const Headers& headers, std::int64_t now)
{
    return Passes(headers, Direction::FromNode, now);
}

bool Police::Leaving(std::span<std::uint8_t>, const Headers& headers, std::int64_t now)
{
    return Passes(headers, Direction::ToNode, now);
}

bool Police::Passes(const Headers& headers, Direction direction, std::int64_t now)
{
    if (!m_meter.Has(direction))
    {
        return true;
    }
    const bool conforms = m_meter.Conforms(headers, direction, now);
    ++(conforms ? m_passed : m_dropped);
    (conforms ? m_passedBytes : m_droppedBytes) += headers.length;
    return conforms;
}

void Police::Check(const Json& settings) const
{
    Meter::Check(SettingsReader(settings, "police"));
}

void Police::Set(const Json& settings, std::int64_t now)
{
    m_meter.Set(SettingsReader(settings, "police"), now);
}

Json Police::Read(std::int64_t) const
{
    return {{"passed", m_passed},
            {"passed_bytes", m_passedBytes},
            {"dropped", m_dropped},
            {"dropped_bytes", m_droppedBytes},
            {"nodes", m_meter.KnownNodes()},
            {"shared", m_meter.Shared()}};
}

} // namespace netboxit::stages
