// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "discipline.h"

#include "ns3/random-variable-stream.h"
#include "ns3/rng-seed-manager.h"

namespace netboxit::queueing
{

/// The numbers of one of ns-3's streams.
inline Chance ChanceOf(std::int64_t stream)
{
    const auto random = ns3::CreateObject<ns3::UniformRandomVariable>();
    random->SetStream(stream);
    return [random] { return random->GetValue(); };
}

/// For streams that begin while the netboxes of a process run: of the seed with which this object was made, the netbox's own. ns-3's seed is
/// by then that of the netbox that was made last.
class LaterChances
{
  public:
    Chance Of(std::int64_t stream) const
    {
        const auto latest = ns3::RngSeedManager::GetSeed();
        ns3::RngSeedManager::SetSeed(m_seed);
        auto chance = ChanceOf(stream);
        ns3::RngSeedManager::SetSeed(latest);
        return chance;
    }

  private:
    std::uint32_t m_seed = ns3::RngSeedManager::GetSeed();
};

} // namespace netboxit::queueing
