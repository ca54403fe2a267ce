// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "discipline.h"

namespace netboxit::queueing
{

/// Two disciplines one behind the other: what the first one sends is fetched into the second one while that has less than so many bytes.
///
/// So the first one shares the transmitter by what it guarantees, of whatever technology, and the second one chooses among a few packets
/// by the state of the channel (Grazia, "Communication Networks for Public Protection and Disaster Relief Systems", 4.1.2 and 4.2.1: QoS
/// layer, packet prefetcher and MAC-SAL). A packet is behind the first one's order by what the second one holds, and not more.
class Cascade : public Discipline
{
  public:
    /// What a packet is for the second one: in `flow` it has the line there.
    using Below = std::function<Waiting(const Waiting& frame)>;

    /// `prefetched`: bytes; with 0 it is the first one alone. The second one drops nothing.
    Cascade(std::unique_ptr<Discipline> above, std::unique_ptr<Discipline> below, std::uint64_t prefetched, Below asBelow)
        : m_above(std::move(above)), m_below(std::move(below)), m_prefetched(prefetched), m_asBelow(std::move(asBelow))
    {
    }

    void Enqueue(const Waiting& frame, std::int64_t now, double rate) override;
    std::optional<Waiting> Dequeue(std::int64_t now) override;
    std::optional<Waiting> TakeOlder(std::int64_t since) override;
    std::vector<Waiting> TakeTo(StationId receiver) override;
    std::uint32_t FirstBytes() const override;

    std::size_t Packets() const override
    {
        return m_above->Packets() + m_below->Packets();
    }

    std::uint64_t Bytes() const override
    {
        return m_above->Bytes() + m_below->Bytes();
    }

    bool TellsFlowsApart() const override
    {
        return m_above->TellsFlowsApart();
    }

    bool LooksAtEcn() const override
    {
        return m_above->LooksAtEcn();
    }

    /// What both tell, and of what the second one has {prefetched: {packets, bytes}}.
    Json Read(std::int64_t now) const override
    {
        auto read = m_above->Read(now);
        read.update(m_below->Read(now));
        read["prefetched"] = {{"packets", m_below->Packets()}, {"bytes", m_below->Bytes()}};
        return read;
    }

    void ResetStatistics() override
    {
        m_above->ResetStatistics();
    }

  private:
    void Fetch(std::int64_t now);

    std::unique_ptr<Discipline> m_above;
    std::unique_ptr<Discipline> m_below;
    std::uint64_t m_prefetched;
    Below m_asBelow;
    double m_rate{0}; ///< the latest, bit/s
};

} // namespace netboxit::queueing
