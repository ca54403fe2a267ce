// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "configuration.h"

#include "../mobility/motion.h"

#include <vector>

namespace netboxit::wimax
{

/// Where the stations of a cell are, as far as they say so by more than a distance. The base station stands at the
/// origin if it does not say anything.
class Places
{
  public:
    Places(const SegmentSetup& setup, const Configuration& configuration);

    /// Paths and walks start now.
    void Begin();

    /// Whether anyone's place may change by itself.
    bool Moves() const;
    bool IsOwn(StationId station) const
    {
        return m_motions[station] != nullptr;
    }
    /// From the base station; of who only has a distance, along the x axis.
    ns3::Vector RelativeTo(StationId base, StationId subscriber, double distanceM) const;

    /// From now on it stands at `position` ([x, y, z] in m), whatever it did before; throws OutOfRange.
    void Set(StationId station, const Json& position);
    /// It has a distance only, from now on.
    void Forget(StationId station)
    {
        m_motions[station] = nullptr;
    }

  private:
    std::vector<ns3::Ptr<Motion>> m_motions; ///< by StationId
};

} // namespace netboxit::wimax
