// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "packet_pool.h"

#include "tcp_flows.h"

#include <cstdint>
#include <vector>

namespace netboxit::multiservice
{

/// What Snoop knows of a TCP connection towards the wireless host (section 4.2.3, after ns-2's snoop.cc): the segments that the
/// host has not acknowledged, and what to do with its acknowledgements. Numbers are bytes of TCP's sequence; ns-2's are
/// packets.
class SnoopConnection
{
  public:
    /// Of all connections.
    struct Settings
    {
        std::size_t cache{};      ///< segments of a connection
        std::int64_t leastTimer{}; ///< ns
    };

    /// What becomes of an acknowledgement.
    struct Verdict
    {
        bool isNew{}; ///< acknowledges what was not acknowledged
        bool isSuppressed{};
        Packet again{}; ///< to be sent to the wireless host once more; null: none
    };

    /// A segment with data or FIN goes to the wireless host. Whether it is cached, and so may go there again.
    bool TakeSegment(const stages::TcpSegment& segment, const Packet& packet, const Settings& settings, std::int64_t now);
    /// A segment with ACK comes from it.
    Verdict TakeAcknowledgement(const stages::TcpSegment& segment, std::int64_t now);
    /// The timer expired: the segment to be sent again; null where there is none.
    Packet TakeTimeout(std::int64_t now);
    /// Begins anew with a SYN of the sender.
    void Begin(const stages::TcpSegment& syn);

    /// The end: keeps no packet any more.
    void Forget();

    /// How long the timer waits for the oldest segment's acknowledgement, ns.
    std::int64_t Timeout(const Settings& settings) const;

    /// Whether there is a segment to wait for.
    bool Waits() const
    {
        return !m_cached.empty() && m_cached.front().retries < MOST_RETRIES;
    }

    std::size_t Cached() const
    {
        return m_cached.size();
    }

    stages::TcpFlowKey key{}; ///< its place in a table

  private:
    /// ns-2.1b4: most local retransmissions of a segment.
    static constexpr unsigned MOST_RETRIES = 10;

    struct Segment
    {
        std::uint32_t sequence{};
        std::uint32_t end{};
        Packet packet{};
        std::int64_t sent{}; ///< the latest time, ns
        unsigned retries{};
        bool isRepeated{}; ///< by the sender: it repairs the loss itself
    };

    Verdict TakeDuplicate(std::int64_t now);
    Packet Repeat(std::int64_t now);
    void Free(std::uint32_t acknowledgement, std::int64_t now);

    std::vector<Segment> m_cached; ///< by sequence number
    bool m_isKnown{false};         ///< m_acknowledged and m_highest mean something
    std::uint32_t m_acknowledged{};
    std::uint32_t m_highest{}; ///< behind the last byte that was sent
    std::uint16_t m_window{};  ///< that the latest acknowledgement had
    int m_expectedDuplicates{0};
    bool m_hasPassed{false}; ///< a duplicate, and the next one is acted on
    // ns-2.1b4's initial values, ns.
    double m_smoothed{0.1e9};
    double m_variation{0.25e9};
};

} // namespace netboxit::multiservice
