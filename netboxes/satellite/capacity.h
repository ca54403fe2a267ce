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

/// Slots of equal size one after the other without end: a return carrier of a terminal's own, or the continuous TDM of the
/// forward channel. They are computed when somebody asks, so that an idle link has no events.
class ConstantCapacity
{
  public:
    ConstantCapacity(std::uint32_t bitsPerSlot, double rate);

    /// The first slot that starts at `notBefore` or later.
    Slot Next(ns3::Time notBefore) const;
    /// Payload bits in a second from the next slot after `now` on.
    void SetRate(double rate, ns3::Time now);
    /// Slots follow one another from `start` on: what was sent before was of another length.
    void Realign(ns3::Time start)
    {
        m_origin = start;
    }
    double Rate() const
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
