// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "headers.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace netboxit
{

/// A frame that came in by a socket.
struct Arrival
{
    std::span<std::uint8_t> room; ///< where to receive it
    Bytes frame;                  ///< as much of it as had room
    std::size_t length{};         ///< of the whole frame
    std::int64_t stamp{};         ///< when it arrived, ns since 1970; 0: not known
    bool checksumMissing{};       ///< left to an offload by the sending kernel
};

/// A frame that shall go out by a socket.
struct Outgoing
{
    Bytes frame;
    bool taken{}; ///< the kernel took it
};

/// What the kernel dropped instead of letting it be received.
struct KernelDrops
{
    std::uint64_t overload{}; ///< nobody received it in time
    std::uint64_t oversize{}; ///< longer than what the memory is laid out for
};

/// Whole Ethernet frames from and to one network interface, VLAN tag included, whoever they are for, and none
/// of those that go out there. Whether the kernel was given up for it in the data path or not: nothing here
/// knows of ns-3.
class FrameSocket
{
  public:
    /// Frames that one call moves at most.
    static constexpr std::size_t BATCH = 64;

    virtual ~FrameSocket() = default;

    /// Becomes readable when a frame comes.
    virtual int Descriptor() const = 0;
    /// Seen without asking the kernel.
    virtual bool HasFrames() const = 0;
    /// Receives into the rooms of `batch`, and returns how many; never waits.
    virtual std::size_t Receive(std::span<Arrival> batch) = 0;
    /// Sends, and says of each frame whether the kernel took it; never waits.
    virtual void Send(std::span<Outgoing> frames) = 0;
    /// Since the last call.
    virtual KernelDrops TakeDrops() = 0;
    /// Frames that wait to be received at most before the kernel drops.
    virtual std::size_t Capacity() const = 0;
};

/// Frames can be lost by these, and nothing is wrong with the program: no room, the interface is down, gone, or
/// has a smaller MTU.
bool IsLossOfFrame(int error);

} // namespace netboxit
