// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "waveforms.h"

#include <optional>

namespace netboxit
{

/// What adaptive coding and modulation goes by.
struct AdaptationRules
{
    double margin{};     ///< dB that must be left above a threshold
    double hysteresis{}; ///< dB more to go up to a profile
};

/// Modulation and coding of one direction of one terminal, following Es/N0 at its receiver, and whether that receives at all.
class AdaptiveCoding
{
  public:
    /// Follows the usable profiles, which are the reference alone without adaptation.
    AdaptiveCoding(const ProfileSet& profiles, AdaptationRules rules, double esN0);

    /// Es/N0 is another (dB).
    void Measure(double esN0);

    double EsN0() const
    {
        return m_esN0;
    }
    /// The receiver has lost the signal, or found it again: a margin of hysteresis apart.
    bool IsLost() const
    {
        return m_lost;
    }
    /// What the latest measurement asks for.
    std::size_t Wanted() const
    {
        return m_wanted;
    }
    /// What the sender was told last, though it may not have heard of it yet.
    std::size_t Announced() const
    {
        return m_announced;
    }
    void Announce(std::size_t profile)
    {
        m_announced = profile;
    }
    /// What the sender uses, once it has heard of it.
    std::size_t Used() const
    {
        return m_used;
    }
    void Use(std::size_t profile)
    {
        m_used = profile;
    }
    /// dB above the threshold of what is used.
    double Margin() const
    {
        return m_esN0 - m_profiles[m_used].threshold;
    }
    const Profile& UsedProfile() const
    {
        return m_profiles[m_used];
    }

  private:
    std::size_t Best(double esN0) const;
    const Profile& MostRobust() const
    {
        return m_profiles.front();
    }

    std::vector<Profile> m_profiles; ///< usable ones, from the most robust on
    AdaptationRules m_rules;
    double m_esN0;
    std::size_t m_wanted;
    std::size_t m_announced;
    std::size_t m_used;
    bool m_lost;
};

} // namespace netboxit
