// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "payload.h"

#include <vector>

namespace netboxit
{

/// The frames of a stream, one after the other.
class FrameSource
{
  public:
    virtual ~FrameSource() = default;
    /// The next frame, without FCS; valid until the next call.
    virtual Bytes Write(std::uint64_t sequence, std::int64_t stamp) = 0;
    /// Changes the frames' size, as RFC 2544 counts it: with header and FCS, from 64 bytes.
    virtual void Resize(std::size_t size) = 0;
};

/// What all frames of a stream have in common.
struct FlowAddresses
{
    MacAddress sourceMac{};
    MacAddress destinationMac{};
    std::array<std::uint8_t, 4> source{};
    std::array<std::uint8_t, 4> destination{};
    std::uint16_t sourcePort{};
    std::uint16_t destinationPort{};
    std::uint8_t dscp{};
};

/// A UDP datagram in an Ethernet frame that is written once; of each further one only what differs is written anew: identification
/// and header checksum (RFC 1624), sequence number, stamp.
class NumberedFrame : public FrameSource
{
  public:
    NumberedFrame(const FlowAddresses& flow, std::size_t size);

    Bytes Write(std::uint64_t sequence, std::int64_t stamp) override;
    void Resize(std::size_t size) override;

  private:
    FlowAddresses m_flow;
    std::vector<std::uint8_t> m_bytes;
    std::uint32_t m_checksum{}; ///< one's complement sum of the IP header with identification 0
};

} // namespace netboxit
