// SPDX-License-Identifier: GPL-2.0-or-later
#include "burst_profile.h"

#include <algorithm>
#include <stdexcept>

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

ReceiverSnr::ReceiverSnr(const std::string& edition, std::optional<ProfileId> fixed) : m_fixed(fixed)
{
    if (edition == "802.16-2004")
    {
        m_thresholdsDb = {6.4, 9.4, 11.2, 16.4, 18.2, 22.7, 24.4};
    }
    else if (edition == "802.16-2009")
    {
        m_thresholdsDb = {3.0, 6.0, 8.5, 11.5, 15.0, 19.0, 21.0};
    }
    else
    {
        throw std::invalid_argument("wimax: receiver_snr '" + edition +
                                    "' is not one of 802.16-2004, 802.16-2009");
    }
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
