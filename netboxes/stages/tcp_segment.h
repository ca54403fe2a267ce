// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "headers.h"

#include <cstdint>
#include <optional>
#include <span>

namespace netboxit::stages
{

/// Sequence numbers are compared modulo 2^32 (RFC 9293, section 3.4).
constexpr bool IsAfter(std::uint32_t left, std::uint32_t right)
{
    return static_cast<std::int32_t>(left - right) > 0;
}

/// What the TCP header of a packet says (RFC 9293, section 3.1). A view into the frame.
struct TcpSegment
{
    std::uint16_t sourcePort{};
    std::uint16_t destinationPort{};
    std::uint32_t sequence{};
    std::uint32_t acknowledgement{}; ///< valid with `ack`
    bool syn{};
    bool fin{};
    bool rst{};
    bool ack{};
    std::uint16_t window{}; ///< the field, without any scale
    /// Options of a segment with SYN. In other segments they mean nothing and are not read.
    std::optional<std::uint16_t> mss{};        ///< bytes
    std::optional<std::uint8_t> windowScale{}; ///< at most 14, whatever the option says (RFC 7323, section 2.3)
    bool timestamps{};                         ///< RFC 7323
    /// It carries a digest of its header (TCP-AO, RFC 5925, or MD5, RFC 2385): nobody on the path may change it.
    bool isAuthenticated{};
    std::uint32_t payload{}; ///< bytes
    Bytes header{};          ///< with its options

    /// The sequence number behind its last byte; SYN and FIN take one each.
    std::uint32_t End() const
    {
        return sequence + payload + (syn ? 1U : 0U) + (fin ? 1U : 0U);
    }
};

/// The segment in a whole IP packet. Nothing for fragments, for packets cut short, for headers or options that are malformed, and for what
/// IPsec protects (RFC 4302, RFC 4303).
std::optional<TcpSegment> ReadTcpSegment(const Headers& headers);

/// Writes the window field of a segment of this frame and updates the checksum by the difference (RFC 1624): one that was wrong stays
/// wrong. False, and nothing changes, where the segment is authenticated.
bool RewriteWindow(std::span<std::uint8_t> frame, const TcpSegment& segment, std::uint16_t window);

} // namespace netboxit::stages
