// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "headers.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace netboxit
{

/// What is at an end of a wire in virtual time.
class WireEndpoint
{
  public:
    virtual ~WireEndpoint() = default;
    /// A frame has left at the other end (ns since 1970). Copies it, to have it wait for Enter().
    virtual void Arrive(Bytes frame, std::int64_t stamp) = 0;
    /// The frame that has waited longest enters.
    virtual void Enter() = 0;
    /// Whatever leaves here comes to `other` from now on.
    virtual void Join(WireEndpoint& other) = 0;
    /// Without a carrier nothing leaves here. Both ends of a wire have it, or none.
    virtual void SetCarrier(bool carrier) = 0;
    /// Node and port, for messages.
    virtual const std::string& WireName() const = 0;
};

/// The wires of a network in virtual time. They take no time: what leaves at one end enters at the other at the same instant,
/// when all events of that instant have run. Frames of one instant enter in the order of the ends that they came to, and those
/// of one end in the order in which they left, so that nothing depends on which netbox was run first.
class VirtualWires
{
  public:
    /// One more end, behind those that were added before; its number.
    std::size_t Add(WireEndpoint& end);

    /// A frame has come to the end of this number and waits there.
    void Notice(std::size_t end);

    bool IsEmpty() const
    {
        return m_waiting.empty();
    }

    /// One frame enters now (ns of simulated time). Throws std::runtime_error when frames go round without time passing.
    void EnterNext(std::int64_t now);

  private:
    struct Waiting
    {
        std::size_t end;
        std::uint64_t number;

        bool operator>(const Waiting& other) const
        {
            return end != other.end ? end > other.end : number > other.number;
        }
    };

    /// More frames at one instant than any network has that is not a circle.
    static constexpr std::uint64_t MOST_AT_ONCE = 1'000'000;
    /// How many of the last ones show which circle it is.
    static constexpr std::uint64_t SHOWN = 1'000;

    std::vector<WireEndpoint*> m_ends;
    std::vector<Waiting> m_waiting; ///< a heap, the first to enter at its front
    std::uint64_t m_number{0};
    std::int64_t m_now{-1};
    std::uint64_t m_atOnce{0};
    std::set<std::string> m_circle; ///< where the last of too many entered
};

} // namespace netboxit
