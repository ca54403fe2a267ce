// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "big_endian.h"
#include "timer.h"

#include "ns3/random-variable-stream.h"

namespace netboxit
{

struct BfdConfiguration
{
    std::int64_t interval; ///< ns, both ways
    std::uint8_t multiplier;
};

/// A session of bidirectional forwarding detection with one neighbour (RFC 5880, asynchronous mode, without authentication and echo).
class BfdSession
{
  public:
    /// What a session needs of its router.
    struct Surroundings
    {
        ns3::Ptr<ns3::UniformRandomVariable> jitter;
        std::function<void(Bytes)> send; ///< a control packet
        std::function<void()> failed;    ///< the session was up; it may be destroyed by this call
    };

    /// `discriminator` is not 0 and no other session's of this router.
    BfdSession(const BfdConfiguration& configuration, std::uint32_t discriminator, Surroundings surroundings);

    /// A control packet of the neighbour; what is none is ignored. The session may not exist any more afterwards.
    void Receive(Bytes packet);

    bool IsUp() const
    {
        return m_state == State::Up;
    }

  private:
    /// RFC 5880, 4.1.
    enum class State : std::uint8_t
    {
        AdminDown,
        Down,
        Init,
        Up,
    };

    void Go(State state);
    void Fail(std::uint8_t diagnostic);
    void Send(bool final);
    void SendAgain();
    /// What it says of itself now: slow until it is up (RFC 5880, 6.8.3).
    std::int64_t Desired() const;

    BfdConfiguration m_configuration;
    std::uint32_t m_discriminator;
    Surroundings m_surroundings;
    State m_state{State::Down};
    std::uint8_t m_diagnostic{0};
    bool m_polls{false};
    std::uint32_t m_remoteDiscriminator{0};
    std::int64_t m_remoteReceives{0}; ///< least interval at which the neighbour can receive, ns
    Timer m_next;
    Timer m_detection;
};

} // namespace netboxit
