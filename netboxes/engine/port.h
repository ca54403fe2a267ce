// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "headers.h"
#include "slots.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <stdexcept>
#include <string>

namespace netboxit
{

/// A frame that a port has received into a slot: `slot->bytes` is set.
struct Reception
{
    Slot* slot{};
    std::int64_t stamp{}; ///< when it arrived, ns since 1970

    /// Copies a frame from the port's own memory, which arrived then.
    void Put(Bytes frame, std::int64_t when)
    {
        std::memcpy(slot->room.data(), frame.data(), frame.size());
        slot->bytes = slot->room.first(frame.size());
        stamp = when;
    }
};

/// A copy of a frame that a port shall hand over.
struct Departure
{
    Slot* slot{};
    std::int64_t due{}; ///< simulated time of its arrival at this station, ns
    bool taken{};       ///< the port has handed it over
};

/// What a port has counted.
struct PortCounters
{
    std::uint64_t received{};
    std::uint64_t sent{};
    std::uint64_t
        overloadDrops{}; ///< the netbox was behind the clock, or the kernel's or its own memory was full
    std::uint64_t oversizeDrops{};    ///< longer than MTU and Ethernet header with one VLAN tag
    std::uint64_t malformed{};        ///< shorter than an Ethernet header
    std::uint64_t sendDrops{};        ///< the other end would not take it
    std::uint64_t checksumsMissing{}; ///< left to an offload that an emulated wire does not have: the
                                      ///< receiver will drop it
    std::uint64_t receivedBytes{};    ///< of frames that entered the netbox
    std::uint64_t sentBytes{};
    std::int64_t delayNs{}; ///< sum of the times that the sent frames were inside
};

/// Where a station's frames enter and leave the netbox. Implementations move frames in batches and never
/// block.
///
/// The slots are given for the frames to be received into, so an implementation whose frames lie in memory of
/// its own (a shared ring) copies once, as the kernel does for a packet socket.
class Port
{
  public:
    virtual ~Port() = default;

    /// The station's.
    const std::string& Name() const
    {
        return m_name;
    }

    /// Largest layer-3 packet in bytes.
    std::uint32_t Mtu() const
    {
        return m_mtu;
    }

    /// What to wait on for a frame; -1 when there is nothing to wait for (virtual time).
    virtual int Descriptor() const = 0;
    /// True when a frame waits, as far as that can be seen without asking the kernel (rings in shared memory).
    virtual bool HasFrames() const
    {
        return false;
    }
    /// The loop is about to wait on Descriptor(). True when it may: from now on the other end makes the
    /// descriptor readable for its next frame. False when a frame is here already.
    virtual bool BeginWait()
    {
        return true;
    }
    /// The waiting is over, whatever ended it.
    virtual void EndWait()
    {
    }
    /// Receives frames into the slots of `batch`, at most as many, and returns how many. Frames that are
    /// counted as malformed or oversize are left out.
    virtual std::size_t Receive(std::span<Reception> batch) = 0;
    /// Hands over frames, and says of each whether it was taken: the others are dropped and counted.
    /// `stamp` is their time in ns since 1970, where the port itself must say it.
    virtual void Send(std::span<Departure> departures, std::int64_t stamp) = 0;
    /// Brings counters up to date that others keep (the kernel's drops), and files that others read.
    virtual void Refresh() = 0;
    /// Goes on with the interface that has its interface's name by now, after that was replaced. To be called
    /// until it returns true, which it does when it is done. Throws std::runtime_error where that cannot be; then
    /// nothing has changed.
    virtual bool Reopen()
    {
        throw std::runtime_error("it has no interface that could be replaced");
    }

    /// What kind of port it is and what it was given, for `status`.
    virtual nlohmann::json Describe() const = 0;

    PortCounters counters;

  protected:
    Port(std::string name, std::uint32_t mtu) : m_name(std::move(name)), m_mtu(mtu)
    {
    }

    /// Whether a frame of this many bytes (without FCS) may enter; counts it.
    bool Accept(std::size_t bytes)
    {
        ++counters.received;
        if (bytes < ETHERNET_HEADER)
        {
            ++counters.malformed;
            return false;
        }
        if (bytes > Mtu() + ETHERNET_HEADER + VLAN_TAG)
        {
            ++counters.oversizeDrops;
            return false;
        }
        return true;
    }

  private:
    std::string m_name;
    std::uint32_t m_mtu;
};

} // namespace netboxit
