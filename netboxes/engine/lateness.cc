// SPDX-License-Identifier: GPL-2.0-or-later
#include "lateness.h"

#include <array>

namespace netboxit
{

namespace
{

constexpr std::size_t MISSES_KEPT = 100;
/// For whoever wants the lateness of an interval: the difference of two readings is a histogram, too.
constexpr auto BOUNDS = [] {
    std::array<std::int64_t, 17> bounds{};
    for (std::size_t i = 0, decade = 1000; i < bounds.size(); ++i)
    {
        constexpr std::array<std::int64_t, 3> DIGITS{1, 2, 5};
        bounds[i] = DIGITS[i % 3] * static_cast<std::int64_t>(decade);
        decade *= i % 3 == 2 ? 10 : 1;
    }
    return bounds;
}();
static_assert(BOUNDS.front() == 1000 && BOUNDS.back() == 200'000'000); // 1 us to 200 ms

double Microseconds(std::int64_t ns)
{
    return static_cast<double>(ns) / 1000;
}

nlohmann::json Counts(const Histogram& histogram, std::uint64_t missed)
{
    auto upTo = nlohmann::json::array();
    for (std::size_t i = 0; const auto count : histogram.UpTo(BOUNDS))
    {
        upTo.push_back({Microseconds(BOUNDS[i++]), count});
    }
    return {{"count", histogram.Count()}, {"missed", missed}, {"sum", Microseconds(histogram.Sum())}, {"up_to", upTo}};
}

nlohmann::json Summary(const Histogram& histogram, std::uint64_t missed)
{
    const auto percentile = [&](double share) { return Microseconds(histogram.Percentile(share)); };
    auto summary = Counts(histogram, missed);
    summary.update({{"p50", percentile(0.5)},
                    {"p90", percentile(0.9)},
                    {"p99", percentile(0.99)},
                    {"p99_9", percentile(0.999)},
                    {"max", Microseconds(histogram.Maximum())}});
    return summary;
}

} // namespace

void Lateness::Record(Histogram& histogram,
                      std::uint64_t& missed,
                      std::int64_t due,
                      std::int64_t lateness,
                      const char* what)
{
    histogram.Record(lateness);
    if (lateness > m_limit)
    {
        ++missed;
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
    m_missedEvents = m_missedFrames = 0;
    m_misses.clear();
}

nlohmann::json Lateness::Counts() const
{
    return {{"event", netboxit::Counts(m_events, m_missedEvents)}, {"frame", netboxit::Counts(m_frames, m_missedFrames)}};
}

nlohmann::json Lateness::Read() const
{
    return {{"event", Summary(m_events, m_missedEvents)}, {"frame", Summary(m_frames, m_missedFrames)}};
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
