// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "capacity.h"
#include "transmit_queue.h"

#include <functional>
#include <memory>

namespace netboxit
{

/// What one station sends: its queue, cut by an encapsulation into the slots of its capacity.
class Carrier
{
  public:
    /// Called at the start of a slot, for each packet that the slot completes, with the time at which the
    /// slot will have been sent.
    using Departure = std::function<void(const Packet&, ns3::Time sent)>;

    Carrier(std::unique_ptr<Capacity> capacity,
            const Encapsulation& encapsulation,
            std::uint32_t slotPayload,
            TransmitQueue queue,
            double queueTime,
            Departure departure);

    bool Carries(const Frame& frame) const
    {
        return m_encapsulation.Carries(frame);
    }
    /// False when the queue has no room for the packet.
    bool Enqueue(const Packet& packet);
    void SetRate(double rate);

    const TransmitQueue& Queue() const
    {
        return m_queue;
    }
    /// Share of the slots' payload that carried packets and their headers, since the start.
    double Utilisation() const;

  private:
    void Schedule(ns3::Time notBefore);
    void Transmit(Slot slot);
    /// Fills one slot and returns how many bytes of it are used.
    std::uint32_t Fill(ns3::Time sent);

    std::unique_ptr<Capacity> m_capacity;
    const Encapsulation& m_encapsulation;
    std::uint32_t m_slotPayload;
    TransmitQueue m_queue;
    double m_queueTime;
    Departure m_departure;
    Packer m_packer;
    bool m_scheduled{};
    double m_busy{}; ///< s
};

} // namespace netboxit
