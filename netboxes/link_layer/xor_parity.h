// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "parity_block.h"
#include "scheme_settings.h"
#include "service.h"

#include <cstdint>

namespace netboxit::multiservice
{

/// "xor" (section 5.2.1): behind each block of packets a frame with their XOR, as long as the longest of them, by which
/// the receiver has the one packet of the block that was lost. Packets are sent as they are and handed up when they arrive, so
/// a repaired one comes out of order.
///
/// All frames are numbered in one byte, modulo the largest multiple of a block's frames that fits (section 5.2.1), so the number
/// tells the block.
class XorParity : public Service
{
  public:
    XorParity(ServicePort& port, const Json& settings);

    /// Blocks of another size have other numbers: that is another service.
    void Set(const Json&) override
    {
    }

  protected:
    /// The place of a frame.
    struct Place
    {
        std::uint32_t block{};
        std::uint32_t position{}; ///< in the block; of a parity frame: behind the last packet
    };

    /// `blocks`: numbers of blocks.
    XorParity(ServicePort& port, HeaderFields fields, std::uint32_t size, std::uint32_t blocks);

    void TakePacket(const Packet& packet) override;
    void TakeFrame(const AirFrame& frame) override;

    virtual void Number(AirFrame& frame, const Place& place) const;
    virtual Place PlaceOf(const AirFrame& frame) const;

    /// A block of the receiver that has just begun.
    virtual ParityBlock NewBlock(std::uint32_t number) const
    {
        return ParityBlock(number, m_size);
    }

    /// Ends the sender's block: its parity goes. Nothing happens where the block is empty.
    void EndBlock();

    std::uint32_t m_size; ///< packets of a block

  private:
    void Send(FrameType type, const Packet& packet);
    /// The receiver's block of this number.
    ParityBlock& BlockAt(std::uint32_t number);
    /// Nothing came for so long that nothing that was overtaken comes any more.
    void FellSilent();

    std::uint32_t m_blocks; ///< numbers of blocks

    std::uint32_t m_sending{0}; ///< the sender's block
    std::uint32_t m_filled{0};  ///< packets in it
    Packet m_parity{};

    std::optional<ParityBlock> m_block;  ///< the receiver's
    std::optional<ParityBlock> m_former; ///< the one just before: frames that were overtaken may still come
    std::int64_t m_latest{0}; ///< when the latest frame came, ns
    Timer m_silence;          ///< runs while a block keeps parity that yields nothing so far
};

} // namespace netboxit::multiservice
