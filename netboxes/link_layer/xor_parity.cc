// SPDX-License-Identifier: GPL-2.0-or-later
#include "xor_parity.h"

#include <utility>

namespace netboxit::multiservice
{

namespace
{

/// Sequence numbers have one byte.
constexpr std::uint32_t NUMBERS = 256;
/// Of a block: a receiver tells one block from the next.
constexpr std::uint32_t MOST_PACKETS = NUMBERS / 2 - 1;

} // namespace

XorParity::XorParity(ServicePort& port, const Json& settings)
    : XorParity(port, HeaderFields::Sequence, SchemeSettings(settings, port.Facts()).Integer("block", 1, MOST_PACKETS), NUMBERS)
{
    m_blocks = NUMBERS / (m_size + 1);
}

XorParity::XorParity(ServicePort& port, HeaderFields fields, std::uint32_t size, std::uint32_t blocks)
    : Service(port, {fields}),
      m_size(size),
      m_blocks(blocks),
      m_silence(port.Time(), [this] { FellSilent(); })
{
}

void XorParity::TakePacket(const Packet& packet)
{
    if (!m_parity)
    {
        m_parity = packet.MakeParity();
    }
    Send(FrameType::Data, packet);
    m_parity.Cover(packet);
    ++m_filled;
    if (m_filled == m_size)
    {
        EndBlock();
    }
}

void XorParity::EndBlock()
{
    if (m_filled > 0)
    {
        Send(FrameType::Parity, std::exchange(m_parity, {}));
        m_filled = 0;
        m_sending = (m_sending + 1) % m_blocks;
    }
}

void XorParity::Send(FrameType type, const Packet& packet)
{
    auto frame = NewFrame(type);
    frame.payload = packet;
    frame.standsAlone = type == FrameType::Data;
    Number(frame, {m_sending, m_filled});
    m_port.Emit(std::move(frame));
}

void XorParity::Number(AirFrame& frame, const Place& place) const
{
    frame.sequence = static_cast<std::uint16_t>(place.block * (m_size + 1) + place.position);
}

XorParity::Place XorParity::PlaceOf(const AirFrame& frame) const
{
    return {frame.sequence / (m_size + 1), frame.sequence % (m_size + 1)};
}

void XorParity::TakeFrame(const AirFrame& frame)
{
    const auto place = PlaceOf(frame);
    auto& block = BlockAt(place.block);
    const bool isData = frame.type == FrameType::Data;
    const auto now = m_latest;
    if (!(isData ? block.TakeData(place.position, frame.payload, now) : block.TakeParity(place.position, frame.payload, now)))
    {
        ++m_statistics.duplicates;
        return;
    }
    const auto found = [&]
    {
        if (block.HasEnded())
        {
            m_statistics.Found();
        }
    };
    if (isData)
    {
        found();
        Deliver(frame.payload);
    }
    if (const auto repaired = block.Repair())
    {
        found();
        // It would have come just before the one that showed the gap.
        Deliver(*repaired, now - block.GapSeen() + m_port.Facts().TimeOf(frame.Bytes()));
    }
    if (m_block->KeepsParity() || (m_former && m_former->KeepsParity()))
    {
        m_silence.Start(RoundTrip() + 1); // a frame that is a round trip late may still come
    }
    else
    {
        m_silence.Stop();
    }
}

void XorParity::FellSilent()
{
    if (m_block->KeepsParity())
    {
        m_statistics.lost += m_block->End();
        m_block->ForgetParity();
    }
    m_former.reset();
}

ParityBlock& XorParity::BlockAt(std::uint32_t number)
{
    const auto silence = m_port.Time().Now() - m_latest;
    m_latest += silence;
    // Nothing overtakes for so long; and of two numbers the former block's is the next one's, too.
    const bool mayBeLate = silence <= RoundTrip() && m_blocks > 2;
    if (!mayBeLate)
    {
        m_former.reset();
    }
    if (!m_block)
    {
        m_block = NewBlock(number);
    }
    const auto passed = (number + m_blocks - m_block->Number()) % m_blocks;
    if (passed == 0)
    {
        return *m_block;
    }
    if (mayBeLate && passed == m_blocks - 1)
    {
        if (!m_former)
        {
            m_former = NewBlock(number);
            m_former->End(); // what was lost of it is counted
        }
        return *m_former;
    }
    m_statistics.lost += m_block->End() + std::uint64_t{passed - 1} * m_size;
    m_former.reset();
    if (passed == 1)
    {
        m_former = std::move(m_block);
    }
    m_block = NewBlock(number);
    return *m_block;
}

} // namespace netboxit::multiservice
