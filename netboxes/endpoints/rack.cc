// SPDX-License-Identifier: GPL-2.0-or-later
#include "rack.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace netboxit
{

namespace
{

/// DupThresh.
constexpr std::uint32_t DUPLICATES = 3;
/// The reordering window is a quarter of the least round trip.
constexpr std::int64_t QUARTER = 4;

} // namespace

Rack::Rack(ns3::Ptr<ns3::TcpTxBuffer> buffer, ns3::Ptr<ns3::TcpSocketState> state)
    : m_scoreboard(std::move(buffer)), m_state(std::move(state))
{
}

void Rack::SentAgain(ns3::SequenceNumber32 end)
{
    m_sentAgainUpTo = std::max(m_sentAgainUpTo, end);
}

void Rack::Arrived(const ns3::TcpTxItem& segment)
{
    const auto end = Scoreboard::End(segment);
    // Step 3. What was sent again below that mark cannot be told from what was not: such segments say nothing about reordering.
    if (m_highest < end)
    {
        m_highest = end;
    }
    else if (end < m_highest && m_sentAgainUpTo <= Scoreboard::Begin(segment))
    {
        m_hasReordering = true;
    }
    const auto sent = segment.GetLastSent();
    const auto roundTrip = ns3::Simulator::Now() - sent;
    if (m_sentAgainUpTo <= Scoreboard::Begin(segment))
    {
        m_roundTrips.ofLast = m_roundTrips.ofLast.IsZero() ? roundTrip : std::min(m_roundTrips.ofLast, roundTrip);
        m_roundTrips.ofFirst = std::max(m_roundTrips.ofFirst, roundTrip);
    }
    if (segment.m_retrans && roundTrip < m_state->m_minRtt)
    {
        return; // step 2: the one that was sent before has arrived
    }
    if (!m_hasLatest || m_latestSent < sent || (m_latestSent == sent && m_latestEnd < end))
    {
        m_hasLatest = true;
        m_roundTrip = roundTrip;
        m_latestSent = sent;
        m_latestEnd = end;
    }
}

Rack::RoundTrips Rack::TakeRoundTrips()
{
    return std::exchange(m_roundTrips, {});
}

Rack::Detection Rack::Detect()
{
    Detection found;
    m_sentAgainUpTo = std::max(m_sentAgainUpTo, m_scoreboard.Head()); // sequence numbers begin anew after 2^32
    // Otherwise nothing is on its way that was sent before something that has arrived.
    if (!m_hasLatest || !(m_scoreboard.HasArrivals() || m_scoreboard.HasRetransmissions()))
    {
        return found;
    }
    const auto window = ReorderingWindow();
    const ns3::TcpTxItem* highestLost = nullptr;
    for (auto* segment : m_scoreboard.Segments())
    {
        if (segment->IsSacked())
        {
            m_scoreboard.ForgetRetransmission(*segment);
            continue;
        }
        const bool waits = Scoreboard::IsLost(*segment) && !segment->m_retrans;
        if (!waits && !SentBeforeLatest(*segment))
        {
            if (m_sentAgainUpTo <= Scoreboard::Begin(*segment))
            {
                break; // those that follow were sent later
            }
            continue;
        }
        if (!waits)
        {
            const auto left = segment->GetLastSent() + m_roundTrip + window - ns3::Simulator::Now();
            if (left.IsStrictlyPositive())
            {
                found.wait = std::max(found.wait, left);
                continue;
            }
            m_scoreboard.MarkLost(*segment);
            found.lost += segment->GetSeqSize();
        }
        highestLost = segment;
    }
    if (highestLost != nullptr)
    {
        m_scoreboard.SendAgainUpTo(*highestLost);
    }
    return found;
}

/// Step 4.
ns3::Time Rack::ReorderingWindow() const
{
    const bool isRecovering = m_state->m_congState == ns3::TcpSocketState::CA_RECOVERY ||
                              m_state->m_congState == ns3::TcpSocketState::CA_LOSS;
    if (!m_hasReordering && (isRecovering || m_scoreboard.Arrived() > (DUPLICATES - 1) * m_state->m_segmentSize))
    {
        return {};
    }
    return std::min(m_state->m_minRtt / QUARTER, m_state->m_srtt.Get());
}

bool Rack::SentBeforeLatest(const ns3::TcpTxItem& segment) const
{
    const auto sent = segment.GetLastSent();
    return sent < m_latestSent || (sent == m_latestSent && Scoreboard::End(segment) < m_latestEnd);
}

} // namespace netboxit
