// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "frame_socket.h"

#include <string>

struct tpacket2_hdr;

namespace netboxit
{

/// The memory into which the kernel puts the frames of a packet socket (TPACKET_V2), so that receiving takes no
/// call into it. Version 3 hands over whole blocks only, the last one up to a tick of the kernel later.
class PacketRing
{
  public:
    PacketRing() = default;
    /// For whole frames of interfaces with this MTU. `tried` begins the messages of errors; throws
    /// std::system_error.
    PacketRing(int socket, std::uint32_t mtu, const std::string& tried);
    PacketRing(PacketRing&& other) noexcept;
    PacketRing& operator=(PacketRing&& other) noexcept;
    ~PacketRing();

    /// How many frames it holds.
    std::size_t Capacity() const
    {
        return m_frames;
    }

    bool HasFrames() const;
    /// Copies out what is there into the rooms of `batch`, and returns how many frames.
    std::size_t Receive(std::span<Arrival> batch);

  private:
    tpacket2_hdr* Next() const;
    void CopyOut(const tpacket2_hdr& header, Arrival& arrival) const;

    std::uint8_t* m_memory{nullptr};
    std::size_t m_size{0};
    std::size_t m_block{0};
    std::size_t m_frameSize{0};
    std::size_t m_framesPerBlock{0};
    std::size_t m_frames{0};
    std::size_t m_next{0};
};

} // namespace netboxit
