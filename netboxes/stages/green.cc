// SPDX-License-Identifier: GPL-2.0-or-later
#include "green.h"

#include "settings_reader.h"

#include "ecn.h"

#include <algorithm>
#include <cmath>

namespace netboxit::stages
{

namespace
{

constexpr double LARGEST_K = 10;
/// s. A shorter period counts hardly any flow.
constexpr Range SAMPLING{0.001, 3600};
/// Bytes: of an IP packet, all of it.
constexpr Range MSS{1, 65'535};

} // namespace

Green::Settings Green::SettingsOf(const Json& settings)
{
    const SettingsReader reader(settings, "green");
    return {.rate = reader.Number("rate", RATES) / BITS_PER_BYTE,
            .k = reader.NumberOr("k", 1, {0, LARGEST_K, true}),
            .sampling = std::llround(reader.NumberOr("sampling", 1, SAMPLING) * NS_PER_S),
            .mss = reader.NumberIfAny("mss", MSS),
            .rttWindow = reader.RttWindow(),
            .ecn = reader.FlagOr("ecn", false)};
}

Green::Green(const Json& settings, std::uint64_t seed)
    : m_settings(SettingsOf(settings)),
      m_random(seed),
      m_flows(UnpredictableKey(), this)
{
    m_counted.reserve(TcpFlows::CAPACITY);
}

bool Green::Entering(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now)
{
    const auto segment = m_flows.Read(headers);
    const auto flow = segment ? m_flows.Entering(*headers.ip, *segment, now) : std::nullopt;
    if (!flow || segment->payload == 0)
    {
        return true;
    }
    const auto rtt = m_flows.PathRttOf(*flow);
    if (!rtt)
    {
        ++m_noRtt;
        return true;
    }
    Advance(now);
    Count(*flow, segment->payload);
    const auto probability = ProbabilityOf(*rtt, now);
    ++m_judged;
    m_certain += probability >= 1 ? 1 : 0;
    if (Uniform() >= probability)
    {
        return true;
    }
    if (m_settings.ecn && probability < 1 && MarkCongestionExperienced(frame))
    {
        ++m_marked;
        return true;
    }
    ++m_dropped;
    return false;
}

bool Green::Leaving(std::span<std::uint8_t>, const Headers& headers, std::int64_t now)
{
    if (const auto segment = m_flows.Read(headers))
    {
        m_flows.Leaving(*headers.ip, *segment, now, m_settings.rttWindow);
    }
    return true;
}

/// Ends the periods that are over by now.
void Green::Advance(std::int64_t now)
{
    const auto ended = (now - m_began) / m_settings.sampling;
    if (ended <= 0)
    {
        return;
    }
    m_last = ended == 1 ? m_present : Period{};
    m_present = {};
    ++m_period;
    m_began += ended * m_settings.sampling;
}

void Green::Count(TcpFlows::Id flow, std::uint32_t payload)
{
    m_present.mss = std::max(m_present.mss, payload);
    if (m_counted[flow] != m_period)
    {
        m_counted[flow] = m_period;
        ++m_present.flows;
    }
}

/// Of the last complete period and of the present one, the larger number of each.
Green::Period Green::Recent(std::int64_t now) const
{
    const auto ended = (now - m_began) / m_settings.sampling;
    if (ended > 0)
    {
        return ended == 1 ? m_present : Period{};
    }
    return {.flows = std::max(m_last.flows, m_present.flows), .mss = std::max(m_last.mss, m_present.mss)};
}

double Green::ProbabilityOf(std::int64_t rtt, std::int64_t now) const
{
    const auto [flows, mss] = Recent(now);
    const double seconds = static_cast<double>(rtt) / NS_PER_S;
    const double root = flows * m_settings.mss.value_or(mss) * m_settings.k / (m_settings.rate * seconds);
    return std::min(root * root, 1.0);
}

/// From [0, 1), the same with every standard library.
double Green::Uniform()
{
    return static_cast<double>(m_random() >> 11) * 0x1p-53;
}

void Green::Opened(TcpFlows::Id id)
{
    if (id >= m_counted.size())
    {
        m_counted.resize(id + std::size_t{1});
    }
    m_counted[id] = 0;
}

void Green::Check(const Json& settings) const
{
    SettingsOf(settings);
}

void Green::Set(const Json& settings, std::int64_t now)
{
    const auto changed = SettingsOf(settings);
    Advance(now);
    m_settings = changed;
}

Json Green::Read(std::int64_t now) const
{
    const auto [flows, mss] = Recent(now);
    return {{"flows", flows},
            {"mss", m_settings.mss.value_or(mss)},
            {"judged", m_judged},
            {"dropped", m_dropped},
            {"marked", m_marked},
            {"certain", m_certain},
            {"no_rtt", m_noRtt},
            {"unmanaged", m_flows.Unmanaged()},
            {"evicted", m_flows.Flows().Evicted()}};
}

} // namespace netboxit::stages
