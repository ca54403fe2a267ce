// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "headers.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace netboxit::click
{

/// An interface does not exist or is no more.
struct NoInterface : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/// What passed one interface. The names are those of a netbox's ports.
struct DeviceStatistics
{
    std::uint64_t received{};
    std::uint64_t sent{};
    std::uint64_t overloadDrops{}; ///< there was no room for it before the router took it
    std::uint64_t oversizeDrops{}; ///< longer than MAXIMUM_FRAME
    std::uint64_t malformed{};     ///< shorter than an Ethernet header
    std::uint64_t sendDrops{};     ///< the other end would not take it
    std::uint64_t policed{};       ///< stages dropped it, on its way in or out
};

/// What FromDevice and ToDevice of one name stand for. Counts what passes.
class Device
{
  public:
    /// What Click's FromSimDevice takes at most.
    static constexpr std::size_t MAXIMUM_FRAME = 8192;

    virtual ~Device() = default;

    /// What to wait on for frames; negative while there is nothing.
    virtual int Descriptor() const = 0;
    /// The router is about to wait on Descriptor(). False when it must not: frames are here already.
    virtual bool BeginWait()
    {
        return true;
    }
    /// The waiting is over; `readable`: so was the descriptor.
    virtual void EndWait(bool readable)
    {
    }

    /// Reads one batch and returns its frames, valid until the next call. Throws NoInterface when the
    /// interface was removed.
    virtual std::span<const Bytes> Receive() = 0;
    /// Takes a frame, to be sent by the next Flush() at the latest.
    virtual void Send(Bytes frame) = 0;
    virtual void Flush() = 0;
    virtual DeviceStatistics Read() = 0;

    /// Lets go of the interface, so that another one can have its name: nothing comes in, and what is sent is
    /// lost and counted. False where that cannot be.
    virtual bool Close()
    {
        return false;
    }
    /// Goes on with the interface that has the name now; one that is open is opened anew. Throws NoInterface,
    /// std::system_error.
    virtual void Open()
    {
    }

  protected:
    /// Whether Click can take a frame of this many bytes; counts it.
    bool Accept(std::size_t bytes)
    {
        ++m_statistics.received;
        if (bytes < ETHERNET_HEADER)
        {
            ++m_statistics.malformed;
            return false;
        }
        if (bytes > MAXIMUM_FRAME)
        {
            ++m_statistics.oversizeDrops;
            return false;
        }
        return true;
    }

    DeviceStatistics m_statistics;
};

} // namespace netboxit::click
