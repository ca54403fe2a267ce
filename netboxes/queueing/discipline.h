// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"
#include "waiting.h"

#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

namespace netboxit::queueing
{

/// Who learns of what a discipline drops: at once, while it takes or gives others.
using DropCallback = std::function<void(const Waiting& frame, Loss reason)>;

/// Why a packet was marked as having experienced congestion, where it would have been dropped otherwise.
enum class Mark : std::uint8_t
{
    Early,   ///< by the discipline's probability or control law
    Coupled, ///< an L4S packet, by the probability of the queue beside it (RFC 9332)
    Step,    ///< an L4S packet that has waited for longer than a threshold
};

inline constexpr std::array<std::string_view, 3> MARK_NAMES{"early", "coupled", "step"};

/// Marks a frame that waits, or is about to; false where its packet is not capable of ECN (RFC 3168), and then it is to be dropped.
using MarkCallback = std::function<bool(const Waiting& frame, Mark reason)>;

/// Draws uniformly from [0, 1).
using Chance = std::function<double()>;

/// Room in a queue; what finds one of them used up is dropped. An empty queue takes any one frame, or it could never be sent.
struct Room
{
    std::size_t packets{std::numeric_limits<std::size_t>::max()};
    std::uint64_t bytes{std::numeric_limits<std::uint64_t>::max()};
    /// s, in which the present rate sends it.
    double buffer{std::numeric_limits<double>::infinity()};

    /// Whether so much fits, at a rate in bit/s.
    bool Holds(std::size_t thenPackets, std::uint64_t thenBytes, double rate) const
    {
        return thenPackets <= 1 || (thenPackets <= packets && thenBytes <= bytes &&
                                    8.0 * static_cast<double>(thenBytes) <= buffer * rate);
    }
};

/// A queue in front of a transmitter, and which of its frames go when, or not at all. Times are simulated ones, ns, and do not fall
/// from call to call.
class Discipline
{
  public:
    virtual ~Discipline() = default;
    /// `rate` is what the transmitter sends with now, bit/s.
    virtual void Enqueue(const Waiting& frame, std::int64_t now, double rate) = 0;
    /// The frame whose turn it is; none when all that waited were dropped.
    virtual std::optional<Waiting> Dequeue(std::int64_t now) = 0;
    /// Takes out one that entered before `since`, past all rules; none when there is none.
    virtual std::optional<Waiting> TakeOlder(std::int64_t since) = 0;
    /// Takes out all that are for a receiver on the medium, past all rules, each after what is before it in its line. Of disciplines that
    /// `modular` is made of: a queue has no other where several receivers share it.
    virtual std::vector<Waiting> TakeTo(StationId)
    {
        throw std::logic_error("queue: this discipline does not know of receivers");
    }
    /// Bytes of the frame that goes next, unless it is dropped when its turn comes; 0: none waits.
    virtual std::uint32_t FirstBytes() const = 0;
    virtual std::size_t Packets() const = 0;
    virtual std::uint64_t Bytes() const = 0;

    /// Whether it looks at a frame's flow.
    virtual bool TellsFlowsApart() const
    {
        return false;
    }

    /// Whether it looks at a frame's hosts.
    virtual bool TellsHostsApart() const
    {
        return false;
    }

    /// Whether it looks at a frame's ECN field when it comes.
    virtual bool LooksAtEcn() const
    {
        return false;
    }

    /// What it tells besides what all tell, by name; counts are since ResetStatistics().
    virtual Json Read(std::int64_t now) const
    {
        return Json::object();
    }

    virtual void ResetStatistics()
    {
    }
};

} // namespace netboxit::queueing
