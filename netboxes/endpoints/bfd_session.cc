// SPDX-License-Identifier: GPL-2.0-or-later
#include "bfd_session.h"

#include <algorithm>

namespace netboxit
{

namespace
{

constexpr std::int64_t SLOWEST = 1'000'000'000; ///< RFC 5880, 6.8.3: not faster before the session is up
constexpr double MOST_JITTER = 0.25;            ///< RFC 5880, 6.8.7
constexpr std::uint8_t VERSION = 1;
constexpr std::size_t LENGTH = 24;
constexpr std::uint8_t POLL = 0x20;
constexpr std::uint8_t FINAL = 0x10;
/// Control plane independent, authentication, demand and multipoint: what is not spoken here (RFC 5880, 4.1).
constexpr std::uint8_t AUTHENTICATED = 0x04;
constexpr std::uint8_t MULTIPOINT = 0x01;
constexpr std::uint8_t DETECTION_TIME_EXPIRED = 1;
constexpr std::uint8_t NEIGHBOUR_SIGNALED_DOWN = 3;

} // namespace

BfdSession::BfdSession(const BfdConfiguration& configuration, std::uint32_t discriminator, Surroundings surroundings)
    : m_configuration(configuration), m_discriminator(discriminator), m_surroundings(std::move(surroundings))
{
    SendAgain();
}

std::int64_t BfdSession::Desired() const
{
    return m_state == State::Up ? m_configuration.interval : std::max(m_configuration.interval, SLOWEST);
}

void BfdSession::Send(bool final)
{
    BigEndianWriter packet;
    packet.Put(static_cast<unsigned>(VERSION << 5 | m_diagnostic), 1);
    packet.Put(static_cast<unsigned>(static_cast<unsigned>(m_state) << 6 | (final ? FINAL : m_polls ? POLL : 0U)), 1);
    packet.Put(m_configuration.multiplier, 1);
    packet.Put(LENGTH, 1);
    packet.Put(m_discriminator, 4);
    packet.Put(m_remoteDiscriminator, 4);
    packet.Put(static_cast<std::uint64_t>(Desired() / 1000), 4);
    packet.Put(static_cast<std::uint64_t>(m_configuration.interval / 1000), 4);
    packet.Put(0, 4);
    m_surroundings.send(packet.Written());
}

void BfdSession::SendAgain()
{
    Send(false);
    const auto interval = static_cast<double>(std::max(Desired(), m_remoteReceives));
    const auto jitter = m_surroundings.jitter->GetValue(0.0, MOST_JITTER);
    m_next.Set(static_cast<std::int64_t>(interval * (1.0 - jitter)), [this] { SendAgain(); });
}

void BfdSession::Go(State state)
{
    m_polls = state == State::Up; // the interval that it says is another one now (RFC 5880, 6.8.3)
    m_state = state;
    SendAgain();
}

void BfdSession::Fail(std::uint8_t diagnostic)
{
    const bool wasUp = m_state == State::Up;
    m_diagnostic = diagnostic;
    m_detection.Stop();
    Go(State::Down);
    m_remoteDiscriminator = diagnostic == DETECTION_TIME_EXPIRED ? 0 : m_remoteDiscriminator;
    if (wasUp)
    {
        m_surroundings.failed();
    }
}

void BfdSession::Receive(Bytes bytes)
{
    BigEndianReader packet(bytes);
    const auto version = packet.Get(1) >> 5;
    const auto flags = packet.Get(1);
    const auto multiplier = packet.Get(1);
    const auto length = packet.Get(1);
    const auto remote = packet.Get(4);
    const auto ours = packet.Get(4);
    const auto desired = static_cast<std::int64_t>(packet.Get(4)) * 1000;
    const auto receives = static_cast<std::int64_t>(packet.Get(4)) * 1000;
    packet.Get(4);
    const auto state = static_cast<State>(flags >> 6);
    // RFC 5880, 6.8.6.
    if (!packet.Good() || version != VERSION || length != LENGTH || (flags & (AUTHENTICATED | MULTIPOINT)) != 0 ||
        multiplier == 0 || remote == 0 || (ours == 0 ? state > State::Down : ours != m_discriminator))
    {
        return;
    }
    m_remoteDiscriminator = remote;
    m_remoteReceives = receives;
    m_polls = m_polls && (flags & FINAL) == 0;
    m_detection.Set(multiplier * std::max(m_configuration.interval, desired), [this] { Fail(DETECTION_TIME_EXPIRED); });
    if ((flags & POLL) != 0)
    {
        Send(true);
    }
    if (state <= State::Down)
    {
        if (m_state == State::Down && state == State::Down)
        {
            Go(State::Init);
        }
        else if (m_state == State::Up || state == State::AdminDown)
        {
            if (m_state != State::Down)
            {
                Fail(NEIGHBOUR_SIGNALED_DOWN);
            }
        }
    }
    else if (m_state == State::Init || (m_state == State::Down && state == State::Init))
    {
        m_diagnostic = 0;
        Go(State::Up);
    }
}

} // namespace netboxit
