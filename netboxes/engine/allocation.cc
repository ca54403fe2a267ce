// SPDX-License-Identifier: GPL-2.0-or-later
// The program's operator new and delete. ns-3 takes and gives back some four hundred small blocks for each frame that crosses
// a Wi-Fi cell; glibc's malloc and free were a fifth of the instructions.

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <sys/mman.h>

namespace
{

/// Blocks of up to LARGEST bytes come from here, one class of them for each GRAIN; larger ones from malloc.
constexpr std::size_t GRAIN = 16; // __STDCPP_DEFAULT_NEW_ALIGNMENT__
constexpr std::size_t LARGEST = 1024;
/// A class grows by chunks, from a region of addresses by which delete knows a block's class. Memory is taken for chunks only,
/// and kept.
constexpr std::size_t CHUNK = 64 << 10;
constexpr std::size_t REGION = std::size_t{4} << 30;

struct FreeBlock
{
    FreeBlock* next;
};

/// A stack: what was given back last is given out first, warm in the cache. A block may be given back by another thread.
thread_local constinit std::array<FreeBlock*, LARGEST / GRAIN> freeBlocks{};
constinit std::array<std::uint8_t, REGION / CHUNK> classOfChunk{};
/// Its start; before there is one, a value from which no address is near.
constexpr auto NOWHERE = std::uintptr_t{0} - REGION;
constinit std::atomic<std::uintptr_t> region{NOWHERE};
constinit std::atomic<std::size_t> chunksTaken{0};

std::uintptr_t Region()
{
    static const auto reserved = []
    {
        void* const found = mmap(nullptr, REGION, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        region = found == MAP_FAILED ? NOWHERE : reinterpret_cast<std::uintptr_t>(found);
        return region.load();
    }();
    return reserved;
}

/// A block of a class that has none left, after a new chunk was cut into blocks; from malloc when there is no chunk either.
void* Refill(std::size_t index)
{
    const auto size = (index + 1) * GRAIN;
    const auto start = Region();
    const auto chunk = start == NOWHERE ? classOfChunk.size() : chunksTaken.fetch_add(1);
    auto* const first = reinterpret_cast<char*>(start) + chunk * CHUNK;
    if (chunk >= classOfChunk.size() || mprotect(first, CHUNK, PROT_READ | PROT_WRITE) != 0)
    {
        return std::malloc(size);
    }
    classOfChunk[chunk] = static_cast<std::uint8_t>(index);
    auto* next = freeBlocks[index];
    for (auto offset = (CHUNK / size - 1) * size; offset > 0; offset -= size)
    {
        next = new (first + offset) FreeBlock{next};
    }
    freeBlocks[index] = next;
    return first;
}

} // namespace

void* operator new(std::size_t size)
{
    const auto index = (size - (size != 0)) / GRAIN;
    void* block;
    if (index >= freeBlocks.size())
    {
        block = std::malloc(size);
    }
    else if (auto* const first = freeBlocks[index])
    {
        freeBlocks[index] = first->next;
        return first;
    }
    else
    {
        block = Refill(index);
    }
    if (block == nullptr)
    {
        throw std::bad_alloc();
    }
    return block;
}

void operator delete(void* block) noexcept
{
    const auto offset = reinterpret_cast<std::uintptr_t>(block) - region.load(std::memory_order_relaxed);
    if (offset >= REGION)
    {
        std::free(block);
        return;
    }
    const auto index = classOfChunk[offset / CHUNK];
    freeBlocks[index] = new (block) FreeBlock{freeBlocks[index]};
}

void operator delete(void* block, std::size_t) noexcept
{
    ::operator delete(block);
}
