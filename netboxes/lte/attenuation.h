// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/timeline.h"

#include "ns3/mobility-model.h"
#include "ns3/propagation-loss-model.h"

#include <optional>
#include <unordered_map>

namespace netboxit
{

/// What links lose beside their distance: an obstacle, rain, or a radio that is off. In both directions alike, added to the path loss.
class Attenuation : public ns3::PropagationLossModel
{
  public:
    static ns3::TypeId GetTypeId();

    /// Of one antenna, or of all links.
    struct Loss
    {
        double fade{}; ///< dB
        std::optional<Timeline> series;
        bool isOff{};

        /// dB so long after time 0, of a radio that is on.
        double At(double seconds) const;
    };

    /// The loss of all links with that antenna, to be changed.
    Loss& Of(const ns3::Ptr<ns3::MobilityModel>& antenna)
    {
        return m_losses[ns3::PeekPointer(antenna)];
    }
    Loss& OfAll()
    {
        return m_all;
    }

    /// dB that all links with that antenna lose now by fades.
    double FadeOf(const ns3::Ptr<ns3::MobilityModel>& antenna) const;
    bool IsOff(const ns3::Ptr<ns3::MobilityModel>& antenna) const;

    /// Time 0 of the series is now.
    void Begin();

  private:
    double DoCalcRxPower(double power,
                         ns3::Ptr<ns3::MobilityModel> a,
                         ns3::Ptr<ns3::MobilityModel> b) const override;
    std::int64_t DoAssignStreams(std::int64_t) override
    {
        return 0;
    }

    /// s since Begin(), 0 before.
    double Elapsed() const;

    std::unordered_map<const ns3::MobilityModel*, Loss> m_losses;
    Loss m_all;
    std::optional<std::int64_t> m_began; ///< ns
};

} // namespace netboxit
