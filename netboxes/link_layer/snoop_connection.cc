// SPDX-License-Identifier: GPL-2.0-or-later
#include "snoop_connection.h"

#include <algorithm>
#include <cmath>

namespace netboxit::multiservice
{

namespace
{

using stages::IsAfter;

/// ns-2.1b4's gain of both averages. It is the weight of what was before.
constexpr double GAIN = 0.125;
/// Duplicates that are no sign of a loss yet, ns-2.1b4.
constexpr int DUPLICATES_PASSED = 1;
/// Retransmissions for duplicates beyond the expected ones, ns-2.1b4.
constexpr unsigned RETRIES_WHEN_MISCOUNTED = 2;
constexpr int MISCOUNTED = -1;

} // namespace

void SnoopConnection::Begin(const stages::TcpSegment& syn)
{
    m_cached.clear();
    m_isKnown = true;
    m_acknowledged = m_highest = syn.sequence + 1;
    m_expectedDuplicates = 0;
    m_hasPassed = false;
}

void SnoopConnection::Forget()
{
    m_cached.clear();
}

bool SnoopConnection::TakeSegment(const stages::TcpSegment& segment,
                                  const Packet& packet,
                                  const Settings& settings,
                                  std::int64_t now)
{
    if (!m_isKnown)
    {
        m_isKnown = true;
        m_acknowledged = m_highest = segment.sequence;
    }
    const bool isEarlier = IsAfter(m_highest, segment.sequence);
    m_highest = IsAfter(segment.End(), m_highest) ? segment.End() : m_highest;
    if (!IsAfter(segment.End(), m_acknowledged))
    {
        return false;
    }
    const auto place = std::ranges::find_if(
        m_cached, [&](const Segment& cached) { return !IsAfter(segment.sequence, cached.sequence); });
    if (place != m_cached.end() && place->sequence == segment.sequence)
    {
        *place = {segment.sequence, segment.End(), packet, now, 0, true};
        return true;
    }
    if (m_cached.size() >= settings.cache)
    {
        return false;
    }
    m_cached.insert(place, {segment.sequence, segment.End(), packet, now, 0, isEarlier});
    return true;
}

SnoopConnection::Verdict SnoopConnection::TakeAcknowledgement(const stages::TcpSegment& segment, std::int64_t now)
{
    const auto acknowledgement = segment.acknowledgement;
    if (!m_isKnown || IsAfter(m_acknowledged, acknowledgement))
    {
        return {};
    }
    if (IsAfter(acknowledgement, m_acknowledged))
    {
        Free(acknowledgement, now);
        m_window = segment.window;
        return {.isNew = true};
    }
    // A duplicate has no data and no news of the window (RFC 5681, section 2).
    const bool isDuplicate = segment.payload == 0 && !segment.syn && !segment.fin && segment.window == m_window;
    m_window = segment.window;
    return isDuplicate ? TakeDuplicate(now) : Verdict{};
}

SnoopConnection::Verdict SnoopConnection::TakeDuplicate(std::int64_t now)
{
    if (m_cached.empty() || IsAfter(m_cached.front().sequence, m_acknowledged))
    {
        return {};
    }
    const auto& oldest = m_cached.front();
    if (m_expectedDuplicates > 0)
    {
        --m_expectedDuplicates;
        return {.isSuppressed = true};
    }
    if (m_expectedDuplicates == MISCOUNTED && oldest.retries < RETRIES_WHEN_MISCOUNTED)
    {
        return {.isSuppressed = true, .again = Repeat(now)};
    }
    if (m_expectedDuplicates < 0)
    {
        return {};
    }
    m_hasPassed = !m_hasPassed;
    if (m_hasPassed || oldest.isRepeated)
    {
        return {};
    }
    // Each segment behind the oldest one makes a duplicate; one passed, and this is another one.
    m_expectedDuplicates = static_cast<int>(m_cached.size()) - 1 - DUPLICATES_PASSED - 1;
    return {.isSuppressed = true, .again = oldest.retries == 0 ? Repeat(now) : Packet{}};
}

Packet SnoopConnection::TakeTimeout(std::int64_t now)
{
    return Waits() && !IsAfter(m_cached.front().sequence, m_acknowledged) ? Repeat(now) : Packet{};
}

std::int64_t SnoopConnection::Timeout(const Settings& settings) const
{
    return std::max<std::int64_t>(settings.leastTimer, std::llround(m_smoothed + 4 * m_variation));
}

Packet SnoopConnection::Repeat(std::int64_t now)
{
    auto& oldest = m_cached.front();
    ++oldest.retries;
    oldest.sent = now;
    return oldest.packet;
}

void SnoopConnection::Free(std::uint32_t acknowledgement, std::int64_t now)
{
    const auto end = std::ranges::find_if(m_cached, [&](const Segment& cached) { return IsAfter(cached.end, acknowledgement); });
    if (end != m_cached.begin())
    {
        const auto sample = static_cast<double>(now - std::prev(end)->sent);
        m_smoothed = GAIN * m_smoothed + (1 - GAIN) * sample;
        m_variation = GAIN * std::abs(sample - m_smoothed) + (1 - GAIN) * m_variation;
        m_cached.erase(m_cached.begin(), end);
    }
    m_acknowledged = acknowledgement;
    m_highest = IsAfter(acknowledgement, m_highest) ? acknowledgement : m_highest;
    m_expectedDuplicates = 0;
}

} // namespace netboxit::multiservice
