// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "headers.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace netboxit
{

/// The header of a ring, as it lies in the file (docs/architecture.md, "Memory wire"). What one side writes
/// is on cache lines of its own (two, because processors fetch lines in pairs).
struct RingHeader
{
    char magic[8];
    std::uint64_t capacity;
    alignas(128) std::atomic<std::uint64_t> head; ///< bytes ever produced
    std::atomic<std::uint64_t> drops;             ///< frames that found no room
    alignas(128) std::atomic<std::uint64_t> tail; ///< bytes ever consumed
    alignas(128) std::atomic<std::uint32_t> sleeping;
};

static_assert(offsetof(RingHeader, head) == 128 && offsetof(RingHeader, drops) == 136);
static_assert(offsetof(RingHeader, tail) == 256 && offsetof(RingHeader, sleeping) == 384);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// A ring's file, mapped for as long as it lives.
class RingMemory
{
  public:
    static constexpr std::size_t HEADER = 4096;

    /// `subject` begins the messages of errors. Throws std::system_error, or std::runtime_error when the file
    /// is no ring.
    RingMemory(const std::string& subject, const std::string& path);
    /// Makes an empty file a ring of 4 MiB.
    static void Format(int file, const std::string& tried);
    RingMemory(const RingMemory&) = delete;
    RingMemory& operator=(const RingMemory&) = delete;
    ~RingMemory();

    RingHeader& Header() const
    {
        return *reinterpret_cast<RingHeader*>(m_memory);
    }

    std::uint8_t* Data() const
    {
        return m_memory + HEADER;
    }

    /// As it was when the file was opened: what the other side may write there later counts for nothing.
    std::uint64_t Capacity() const
    {
        return m_capacity;
    }

  private:
    std::uint8_t* m_memory{};
    std::uint64_t m_capacity{};
};

/// The producing side of a ring. It is the only one to write head, and goes on there after a restart.
class RingWriter
{
  public:
    RingWriter(const std::string& subject, const std::string& path);

    /// Copies a frame into the ring, for the next Publish(). False when there is no room: dropped and
    /// counted.
    bool Put(Bytes frame, std::int64_t stamp);
    /// Lets the consumer see what was put. True when it sleeps: then it must be woken, by this caller.
    bool Publish();

    std::uint64_t Capacity() const
    {
        return m_ring.Capacity();
    }

  private:
    std::uint64_t Room() const;

    RingMemory m_ring;
    std::uint64_t m_head{};      ///< of what was put
    std::uint64_t m_published{}; ///< of what the consumer may see
    std::uint64_t m_tail{};      ///< as last seen
};

/// The consuming side of a ring. Nothing that it finds there makes it read outside of the ring.
class RingReader
{
  public:
    /// A frame, where it lies in the ring.
    struct Record
    {
        Bytes frame;
        std::int64_t stamp{}; ///< when it was handed over, ns since 1970
    };

    /// Discards what was produced before.
    RingReader(const std::string& subject, const std::string& path);

    bool HasFrames() const
    {
        return m_next != m_head || m_ring.Header().head.load(std::memory_order_acquire) != m_next;
    }

    /// The next frame, which stays where it is until Release(). A record that cannot be makes the ring start
    /// anew with what is produced from now on.
    std::optional<Record> Next();
    /// Gives the producer the room of all frames that Next() has returned.
    void Release();

    /// Says that this side waits. False when there are frames: then it must not.
    bool Sleep();
    /// Says that it waits no more. True when the producer had seen it waiting.
    bool Wake();

    /// Frames that found no room since the last call.
    std::uint64_t TakeDrops();

    /// How often the ring held what cannot be.
    std::uint64_t Resets() const
    {
        return m_resets;
    }

  private:
    bool FindProduced();
    void Reset();

    RingMemory m_ring;
    std::uint64_t m_next{};
    std::uint64_t m_head{}; ///< as last seen
    std::uint64_t m_drops{};
    std::uint64_t m_resets{};
};

} // namespace netboxit
