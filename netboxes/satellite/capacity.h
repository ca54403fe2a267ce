// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/nstime.h"

#include <cstdint>

namespace netboxit
{

/// One opportunity to transmit.
struct Slot
{
    ns3::Time start;
    ns3::Time end;
};

/// When a station may transmit: what the network control centre assigns to it. Assignment on request (RBDC,
/// VBDC) will be another kind.
class Capacity
{
  public:
    virtual ~Capacity() = default;
    /// The first slot that starts at `notBefore` or later.
    virtual Slot Next(ns3::Time notBefore) const = 0;
    /// Payload bits in a second from the next slot after `now` on.
    virtual void SetRate(double rate, ns3::Time now) = 0;
    virtual double Rate() const = 0;
};

/// Slots of equal size one after the other without end: constant rate assignment (CRA) of a terminal, or the
/// continuous TDM of the forward channel. They are computed when somebody asks, so that an idle link has no
/// events.
class ConstantCapacity : public Capacity
{
  public:
    ConstantCapacity(std::uint32_t bitsPerSlot, double rate);

    Slot Next(ns3::Time notBefore) const override;
    void SetRate(double rate, ns3::Time now) override;
    double Rate() const override
    {
        return m_rate;
    }

  private:
    ns3::Time Start(std::int64_t slot) const;

    double m_bitsPerSlot;
    double m_rate;
    ns3::Time m_origin; ///< start of slot 0
};

} // namespace netboxit
