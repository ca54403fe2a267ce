// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "burst_profile.h"

#include <array>
#include <optional>

namespace netboxit::wimax
{

/// One direction of the radio link between a subscriber and the base station: its SNR, the burst profile in
/// use, and what errors it makes.
class Link
{
  public:
    /// The SNR is `snrDb` from now on; the profile follows with hysteresis.
    void Update(double snrDb, const ReceiverSnr& receiver, double hysteresisDb);

    double SnrDb() const
    {
        return m_snrDb;
    }
    /// Nothing when not even the most robust profile is received.
    std::optional<ProfileId> Profile() const
    {
        return m_profile;
    }
    /// True when a link that was lost is good enough to come back: hysteresis above the most robust
    /// threshold.
    bool MayReturn(const ReceiverSnr& receiver, double hysteresisDb) const;
    double BlockErrorRateAt(ProfileId profile) const;

  private:
    double m_snrDb{};
    std::optional<ProfileId> m_profile;
    std::array<double, PROFILES.size()> m_marginsDb{};
    /// Only those that were asked for since the SNR changed: negative when not.
    mutable std::array<double, PROFILES.size()> m_blockErrorRates{};
};

} // namespace netboxit::wimax
