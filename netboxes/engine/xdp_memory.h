// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "network_interface.h"

#include <memory>
#include <vector>
#include <xdp/xsk.h>

namespace netboxit
{

/// The memory that an AF_XDP socket shares with the kernel (UMEM), cut into chunks of one frame each: some are
/// offered to the kernel for frames to be received into, the others are for sending.
class XdpMemory
{
  public:
    /// Frames that wait to be received: what arrives in 20 ms at 200 000 frames/s.
    static constexpr std::uint32_t RECEIVE_CHUNKS = 4096;
    /// Frames on their way to a far end that has not taken them yet.
    static constexpr std::uint32_t SEND_CHUNKS = 1024;

    /// For frames of the interface's MTU. Throws std::runtime_error, with cause and remedy.
    explicit XdpMemory(const NetworkInterface& interface);

    xsk_umem* Registered() const
    {
        return m_registered.get();
    }

    // The rings that belong to the memory, for the socket that is bound first.

    xsk_ring_prod* Fill()
    {
        return &m_fill;
    }

    xsk_ring_cons* Completed()
    {
        return &m_completed;
    }

    std::uint8_t* At(std::uint64_t address) const
    {
        return m_pages.start + address;
    }

    /// Offers all chunks for receiving to the kernel, once.
    void OfferAll();

    /// Gives back to the kernel the chunks of so many received frames: each by GiveBack(), at the place that
    /// BeginGivingBack() returned and those after it.
    std::uint32_t BeginGivingBack(std::uint32_t count)
    {
        std::uint32_t place = 0;
        // Always possible: every chunk has its place in the ring.
        xsk_ring_prod__reserve(&m_fill, count, &place);
        return place;
    }

    void GiveBack(std::uint32_t place, std::uint64_t address)
    {
        *xsk_ring_prod__fill_addr(&m_fill, place) = address / m_chunk * m_chunk;
    }

    void EndGivingBack(std::uint32_t count)
    {
        xsk_ring_prod__submit(&m_fill, count);
    }

    /// Chunks to send frames from: those that are free, taken, and not needed after all. The kernel's are free
    /// again after TakeBackSent().
    std::size_t Free() const
    {
        return m_free.size();
    }

    std::uint64_t Take()
    {
        const auto chunk = m_free.back();
        m_free.pop_back();
        return chunk;
    }

    void Return(std::uint64_t chunk)
    {
        m_free.push_back(chunk);
    }

    void TakeBackSent();

  private:
    /// Anonymous memory.
    struct Pages
    {
        explicit Pages(std::size_t bytes, const std::string& tried);
        Pages(const Pages&) = delete;
        Pages& operator=(const Pages&) = delete;
        ~Pages();

        std::uint8_t* start;
        std::size_t size;
    };

    struct Closer
    {
        void operator()(xsk_umem* memory) const
        {
            xsk_umem__delete(memory);
        }
    };

    std::size_t m_chunk;
    Pages m_pages;
    // The rings are libxdp's, which expects them to be zero at first.
    xsk_ring_prod m_fill{};
    xsk_ring_cons m_completed{};
    std::unique_ptr<xsk_umem, Closer> m_registered;
    std::vector<std::uint64_t> m_free; ///< to send, the one used last at the end
};

} // namespace netboxit
