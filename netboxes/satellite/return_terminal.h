// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "return_channel.h"

namespace netboxit
{

/// A terminal of the shared return channel: its queue, its slots in the current superframe, its requests.
class ReturnChannel::Terminal : public Sender
{
  public:
    Terminal(ReturnChannel& channel, std::size_t number, std::unique_ptr<BurstFiller> filler, const NetworkControl::Terminal& classes);

    void Enqueue(const Packet& packet) override;
    void SetQueue(const Json& said) override;
    void DropAll(Loss reason) override
    {
        m_filler->DropAll(reason);
    }
    void DropOld()
    {
        m_filler->DropOld();
    }
    const BurstFiller& Filler() const override
    {
        return *m_filler;
    }
    double Utilisation() const override;
    void Read(Json& statistics) const override;
    void Reset() override;

    /// A superframe begins in which it has the slots from position `first` on, each carrying `payload` bytes.
    void Assign(const Assignment& assignment, std::uint32_t first, double payload, ns3::Time duration);
    /// Superframes went by in which nobody listened, each with such an assignment.
    void CountUnused(const Assignment& assignment, std::int64_t superframes, double payload);
    /// The time of its next slot that starts at `notBefore` or later, in slots since the superframe began.
    std::optional<std::uint32_t> NextSlot(std::uint32_t notBefore, const std::vector<std::uint32_t>& spread);
    /// Fills one, if there is something to send.
    void Send(ns3::Time end);
    /// Bytes that slots of this superframe will still take.
    double StillAssigned() const
    {
        return static_cast<double>(m_timesKnown ? m_times.size() - m_nextTime : m_slots) * m_payload;
    }

    const std::size_t number;
    std::vector<Requester> requesters;
    bool slotScheduled{};
    bool controlScheduled{};
    std::uint64_t requests{};
    std::uint64_t requestsLost{};

  private:
    ReturnChannel& m_channel;
    std::unique_ptr<BurstFiller> m_filler;
    std::uint32_t m_slots{};
    std::uint32_t m_first{};
    double m_payload{};
    bool m_timesKnown{};
    std::vector<std::uint32_t> m_times; ///< of this superframe's slots, rising
    std::size_t m_nextTime{};
    double m_rate{}; ///< assigned in the latest superframe, bit/s
    std::array<std::uint64_t, METHODS.size()> m_assigned{}; ///< slots, by method
    double m_capacity{};                                    ///< bytes of all slots assigned
    std::uint64_t m_used{};                                 ///< slots
    std::uint64_t m_carried{};                              ///< bytes
};

} // namespace netboxit
