// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "plan.h"
#include "walls.h"

#include "ns3/mobility-model.h"
#include "ns3/propagation-loss-model.h"

#include <unordered_map>

namespace netboxit
{

/// What signals lose between the stations of a cell: path loss, then what is a pair's own (walls, shadowing, being hidden), then fading.
class Propagation : public ns3::PropagationLossModel
{
  public:
    static ns3::TypeId GetTypeId();

    /// `places` by StationId; `frequency` in Hz. Random numbers come from streams from `stream` on.
    static ns3::Ptr<Propagation> Make(const CellPlan& plan,
                                      double frequency,
                                      const std::vector<ns3::Ptr<ns3::MobilityModel>>& places,
                                      std::int64_t stream);

    /// What `b` receives of `a` without fading, dBm at its antenna of 0 dBi.
    double MeanPower(double txPower, const ns3::Ptr<ns3::MobilityModel>& a, const ns3::Ptr<ns3::MobilityModel>& b) const;

    /// Takes so many dB of all ways, or of all that begin or end at one station, beside all else.
    void SetFade(double fade);
    void SetFade(StationId station, double fade);

  private:
    double DoCalcRxPower(double txPower,
                         ns3::Ptr<ns3::MobilityModel> a,
                         ns3::Ptr<ns3::MobilityModel> b) const override;
    std::int64_t DoAssignStreams(std::int64_t stream) override;

    void DrawShadows(double deviation, std::int64_t stream);
    double& LossBetween(StationId a, StationId b);
    double LossBetween(const ns3::MobilityModel* a, const ns3::MobilityModel* b) const;

    double FadeBetween(const ns3::MobilityModel* a, const ns3::MobilityModel* b) const;

    ns3::Ptr<ns3::PropagationLossModel> m_path;
    ns3::Ptr<ns3::PropagationLossModel> m_fading; ///< null: none
    double m_doppler{};                           ///< Hz, of rayleigh
    std::unique_ptr<Walls> m_walls;
    double m_frequency{};
    double m_longestRange{};
    bool m_hasPairs{};
    std::size_t m_count{};
    std::unordered_map<const ns3::MobilityModel*, StationId> m_ids;
    double m_fade{};             ///< dB
    std::vector<double> m_fades; ///< dB, by station
    bool m_hasFades{};
    std::vector<double> m_pairs; ///< dB, by both identities; infinite for those that are hidden from each other
};

} // namespace netboxit
