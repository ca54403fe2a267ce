// SPDX-License-Identifier: GPL-2.0-or-later
#include "mark.h"

#include "checksum.h"

#include <stdexcept>

namespace netboxit::stages
{

namespace
{

constexpr unsigned LARGEST_DSCP = 63;
constexpr std::size_t IPV4_CHECKSUM = 10;
// In the first word of the header: RFC 791, section 3.1, and RFC 8200, section 3, with RFC 2474, section 3.
constexpr unsigned IPV4_SHIFT = 2;
constexpr unsigned IPV6_SHIFT = 6;

/// Other bits of the first word stay. IPv4's header checksum is updated by the difference: one that was wrong stays wrong.
void WriteDscp(std::span<std::uint8_t> frame, const IpHeaders& ip, unsigned dscp)
{
    const auto header = frame.subspan(static_cast<std::size_t>(ip.header.data() - frame.data()), ip.header.size());
    const auto shift = ip.version == 4 ? IPV4_SHIFT : IPV6_SHIFT;
    const auto word = static_cast<std::uint16_t>((BigEndian16(header, 0) & ~(LARGEST_DSCP << shift)) | dscp << shift);
    if (ip.version == 4)
    {
        ReplaceWord(header, 0, word, IPV4_CHECKSUM);
    }
    else
    {
        WriteBigEndian16(header, 0, word);
    }
}

} // namespace

Mark::Settings Mark::SettingsOf(const SettingsReader& settings)
{
    const Settings read{.dscp = settings.IntegerIfAny("dscp", 0, LARGEST_DSCP),
                        .excessDscp = settings.IntegerIfAny("excess_dscp", 0, LARGEST_DSCP),
                        .hasRate = settings.NumberIfAny("rate", RATES).has_value()};
    if (!read.dscp && !read.excessDscp)
    {
        throw std::invalid_argument("mark: it needs dscp or excess_dscp");
    }
    if (read.excessDscp && !read.hasRate)
    {
        throw std::invalid_argument("mark: excess_dscp needs a rate that packets can exceed");
    }
    return read;
}

/// Without a rate the meter has one all the same, which nothing is asked about.
Json Mark::MeterSettings(const Json& settings)
{
    auto ofMeter = settings;
    if (settings.value("rate", Json()).is_null())
    {
        ofMeter["rate"] = RATES.most;
        ofMeter["per"] = "port";
    }
    return ofMeter;
}

Mark::Mark(const Json& settings)
    : m_settings(SettingsOf(SettingsReader(settings, "mark"))),
      m_meter(SettingsReader(MeterSettings(settings), "mark"))
{
}

bool Mark::Entering(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now)
{
    return Passes(frame, headers, Direction::FromNode, now);
}

bool Mark::Leaving(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now)
{
    return Passes(frame, headers, Direction::ToNode, now);
}

bool Mark::Passes(std::span<std::uint8_t> frame, const Headers& headers, Direction direction, std::int64_t now)
{
    if (!m_meter.Has(direction))
    {
        return true;
    }
    if (!headers.ip)
    {
        ++m_unmanaged;
        return true;
    }
    const bool isWithin = !m_settings.hasRate || m_meter.Conforms(headers, direction, now);
    ++(isWithin ? m_within : m_exceeding);
    const auto dscp = isWithin ? m_settings.dscp : m_settings.excessDscp;
    if (dscp && *dscp != headers.ip->Dscp())
    {
        WriteDscp(frame, *headers.ip, *dscp);
        ++m_marked;
    }
    return true;
}

void Mark::Check(const Json& settings) const
{
    SettingsOf(SettingsReader(settings, "mark"));
    const auto ofMeter = MeterSettings(settings);
    Meter::Check(SettingsReader(ofMeter, "mark"));
}

void Mark::Set(const Json& settings, std::int64_t now)
{
    const auto changed = SettingsOf(SettingsReader(settings, "mark"));
    const auto ofMeter = MeterSettings(settings);
    m_meter.Set(SettingsReader(ofMeter, "mark"), now);
    m_settings = changed;
}

Json Mark::Read(std::int64_t) const
{
    return {{"within", m_within},
            {"exceeding", m_exceeding},
            {"marked", m_marked},
            {"unmanaged", m_unmanaged},
            {"nodes", m_meter.KnownNodes()},
            {"shared", m_meter.Shared()}};
}

} // namespace netboxit::stages
