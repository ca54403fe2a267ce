// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "burst_filler.h"
#include "capacity.h"

#include <memory>

namespace netboxit
{

/// What a station sends by, and how well it does.
class Sender
{
  public:
    virtual ~Sender() = default;
    /// The packet waits to be sent, or is lost.
    virtual void Enqueue(const Packet& packet) = 0;
    /// Another queue, as queue.py dumps it; throws OutOfRange and then changes nothing.
    virtual void SetQueue(const Json& said) = 0;
    /// Gives up all that waits to be sent.
    virtual void DropAll(Loss reason) = 0;
    virtual const BurstFiller& Filler() const = 0;
    /// Share of the capacity that carried packets and their headers, since the statistics began.
    virtual double Utilisation() const = 0;
    /// Adds counters of its own to a station's statistics.
    virtual void Read(Json& statistics) const = 0;
    virtual void Reset() = 0;
};

/// A carrier of one station's own: codewords one after the other without end.
class Carrier : public Sender
{
  public:
    /// `rate` (bit/s) is what codewords of the profile `reference` carry; those of other profiles have as many symbols a second.
    Carrier(std::unique_ptr<BurstFiller> filler, std::size_t reference, double rate);

    void Enqueue(const Packet& packet) override;
    void SetQueue(const Json& said) override;
    void DropAll(Loss reason) override
    {
        m_filler->DropAll(reason);
    }
    const BurstFiller& Filler() const override
    {
        return *m_filler;
    }
    double Utilisation() const override;
    void Read(Json& statistics) const override;
    void Reset() override;

    void SetRate(double rate);
    /// Of the profile `reference`, bit/s.
    double Rate() const
    {
        return m_capacity.Rate();
    }

  private:
    void Schedule(ns3::Time notBefore);
    void Transmit(Slot slot);

    std::unique_ptr<BurstFiller> m_filler;
    std::size_t m_reference;
    ConstantCapacity m_capacity;
    bool m_scheduled{};
    double m_busy{}; ///< s
    std::uint64_t m_codewords{};
    std::uint64_t m_carried{}; ///< bytes, headers of the encapsulation included
    ns3::Time m_since;
};

} // namespace netboxit
