// SPDX-License-Identifier: GPL-2.0-or-later
#include "propagation.h"

#include "../engine/nature.h"

#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/jakes-propagation-loss-model.h"
#include "ns3/random-variable-stream.h"
#include "ns3/string.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace netboxit
{

namespace
{

constexpr double NOTHING = -std::numeric_limits<double>::infinity(); ///< dBm

ns3::Ptr<ns3::PropagationLossModel> PathLoss(const PropagationPlan& plan, double frequency)
{
    if (plan.model == "friis")
    {
        auto friis = ns3::CreateObject<ns3::FriisPropagationLossModel>();
        friis->SetFrequency(frequency);
        return friis;
    }
    if (plan.model == "two-ray")
    {
        auto twoRay = ns3::CreateObject<ns3::TwoRayGroundPropagationLossModel>();
        twoRay->SetFrequency(frequency);
        twoRay->SetHeightAboveZ(plan.antennaHeight);
        return twoRay;
    }
    auto logDistance = ns3::CreateObject<ns3::LogDistancePropagationLossModel>();
    const double friisAtOneMetre = 20.0 * std::log10(4.0 * std::numbers::pi * frequency / SPEED_OF_LIGHT);
    logDistance->SetPathLossExponent(plan.pathLossExponent);
    logDistance->SetReference(1.0, friisAtOneMetre);
    return logDistance;
}

ns3::Ptr<ns3::PropagationLossModel> Nakagami(const PropagationPlan& plan)
{
    auto nakagami = ns3::CreateObject<ns3::NakagamiPropagationLossModel>();
    const auto& steps = plan.nakagami;
    const auto step = [&](std::size_t index) { return steps[std::min(index, steps.size() - 1)]; };
    // ns-3 wants two rising distances; behind the last step they do not matter.
    const double first = steps.size() > 1 ? steps[1].first : 1e9;
    nakagami->SetAttribute("Distance1", ns3::DoubleValue(first));
    nakagami->SetAttribute("Distance2", ns3::DoubleValue(steps.size() > 2 ? steps[2].first : 2e9));
    nakagami->SetAttribute("m0", ns3::DoubleValue(step(0).second));
    nakagami->SetAttribute("m1", ns3::DoubleValue(step(1).second));
    nakagami->SetAttribute("m2", ns3::DoubleValue(step(2).second));
    return nakagami;
}

ns3::Ptr<ns3::PropagationLossModel> Fading(const PropagationPlan& plan)
{
    if (plan.fading == "nakagami")
    {
        return Nakagami(plan);
    }
    if (plan.fading == "rayleigh")
    {
        return ns3::CreateObject<ns3::JakesPropagationLossModel>();
    }
    return nullptr;
}

} // namespace

ns3::TypeId Propagation::GetTypeId()
{
    static const auto id =
        ns3::TypeId("netboxit::Propagation").SetParent<ns3::PropagationLossModel>().AddConstructor<Propagation>();
    return id;
}

ns3::Ptr<Propagation> Propagation::Make(const CellPlan& plan,
                                        double frequency,
                                        const std::vector<ns3::Ptr<ns3::MobilityModel>>& places,
                                        std::int64_t stream)
{
    auto propagation = ns3::CreateObject<Propagation>();
    propagation->m_path = PathLoss(plan.propagation, frequency);
    propagation->m_fading = Fading(plan.propagation);
    propagation->m_doppler = plan.propagation.doppler;
    propagation->m_walls = std::make_unique<Walls>(plan.propagation.buildings);
    propagation->m_frequency = frequency;
    propagation->m_longestRange = plan.LongestRange();
    propagation->m_hasPairs = plan.propagation.shadowing > 0.0 || !plan.propagation.hidden.empty();
    propagation->m_count = places.size();
    propagation->m_pairs.resize(places.size() * places.size());
    for (StationId id = 0; id < places.size(); ++id)
    {
        propagation->m_ids.emplace(ns3::PeekPointer(places[id]), id);
    }
    propagation->m_fade = plan.propagation.fade;
    propagation->m_fades.resize(places.size());
    for (StationId id = 0; id < places.size(); ++id)
    {
        propagation->SetFade(id, plan.stations[id].fade);
    }
    propagation->DrawShadows(plan.propagation.shadowing, stream);
    for (const auto& [a, b] : plan.propagation.hidden)
    {
        propagation->LossBetween(a, b) = propagation->LossBetween(b, a) = std::numeric_limits<double>::infinity();
    }
    if (propagation->m_fading)
    {
        propagation->m_fading->AssignStreams(stream + 1);
    }
    return propagation;
}

/// Each pair has its own, the same in both directions, as long as it lives: obstacles do not move here.
void Propagation::DrawShadows(double deviation, std::int64_t stream)
{
    if (deviation <= 0.0)
    {
        return;
    }
    auto shadows = ns3::CreateObject<ns3::NormalRandomVariable>();
    shadows->SetStream(stream);
    for (StationId a = 0; a < m_count; ++a)
    {
        for (StationId b = a + 1; b < m_count; ++b)
        {
            LossBetween(a, b) = LossBetween(b, a) = shadows->GetValue(0.0, deviation * deviation);
        }
    }
}

double& Propagation::LossBetween(StationId a, StationId b)
{
    return m_pairs[a * m_count + b];
}

double Propagation::LossBetween(const ns3::MobilityModel* a, const ns3::MobilityModel* b) const
{
    return m_hasPairs ? m_pairs[m_ids.at(a) * m_count + m_ids.at(b)] : 0.0;
}

void Propagation::SetFade(double fade)
{
    m_fade = fade;
}

void Propagation::SetFade(StationId station, double fade)
{
    m_fades[station] = fade;
    m_hasFades = std::ranges::any_of(m_fades, [](double each) { return each > 0.0; });
}

double Propagation::FadeBetween(const ns3::MobilityModel* a, const ns3::MobilityModel* b) const
{
    return m_fade + (m_hasFades ? m_fades[m_ids.at(a)] + m_fades[m_ids.at(b)] : 0.0);
}

double Propagation::MeanPower(double txPower,
                              const ns3::Ptr<ns3::MobilityModel>& a,
                              const ns3::Ptr<ns3::MobilityModel>& b) const
{
    if (a->GetDistanceFrom(b) > m_longestRange)
    {
        return NOTHING;
    }
    const double pair = LossBetween(ns3::PeekPointer(a), ns3::PeekPointer(b)) +
                        FadeBetween(ns3::PeekPointer(a), ns3::PeekPointer(b));
    if (m_walls->AreNone())
    {
        return m_path->CalcRxPower(txPower, a, b) - pair;
    }
    const auto from = a->GetPosition();
    const auto to = b->GetPosition();
    if (const auto indoor = m_walls->IndoorLoss(from, to, m_frequency))
    {
        return txPower - *indoor - pair;
    }
    return m_path->CalcRxPower(txPower, a, b) - m_walls->OuterLoss(from, to) - pair;
}

double Propagation::DoCalcRxPower(double txPower,
                                  ns3::Ptr<ns3::MobilityModel> a,
                                  ns3::Ptr<ns3::MobilityModel> b) const
{
    const double mean = MeanPower(txPower, a, b);
    if (!m_fading || mean <= NOTHING)
    {
        return mean;
    }
    // Each pair gets its process when it first sends, with a default of the process: another cell may have set its own since.
    static double current = 0.0;
    if (m_doppler != current)
    {
        current = m_doppler;
        ns3::Config::SetDefault("ns3::JakesProcess::DopplerFrequencyHz", ns3::DoubleValue(m_doppler));
    }
    return m_fading->CalcRxPower(mean, a, b);
}

std::int64_t Propagation::DoAssignStreams(std::int64_t)
{
    return 0; // assigned when it was made
}

} // namespace netboxit
