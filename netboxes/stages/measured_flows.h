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

    /// A packet of an open connection.
    struct Packet
    {
        TcpSegment segment;
        Id flow{};
        std::optional<std::int64_t> rtt{}; ///< a sample that it gives, ns
    };

    /// `observer` is told of the connections, too, and outlives this.
    explicit MeasuredFlows(const SipHashKey& seed, TcpFlows::Observer* observer = nullptr);

    /// What passes from the node. Nothing for what is no TCP segment of an open connection.
    std::optional<Packet> Entering(const Headers& headers, std::int64_t now);
    /// What passes to the node. `window` of the smallest RTT in ns; nothing: the connection's life.
    std::optional<Packet> Leaving(const Headers& headers, std::int64_t now, std::optional<std::int64_t> window);

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
        return m_rtts[flow].Minimum();
    }

    /// From end to end, ns: between here and the remote end, and between here and the node, from the SYN-ACK to what acknowledges it (0
    /// where that was not seen). Nothing before the connection's first sample.
    std::optional<std::int64_t> PathRttOf(Id flow) const
    {
        const auto remote = RttOf(flow);
        return remote ? std::optional(std::max(*remote, PassiveRtt::SMALLEST) + m_nodes[flow].rtt) : std::nullopt;
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

    void Opened(Id flow) override;
    void Closed(Id flow) override;
    void Stalled(Id flow) override;

    std::optional<Packet> PacketOf(const Headers& headers, Direction direction, std::int64_t now);

    TcpFlows::Observer* m_observer;
    std::vector<PassiveRtt> m_rtts; ///< of the connections, by id
    std::vector<Node> m_nodes;      ///< likewise
    TcpFlows m_flows;
    std::uint64_t m_unmanaged{};
};

} // namespace netboxit::stages
