// SPDX-License-Identifier: GPL-2.0-or-later
#include "burst_profile.h"

#include <algorithm>

namespace netboxit::wimax
{

std::uint32_t BurstBytes(ProfileId profile, std::uint32_t symbols)
{
    return symbols == 0 ? 0 : symbols * PROFILES[profile].bytesPerSymbol - TAIL_BYTES;
}

std::uint32_t BurstSymbols(ProfileId profile, std::uint32_t bytes)
{
    const auto perSymbol = PROFILES[profile].bytesPerSymbol;
    return bytes == 0 ? 0 : (bytes + TAIL_BYTES + perSymbol - 1) / perSymbol;
}

std::optional<ProfileId> ReceiverSnr::Best(double snrDb, double marginDb) const
{
    for (ProfileId profile = PROFILES.size(); profile-- > 0;)
    {
        if (snrDb >= m_thresholdsDb[profile] + marginDb)
        {
            return profile;
        }
    }
    return std::nullopt;
}

std::optional<ProfileId> ReceiverSnr::Choose(double snrDb,
                                             std::optional<ProfileId> current,
                                             double hysteresisDb) const
{
    const auto bare = Best(snrDb, 0.0);
    if (bare && m_fixed)
    {
        return m_fixed;
    }
    if (!bare || !current)
    {
        return bare;
    }
    const auto safe = Best(snrDb, hysteresisDb);
    return std::min(*bare, std::max(*current, safe.value_or(MOST_ROBUST)));
}

} // namespace netboxit::wimax
