// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/frame.h"
#include "../engine/headers.h"

namespace netboxit::multiservice
{

/// What packets count as on a link, and into which pieces they are cut that fit into its frames.
class Accounting
{
  public:
    enum class Kind : std::uint8_t
    {
        Payload, ///< as in the source's simulator, whose packets have no headers
        Real,
    };

    /// `frame`: bytes that a frame carries at most.
    Accounting(Kind kind, std::uint32_t frame);

    bool IsReal() const
    {
        return m_kind == Kind::Real;
    }

    /// Bytes of a packet, before it is cut. `bytes` is its Ethernet frame.
    std::uint32_t PacketBytes(const Frame& frame, Bytes bytes) const;
    /// In how many pieces a packet of so many bytes goes: at least one.
    std::uint32_t Pieces(std::uint32_t packetBytes) const;
    /// Bytes of one of them, with the header of a fragment.
    std::uint32_t PieceBytes(std::uint32_t packetBytes, std::uint32_t number) const;

  private:
    Kind m_kind;
    std::uint32_t m_frame;
};

} // namespace netboxit::multiservice
