// SPDX-License-Identifier: GPL-2.0-or-later
#include "scheme_settings.h"

#include <cmath>

namespace netboxit::multiservice
{

namespace
{

constexpr unsigned LEAST_BITS = 3;
constexpr unsigned MOST_BITS = 16;

std::string InSeconds(std::int64_t time)
{
    return std::to_string(static_cast<double>(time) / stages::NS_PER_S) + " s";
}

} // namespace

SchemeSettings::SchemeSettings(const Json& settings, const LinkFacts& facts)
    : m_settings(settings),
      m_facts(facts),
      m_scheme(settings.at("scheme").get<std::string>()),
      m_reader(m_settings, m_scheme)
{
}

std::int64_t SchemeSettings::Timer(const char* key, std::uint8_t headerBytes) const
{
    const auto time = Time(key);
    const auto least = m_facts.TimeOf(m_facts.framePayload + headerBytes);
    if (time < least)
    {
        Refuse(key, "at least " + InSeconds(least) + ", the time of the longest frame: it would expire before any answer");
    }
    return time;
}

std::int64_t SchemeSettings::Time(const char* key) const
{
    return std::llround(m_reader.Number(key, {1e-6, 1e5}) * stages::NS_PER_S);
}

unsigned SchemeSettings::SequenceBits() const
{
    return Integer("sequence_bits", LEAST_BITS, MOST_BITS);
}

std::uint32_t SchemeSettings::HalfOf(const char* key, unsigned sequenceBits) const
{
    const auto half = 1U << (sequenceBits - 1);
    const auto frames = Integer(key, 1, 1U << MOST_BITS);
    if (frames > half)
    {
        Refuse(key,
               "at most " + std::to_string(half) + ", half of the " + std::to_string(2 * half) +
                   " sequence numbers: an old frame could be taken for a new one; say less, or more sequence_bits");
    }
    return frames;
}

unsigned SchemeSettings::Integer(const char* key, unsigned least, unsigned most) const
{
    const auto number = m_reader.IntegerIfAny(key, least, most);
    if (!number)
    {
        m_reader.Refuse(key, Json(), "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return *number;
}

} // namespace netboxit::multiservice
