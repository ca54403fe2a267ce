// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "packet_pool.h"

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <optional>
#include <utility>

namespace netboxit::multiservice
{

/// What a receiver has of a block of packets with one parity packet behind them: one XOR, whatever the size of the block
/// (section 5.2.1).
class ParityBlock
{
  public:
    /// Packets of the largest block.
    static constexpr std::uint32_t MOST = 255;

    /// `size`: packets of the block, where that is known before its parity comes.
    explicit ParityBlock(std::uint32_t number = 0, std::uint32_t size = 0) : m_number(number), m_size(size)
    {
    }

    std::uint32_t Number() const
    {
        return m_number;
    }

    /// A packet that came at `now` (ns). False: it was here before.
    bool TakeData(std::uint32_t position, const Packet& packet, std::int64_t now)
    {
        if (m_has.test(position))
        {
            return false;
        }
        See(position, now);
        Mark(position);
        m_sum ^= packet.Sum();
        ForgetParityOfWhole();
        return true;
    }

    /// The parity packet, which stands behind so many packets. False: it was here before.
    bool TakeParity(std::uint32_t packets, const Packet& parity, std::int64_t now)
    {
        if (m_hadParity)
        {
            return false;
        }
        See(packets, now);
        m_hadParity = true;
        m_parity = parity;
        m_size = packets;
        ForgetParityOfWhole();
        return true;
    }

    /// Whether parity is here that may still yield a packet. It refers to all packets of the block.
    bool KeepsParity() const
    {
        return static_cast<bool>(m_parity);
    }

    void ForgetParity()
    {
        m_parity = {};
    }

    /// No more of it is awaited. Returns how many packets are lost with that; what comes nevertheless is a packet found.
    std::uint32_t End()
    {
        return std::exchange(m_hasEnded, true) ? 0 : Missing();
    }

    bool HasEnded() const
    {
        return m_hasEnded;
    }

    /// When a later one came than the first one that is missing, ns.
    std::int64_t GapSeen() const
    {
        return m_gapSeen;
    }

    /// The packet that is missing, where it is the only one and parity is here.
    std::optional<Packet> Repair()
    {
        if (!m_parity || m_count + 1 != m_size)
        {
            return std::nullopt;
        }
        auto packet = m_parity.Recover(m_sum);
        std::uint32_t position = 0;
        while (m_has.test(position))
        {
            ++position;
        }
        Mark(position);
        m_sum ^= packet.Sum();
        ForgetParityOfWhole();
        return packet;
    }

  private:
    /// Packets that are known to have been sent and are not here.
    std::uint32_t Missing() const
    {
        return std::max(m_size, m_end) - m_count;
    }

    void ForgetParityOfWhole()
    {
        if (m_count == m_size)
        {
            ForgetParity();
        }
    }

    /// Something at this position came.
    void See(std::uint32_t position, std::int64_t now)
    {
        if (position > m_end && m_count == m_end)
        {
            m_gapSeen = now;
        }
    }

    void Mark(std::uint32_t position)
    {
        m_has.set(position);
        ++m_count;
        m_end = std::max(m_end, position + 1);
    }

    std::uint32_t m_number;
    std::bitset<MOST> m_has;
    std::uint32_t m_count{0};
    std::uint32_t m_end{0};  ///< one more than the last position that is here
    std::uint32_t m_size; ///< 0: not known yet
    std::uint32_t m_sum{0};
    std::int64_t m_gapSeen{0};
    Packet m_parity{};
    bool m_hadParity{};
    bool m_hasEnded{};
};

} // namespace netboxit::multiservice
