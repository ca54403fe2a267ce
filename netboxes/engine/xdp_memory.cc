// SPDX-License-Identifier: GPL-2.0-or-later
#include "xdp_memory.h"

#include "headers.h"

#include <sys/mman.h>

#include <stdexcept>
#include <system_error>

namespace netboxit
{

namespace
{

/// What the kernel keeps free in front of each frame, where the stamp is too.
constexpr std::size_t HEADROOM = 256;
constexpr std::size_t SMALL_CHUNK = 2048;
constexpr std::size_t LARGE_CHUNK = 4096;

std::size_t ChunkFor(const NetworkInterface& interface)
{
    const auto frame = HEADROOM + interface.Mtu() + ETHERNET_HEADER + VLAN_TAG;
    if (frame > LARGE_CHUNK)
    {
        throw std::runtime_error(interface.Place() + ": an MTU of " + std::to_string(interface.Mtu()) +
                                 " is too large for AF_XDP: at most " +
                                 std::to_string(LARGE_CHUNK - HEADROOM - ETHERNET_HEADER - VLAN_TAG));
    }
    return frame <= SMALL_CHUNK ? SMALL_CHUNK : LARGE_CHUNK;
}

} // namespace

XdpMemory::Pages::Pages(std::size_t bytes, const std::string& tried) : size(bytes)
{
    auto* memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    Checked(memory == MAP_FAILED ? -1 : 0, tried);
    start = static_cast<std::uint8_t*>(memory);
}

XdpMemory::Pages::~Pages()
{
    ::munmap(start, size);
}

XdpMemory::XdpMemory(const NetworkInterface& interface)
    : m_chunk(ChunkFor(interface)),
      m_pages((RECEIVE_CHUNKS + SEND_CHUNKS) * m_chunk, interface.Place() + ": no memory for AF_XDP's frames")
{
    xsk_umem_config configuration{};
    configuration.fill_size = RECEIVE_CHUNKS;
    configuration.comp_size = SEND_CHUNKS;
    configuration.frame_size = static_cast<std::uint32_t>(m_chunk);
    xsk_umem* memory = nullptr;
    const int error =
        xsk_umem__create(&memory, m_pages.start, m_pages.size, &m_fill, &m_completed, &configuration);
    if (error != 0)
    {
        throw std::system_error(-error,
                                std::generic_category(),
                                interface.Place() + ": cannot open an AF_XDP socket and lock " +
                                    std::to_string(m_pages.size >> 20) +
                                    " MiB for it (it takes CAP_NET_RAW, and CAP_IPC_LOCK or `ulimit -l`)");
    }
    m_registered.reset(memory);
    for (auto chunk = RECEIVE_CHUNKS; chunk < RECEIVE_CHUNKS + SEND_CHUNKS; ++chunk)
    {
        m_free.push_back(chunk * m_chunk);
    }
}

void XdpMemory::OfferAll()
{
    const auto place = BeginGivingBack(RECEIVE_CHUNKS);
    for (std::uint32_t chunk = 0; chunk < RECEIVE_CHUNKS; ++chunk)
    {
        GiveBack(place + chunk, chunk * m_chunk);
    }
    EndGivingBack(RECEIVE_CHUNKS);
}

void XdpMemory::TakeBackSent()
{
    std::uint32_t from = 0;
    const auto completed = xsk_ring_cons__peek(&m_completed, SEND_CHUNKS, &from);
    for (std::uint32_t i = 0; i < completed; ++i)
    {
        m_free.push_back(*xsk_ring_cons__comp_addr(&m_completed, from + i));
    }
    xsk_ring_cons__release(&m_completed, completed);
}

} // namespace netboxit
