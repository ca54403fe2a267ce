// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace hostile
{

using MacAddress = std::array<std::uint8_t, 6>;
using Ipv4Address = std::array<std::uint8_t, 4>;
using Frame = std::vector<std::uint8_t>;

/// A host of the network that the frames are sent into.
struct Host
{
    MacAddress mac;
    Ipv4Address address;
};

/// Makes Ethernet frames: sound ones of the protocols that networks carry, and such with a few things wrong in them. What it
/// makes depends on nothing but the seed and the hosts.
class FrameMaker
{
  public:
    /// `hosts` may be the frames' ends; no frame is longer than `longest`, header included.
    FrameMaker(std::uint64_t seed, std::vector<Host> hosts, std::size_t longest);

    /// The next frame, 14 bytes at least: the kernel takes no shorter ones.
    const Frame& Next();

  private:
    std::uint32_t Number(std::uint32_t below);
    bool Chance(std::uint32_t percent);
    std::uint16_t Word();
    /// One of them.
    template <typename Choices>
    const auto& Of(const Choices& choices)
    {
        return choices[Number(static_cast<std::uint32_t>(choices.size()))];
    }

    void Bytes(std::size_t count);
    void Put(std::span<const std::uint8_t> bytes);
    void Put16(unsigned value);
    void Put32(std::uint32_t value);
    std::size_t PayloadSize();

    void PutEthernet();
    void PutArp();
    void PutIpv4();
    void PutIpv4Options(std::size_t length);
    void PutIpv6();
    void PutTransport(std::uint8_t protocol, std::size_t payload);
    void PutLinkControl();
    void Spoil();

    std::mt19937_64 m_random;
    std::vector<Host> m_hosts;
    std::size_t m_longest;
    Frame m_frame;
};

} // namespace hostile
