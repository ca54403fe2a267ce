// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "passive_rtt.h"
#include "tcp_flows.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace netboxit::stages
{

/// The TCP connections that pass a stage, each with its round-trip time. Data and ACKs must both pass here.
class MeasuredFlows : private TcpFlows::Observer
{
  public:
    using Id = TcpFlows::Id;

    /// What a packet to the node shows of its connection.
    struct Answer
    {
        Id flow{};
        std::optional<std::int64_t> rtt{}; ///< a sample that it gives, ns
    };

    /// `observer` is told of the connections, too, and outlives this.
    explicit MeasuredFlows(const SipHashKey& seed, TcpFlows::Observer* observer = nullptr);

    /// The segment of a packet that passes. What has none and is IP is counted as unmanaged.
    std::optional<TcpSegment> Read(const Headers& headers);
    /// The connection of a segment that passes from the node; nothing where none is open.
    std::optional<Id> Entering(const IpHeaders& ip, const TcpSegment& segment, std::int64_t now);
    /// The same of a segment to the node. `window` of the smallest RTT in ns; nothing: the connection's life.
    std::optional<Answer> Leaving(
        const IpHeaders& ip, const TcpSegment& segment, std::int64_t now, std::optional<std::int64_t> window);

    /// Removes connections whose time is over.
    void Expire(std::int64_t now)
    {
        m_flows.Expire(now);
    }

    const TcpFlows& Flows() const
    {
        return m_flows;
    }

    /// Between here and the remote end, ns; nothing before the connection's first sample.
    std::optional<std::int64_t> RttOf(Id flow) const
    {
        return m_paths[flow].remote.Minimum();
    }

    /// From end to end, ns: between here and the remote end, and between here and the node, from the SYN-ACK to what acknowledges it (0
    /// where that was not seen). Nothing before the connection's first sample.
    std::optional<std::int64_t> PathRttOf(Id flow) const
    {
        const auto remote = RttOf(flow);
        return remote ? std::optional(std::max(*remote, PassiveRtt::SMALLEST) + m_paths[flow].node.rtt) : std::nullopt;
    }

    /// IP packets that are not TCP or whose segment cannot be read (fragments, IPsec, malformed ones).
    std::uint64_t Unmanaged() const
    {
        return m_unmanaged;
    }

  private:
    /// The node's half of a connection.
    struct Node
    {
        std::optional<std::int64_t> synAck{}; ///< when it passed, ns, until the node acknowledges it
        bool isRepeated{};                    ///< it passed twice, so nobody knows which one was acknowledged (Karn's algorithm)
        std::int64_t rtt{};
    };

    /// Both halves. What each segment asks for is in the first two cache lines, which processors fetch as a pair.
    struct alignas(128) Path
    {
        Node node{};
        PassiveRtt remote{};
    };

    void Opened(Id flow) override;
    void Closed(Id flow) override;
    void Stalled(Id flow) override;
    void Fetch(Id flow) const override;

    TcpFlows::Observer* m_observer;
    std::vector<Path> m_paths; ///< of the connections, by id
    TcpFlows m_flows;
    std::uint64_t m_unmanaged{};
};

} // namespace netboxit::stages
