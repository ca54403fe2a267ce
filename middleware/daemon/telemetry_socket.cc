// SPDX-License-Identifier: GPL-2.0-or-later
#include "telemetry_socket.h"

#include "telemetry_frame.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <sys/socket.h>

#include <array>

namespace netboxit::middleware
{

namespace
{

/// Of the largest telemetry that a later version might send; a longer frame is cut off.
constexpr std::size_t LONGEST = 256;

} // namespace

TelemetrySocket::TelemetrySocket()
    : m_socket(::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, htons(ether_type::EXPERIMENT)),
               "opening a packet socket for telemetry")
{
    // A program of this host could tell what it likes.
    const int yes = 1;
    Checked(::setsockopt(m_socket.Get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof yes), "ignoring the host's own telemetry");
}

void TelemetrySocket::AddTo(std::vector<pollfd>& polled) const
{
    polled.push_back({m_socket.Get(), POLLIN, 0});
}

bool TelemetrySocket::Read()
{
    std::array<std::uint8_t, LONGEST> frame{};
    sockaddr_ll from{};
    socklen_t length = sizeof from;
    const auto size = ::recvfrom(m_socket.Get(), frame.data(), frame.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
    if (size < 0)
    {
        return false; // an interface that went down is told once, and nothing is lost
    }
    m_arrival.reset();
    if (const auto state = ReadTelemetryFrame(std::span(frame).first(static_cast<std::size_t>(size))))
    {
        m_arrival = Arrival{.interface = static_cast<unsigned>(from.sll_ifindex), .state = *state};
    }
    return true;
}

} // namespace netboxit::middleware
