// SPDX-License-Identifier: GPL-2.0-or-later
#include "pair_loss.h"

namespace netboxit
{

namespace
{

/// What is received of a radio that is off, dBm: so little that it is nothing.
constexpr double NOTHING = -1000.0;

} // namespace

ns3::TypeId PairLoss::GetTypeId()
{
    static const auto id =
        ns3::TypeId("netboxit::PairLoss").SetParent<ns3::PropagationLossModel>().AddConstructor<PairLoss>();
    return id;
}

void PairLoss::Set(ns3::Ptr<ns3::PropagationLossModel> byDistance,
                   const std::vector<ns3::Ptr<ns3::MobilityModel>>& stations,
                   double antennaGain,
                   double shadowing,
                   std::int64_t stream)
{
    m_byDistance = byDistance;
    m_antennaGain = antennaGain;
    m_off.assign(stations.size(), false);
    m_fades.assign(stations.size(), 0.0);
    m_shadowing.assign(stations.size() * stations.size(), 0.0);
    auto normal = ns3::CreateObject<ns3::NormalRandomVariable>();
    normal->SetStream(stream);
    for (std::size_t a = 0; a < stations.size(); ++a)
    {
        m_numbers.emplace(ns3::PeekPointer(stations[a]), a);
        for (std::size_t b = a + 1; b < stations.size() && shadowing > 0.0; ++b)
        {
            const double value = shadowing * normal->GetValue(0.0, 1.0);
            m_shadowing[a * stations.size() + b] = value;
            m_shadowing[b * stations.size() + a] = value;
        }
    }
}

double PairLoss::DoCalcRxPower(double txPowerDbm,
                               ns3::Ptr<ns3::MobilityModel> a,
                               ns3::Ptr<ns3::MobilityModel> b) const
{
    const auto from = m_numbers.at(ns3::PeekPointer(a));
    const auto to = m_numbers.at(ns3::PeekPointer(b));
    if (m_off[from] || m_off[to])
    {
        return NOTHING;
    }
    return m_byDistance->CalcRxPower(txPowerDbm, a, b) + 2.0 * m_antennaGain -
           m_shadowing[from * m_off.size() + to] - Fade(from, to);
}

int64_t PairLoss::DoAssignStreams(int64_t)
{
    return 0;
}

} // namespace netboxit
