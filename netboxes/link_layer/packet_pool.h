// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace netboxit::multiservice
{

/// Why a packet did not reach the upper layer at the other end.
enum class Drop : std::uint8_t
{
    Ended,       ///< nobody needs it any more: the link ended, or a ring was full of later ones
    WindowFull,  ///< came while the window of its ARQ was full (section 4.2.1)
    QueueFull,   ///< came while the queue of its service was full
    OnAir,       ///< lost on the air, by a service that does not repeat it
    GivenUp,     ///< repeated as often as its service does
    Suppressed,  ///< a duplicate TCP acknowledgement that Snoop covers
};

inline constexpr std::array<std::string_view, 6> DROP_NAMES{
    "ended", "window_full", "queue_full", "on_air", "given_up", "suppressed"};

class PacketPool;

/// A packet of the upper layer, as a counted reference: copies are the same packet. The link layer does not look into it. It is
/// settled when the last reference is gone. Null references are permitted.
class Packet
{
  public:
    Packet() = default;
    Packet(const Packet& other);
    Packet(Packet&& other) noexcept;
    Packet& operator=(Packet other) noexcept;
    ~Packet();

    explicit operator bool() const
    {
        return m_pool != nullptr;
    }

    bool operator==(const Packet&) const = default;

    /// The number by which the owner of the pool knows it.
    std::uint64_t Item() const;
    /// Accounted bytes, without the header of the link layer. Of a parity packet: of the longest packet that it covers.
    std::uint32_t Bytes() const;
    /// Whether the upper layer at the other end has it.
    bool IsDelivered() const;
    void MarkDelivered() const;
    /// The reason that the pool's owner is told if it is settled without having been delivered.
    void Blame(Drop reason) const;

    /// A parity packet of the same pool, which covers nothing yet.
    Packet MakeParity() const;
    /// Of a parity packet: covers one packet more. Keeps it until the parity packet is gone.
    void Cover(const Packet& packet) const;
    /// What its bytes add to an XOR: of a packet its own number in the pool, of a parity packet the XOR of those that it
    /// covers. An XOR of numbers stands for the XOR of the packets' bytes: both give the one packet that is missing, and
    /// nothing where several are.
    std::uint32_t Sum() const;
    /// The packet that a parity packet and the sum of all other packets that it covers yield.
    Packet Recover(std::uint32_t sumOfOthers) const;

  private:
    friend class PacketPool;

    Packet(PacketPool& pool, std::uint32_t number) : m_pool(&pool), m_number(number)
    {
    }

    PacketPool* m_pool{};
    std::uint32_t m_number{};
};

/// The packets that are in a link layer, of one end or of both. Memory grows as it is needed and is kept: a warm pool allocates
/// nothing. Outlives all its packets. One thread.
class PacketPool
{
  public:
    /// Is told of each packet but parity packets once, when nothing refers to it any more. `reason` means something where it
    /// was not delivered.
    using Settle = std::function<void(std::uint64_t item, bool isDelivered, Drop reason)>;

    explicit PacketPool(Settle settle);
    PacketPool(const PacketPool&) = delete;
    PacketPool& operator=(const PacketPool&) = delete;

    Packet Take(std::uint64_t item, std::uint32_t bytes);

    /// Packets that something refers to, parity packets included.
    std::size_t Packets() const
    {
        return m_entries.size() - m_unused.size();
    }

  private:
    friend class Packet;

    struct Entry
    {
        std::uint64_t item{};
        std::uint32_t bytes{};
        std::uint32_t references{};
        std::uint32_t sum{};
        Drop reason{};
        bool isDelivered{};
        bool isParity{};
        std::vector<Packet> covered{};
    };

    Packet TakeParity();
    std::uint32_t TakeEntry();
    void Release(std::uint32_t number);

    Settle m_settle;
    std::vector<Entry> m_entries;
    std::vector<std::uint32_t> m_unused;
};

inline Packet::Packet(const Packet& other) : m_pool(other.m_pool), m_number(other.m_number)
{
    if (m_pool != nullptr)
    {
        ++m_pool->m_entries[m_number].references;
    }
}

inline Packet::Packet(Packet&& other) noexcept : m_pool(other.m_pool), m_number(other.m_number)
{
    other.m_pool = nullptr;
    other.m_number = 0;
}

inline Packet& Packet::operator=(Packet other) noexcept
{
    std::swap(m_pool, other.m_pool);
    std::swap(m_number, other.m_number);
    return *this;
}

inline Packet::~Packet()
{
    if (m_pool != nullptr && --m_pool->m_entries[m_number].references == 0)
    {
        m_pool->Release(m_number);
    }
}

inline std::uint64_t Packet::Item() const
{
    return m_pool->m_entries[m_number].item;
}

inline std::uint32_t Packet::Bytes() const
{
    return m_pool->m_entries[m_number].bytes;
}

inline bool Packet::IsDelivered() const
{
    return m_pool->m_entries[m_number].isDelivered;
}

inline void Packet::MarkDelivered() const
{
    m_pool->m_entries[m_number].isDelivered = true;
}

inline void Packet::Blame(Drop reason) const
{
    m_pool->m_entries[m_number].reason = reason;
}

inline std::uint32_t Packet::Sum() const
{
    return m_pool->m_entries[m_number].sum;
}

} // namespace netboxit::multiservice
