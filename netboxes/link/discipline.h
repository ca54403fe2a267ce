// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"
#include "waiting.h"

#include "ns3/random-variable-stream.h"

#include <functional>
#include <memory>

namespace netboxit::link
{

/// Who learns of the frames that a discipline drops: at once, while it takes or gives others.
using Dropped = std::function<void(const Waiting& frame, Loss reason)>;

/// Room in a queue; what finds one of them used up is dropped.
struct Room
{
    std::size_t packets;
    std::uint64_t bytes;

    bool Holds(std::size_t hasPackets, std::uint64_t hasBytes, std::uint32_t more) const
    {
        return hasPackets < packets && hasBytes + more <= bytes;
    }
};

/// A queue in front of a transmitter, and which of its frames go when, or not at all. Times are simulated ones, ns, and do not fall
/// from call to call.
class Discipline
{
  public:
    virtual ~Discipline() = default;
    /// `rate` is what the link carries now, bit/s.
    virtual void Enqueue(const Waiting& frame, std::int64_t now, double rate) = 0;
    /// The frame whose turn it is; none when all that waited were dropped.
    virtual std::optional<Waiting> Dequeue(std::int64_t now) = 0;
    virtual std::size_t Packets() const = 0;
    virtual std::uint64_t Bytes() const = 0;

    /// Whether it looks at a frame's flow.
    virtual bool TellsFlowsApart() const
    {
        return false;
    }
};

/// In the order of arrival; what finds it full is dropped.
class Fifo : public Discipline
{
  public:
    Fifo(Room room, Dropped dropped) : m_room(room), m_dropped(std::move(dropped))
    {
    }

    void Enqueue(const Waiting& frame, std::int64_t now, double rate) override;
    std::optional<Waiting> Dequeue(std::int64_t now) override;

    std::size_t Packets() const override
    {
        return m_line.Packets();
    }

    std::uint64_t Bytes() const override
    {
        return m_line.Bytes();
    }

  protected:
    void Drop(const Waiting& frame, Loss reason) const
    {
        m_dropped(frame, reason);
    }

    const Line& Waits() const
    {
        return m_line;
    }

    Waiting Take()
    {
        return m_line.Pop();
    }

    const Room& TheRoom() const
    {
        return m_room;
    }

  private:
    Room m_room;
    Dropped m_dropped;
    Line m_line;
};

/// The one that a parameter `queue` names, as parameters.py dumps it; throws OutOfRange.
std::unique_ptr<Discipline> MakeDiscipline(const Json& queue,
                                           ns3::Ptr<ns3::UniformRandomVariable> random,
                                           Dropped dropped);

} // namespace netboxit::link
