// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory_ring.h"

#include "descriptor.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

namespace netboxit
{

namespace
{

static_assert(std::endian::native == std::endian::little, "records lie in memory as the machine writes them");

constexpr char MAGIC[]{'N', 'B', 'X', 'R', 'I', 'N', 'G', '1'};
/// Some jumbo frames must have room.
constexpr std::uint64_t SMALLEST = 64 << 10;
constexpr std::uint64_t ORDINARY = 4 << 20;
constexpr std::uint64_t LARGEST = std::uint64_t{1} << 32;

/// Before each frame. Its size is also what records are padded to, so that it fits wherever a record ends.
struct RecordHeader
{
    std::uint64_t length; ///< in 32 bits, and 32 bits of zero
    std::int64_t stamp;
};

constexpr std::uint64_t ALIGNMENT = sizeof(RecordHeader);
static_assert(ALIGNMENT == 16);
/// In place of a length: go on at the start of the data.
constexpr std::uint64_t SKIP = 0xffff'ffff;

constexpr std::uint64_t RecordSize(std::uint64_t length)
{
    return sizeof(RecordHeader) + (length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/// Read once: the other side may change it at any time.
std::uint64_t ReadLength(std::uint8_t* record)
{
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(record)).load(std::memory_order_relaxed);
}

} // namespace

RingMemory::RingMemory(const std::string& subject, const std::string& path)
{
    const auto tried = subject + ": cannot open the ring " + path;
    const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC), tried);
    struct stat found
    {
    };
    Checked(::fstat(file.Get(), &found), tried);
    RingHeader header{};
    const auto size = static_cast<std::uint64_t>(found.st_size);
    Checked(static_cast<int>(::pread(file.Get(), &header, sizeof header, 0)), tried);
    m_capacity = header.capacity;
    if (std::memcmp(header.magic, MAGIC, sizeof MAGIC) != 0 || !std::has_single_bit(m_capacity) ||
        m_capacity < SMALLEST || m_capacity > LARGEST || size != HEADER + m_capacity)
    {
        throw std::runtime_error(tried + ": it is no ring of this version; take the lab down and up again");
    }
    // All pages at once: none is to be looked for while frames pass.
    auto* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file.Get(), 0);
    Checked(memory == MAP_FAILED ? -1 : 0, tried);
    m_memory = static_cast<std::uint8_t*>(memory);
}

void RingMemory::Format(int file, const std::string& tried)
{
    RingHeader header{};
    std::memcpy(header.magic, MAGIC, sizeof MAGIC);
    header.capacity = ORDINARY;
    Checked(::ftruncate(file, static_cast<off_t>(HEADER + ORDINARY)), tried);
    WriteWhole(file, &header, sizeof header, 0, tried);
}

RingMemory::~RingMemory()
{
    ::munmap(m_memory, HEADER + m_capacity);
}

RingWriter::RingWriter(const std::string& subject, const std::string& path)
    : m_ring(subject, path), m_head(m_ring.Header().head.load() / ALIGNMENT * ALIGNMENT), m_published(m_head),
      m_tail(m_ring.Header().tail.load())
{
}

/// Also when the consumer's tail is one that cannot be: none, until it says better.
std::uint64_t RingWriter::Room() const
{
    const auto used = m_head - m_tail;
    return used > m_ring.Capacity() ? 0 : m_ring.Capacity() - used;
}

bool RingWriter::Put(Bytes frame, std::int64_t stamp)
{
    auto& header = m_ring.Header();
    const auto size = RecordSize(frame.size());
    auto place = m_head & (m_ring.Capacity() - 1);
    const auto left = m_ring.Capacity() - place;
    const auto skipped = left < size ? left : 0;
    if (Room() < skipped + size)
    {
        m_tail = header.tail.load(std::memory_order_acquire);
        if (Room() < skipped + size)
        {
            header.drops.store(header.drops.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
            return false;
        }
    }
    if (skipped != 0)
    {
        const RecordHeader skip{SKIP, 0};
        std::memcpy(m_ring.Data() + place, &skip, sizeof skip);
        place = 0;
    }
    const RecordHeader record{frame.size(), stamp};
    std::memcpy(m_ring.Data() + place, &record, sizeof record);
    std::memcpy(m_ring.Data() + place + sizeof record, frame.data(), frame.size());
    m_head += skipped + size;
    return true;
}

bool RingWriter::Publish()
{
    if (m_head == m_published)
    {
        return false;
    }
    auto& header = m_ring.Header();
    header.head.store(m_head, std::memory_order_release);
    m_published = m_head;
    // Against the fence in Sleep(): either the consumer sees this head, or it is seen sleeping here.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return header.sleeping.load(std::memory_order_relaxed) != 0 && header.sleeping.exchange(0) != 0;
}

RingReader::RingReader(const std::string& subject, const std::string& path)
    : m_ring(subject, path), m_next(m_ring.Header().head.load()), m_head(m_next),
      m_drops(m_ring.Header().drops.load())
{
    m_ring.Header().sleeping.store(0);
    Release();
}

std::optional<RingReader::Record> RingReader::Next()
{
    while (m_next != m_head || FindProduced())
    {
        const auto place = m_next & (m_ring.Capacity() - 1);
        const auto length = ReadLength(m_ring.Data() + place);
        const auto untilEnd = m_ring.Capacity() - place;
        const auto produced = m_head - m_next;
        if (length == SKIP && place != 0 && untilEnd <= produced)
        {
            m_next += untilEnd;
            continue;
        }
        if (length >= SKIP || RecordSize(length) > std::min(untilEnd, produced))
        {
            Reset();
            return std::nullopt;
        }
        RecordHeader record;
        std::memcpy(&record, m_ring.Data() + place, sizeof record);
        m_next += RecordSize(length);
        return Record{{m_ring.Data() + place + sizeof record, length}, record.stamp};
    }
    return std::nullopt;
}

/// Looks where the producer is. False when there is nothing to read, or what it says cannot be.
bool RingReader::FindProduced()
{
    m_head = m_ring.Header().head.load(std::memory_order_acquire);
    if (m_head - m_next > m_ring.Capacity() || (m_head | m_next) % ALIGNMENT != 0)
    {
        Reset();
    }
    return m_head != m_next;
}

void RingReader::Reset()
{
    m_head = m_ring.Header().head.load(std::memory_order_acquire);
    m_next = m_head;
    ++m_resets;
}

void RingReader::Release()
{
    m_ring.Header().tail.store(m_next, std::memory_order_release);
}

bool RingReader::Sleep()
{
    // Told again, in case that somebody spoilt it: a producer that believes the ring full never wakes
    // anybody.
    Release();
    auto& header = m_ring.Header();
    header.sleeping.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!HasFrames())
    {
        return true;
    }
    header.sleeping.store(0, std::memory_order_relaxed);
    return false;
}

bool RingReader::Wake()
{
    return m_ring.Header().sleeping.exchange(0) == 0;
}

std::uint64_t RingReader::TakeDrops()
{
    const auto before = m_drops;
    m_drops = m_ring.Header().drops.load(std::memory_order_relaxed);
    return m_drops - before;
}

} // namespace netboxit
