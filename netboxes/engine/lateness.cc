// SPDX-License-Identifier: GPL-2.0-or-later
#include "lateness.h"

namespace netboxit
{

namespace
{

constexpr std::size_t MISSES_KEPT = 100;

double Microseconds(std::int64_t ns)
{
    return static_cast<double>(ns) / 1000;
}

nlohmann::json Summary(const Histogram& histogram)
{
    const auto percentile = [&](double share) { return Microseconds(histogram.Percentile(share)); };
    return {{"count", histogram.Count()},
            {"p50", percentile(0.5)},
            {"p90", percentile(0.9)},
            {"p99", percentile(0.99)},
            {"p99_9", percentile(0.999)},
            {"max", Microseconds(histogram.Maximum())}};
}

} // namespace

void Lateness::Record(Histogram& histogram, std::int64_t due, std::int64_t lateness, const char* what)
{
    histogram.Record(lateness);
    if (lateness > m_limit)
    {
        ++m_missed;
        if (m_misses.size() < MISSES_KEPT)
        {
            m_misses.push_back({due, lateness, what});
        }
    }
}

void Lateness::Reset()
{
    m_events.Reset();
    m_frames.Reset();
    m_missed = 0;
    m_misses.clear();
}

nlohmann::json Lateness::Read() const
{
    return {{"event", Summary(m_events)}, {"frame", Summary(m_frames)}};
}

nlohmann::json Lateness::ReadMisses() const
{
    auto list = nlohmann::json::array();
    for (const auto& miss : m_misses)
    {
        list.push_back({{"at_s", static_cast<double>(miss.due) / 1e9},
                        {"what", miss.what},
                        {"lateness_us", Microseconds(miss.lateness)}});
    }
    return list;
}

void Lateness::Tell(std::ostream& stream) const
{
    const auto& miss = m_misses.front();
    stream << "policy abort: " << (miss.what == std::string_view("event") ? "an event" : "a frame") << " due at "
           << static_cast<double>(miss.due) / 1e9 << " s of simulated time was " << Microseconds(miss.lateness)
           << " us late, and the limit is " << Microseconds(m_limit) << " us" << std::endl;
}

} // namespace netboxit
