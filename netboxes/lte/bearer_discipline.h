// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../queueing/fifo.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace netboxit
{

/// The rest of a packet that RLC is sending. It has begun to leave, or is about to, and cannot be dropped.
struct PacketInRlc
{
    std::uint32_t bytes{};
    std::int64_t since{}; ///< ns, when the packet came to the queue
};

/// What a discipline may ask of the bearer whose queue it is.
struct BearerView
{
    /// The channel quality indicator that the UE reported last (TS 36.213, 7.2.3), 0 to 15.
    std::function<int()> quality;
    /// The packet at the head; none when RLC has nothing, and then nothing waits either.
    std::function<std::optional<PacketInRlc>()> head;
};

/// A discipline that knows the bearer whose queue it is, and hears what becomes of the packets that RLC has got from it.
class BearerDiscipline : public queueing::Fifo
{
  public:
    BearerDiscipline(queueing::Room room, queueing::DropCallback dropped, BearerView bearer)
        : Fifo(room, std::move(dropped)), m_bearer(std::move(bearer))
    {
    }

    /// RLC is about to send some of the packet at the head.
    virtual void Sends(std::int64_t now)
    {
    }

    /// RLC has sent the last byte of a packet that came at `since`.
    virtual void Left(std::int64_t since, std::int64_t now)
    {
    }

  protected:
    const BearerView& Bearer() const
    {
        return m_bearer;
    }

    /// Drops the packet behind the one that RLC is sending; false: there is none.
    bool DropSecond()
    {
        if (Waits().IsEmpty())
        {
            return false;
        }
        Drop(Waits().Pop(), Loss::QueueEarly);
        return true;
    }

  private:
    BearerView m_bearer;
};

} // namespace netboxit
