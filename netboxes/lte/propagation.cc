// SPDX-License-Identifier: GPL-2.0-or-later
#include "propagation.h"

#include "../engine/nature.h"
#include "multipath_fading.h"

#include "ns3/double.h"
#include "ns3/lte-spectrum-value-helper.h"
#include "ns3/spectrum-channel.h"
#include "ns3/string.h"

#include <cmath>
#include <map>
#include <numbers>

namespace netboxit
{

namespace
{

constexpr std::int64_t FADING_STREAM = 990'000; ///< random streams, one for each direction

} // namespace

void ChoosePropagation(ns3::LteHelper& helper, const LtePlan& plan)
{
    const auto choose = [&helper](const std::string& type) {
        helper.SetPathlossModelType(ns3::TypeId::LookupByName(type));
    };
    if (plan.propagation == "friis")
    {
        choose("ns3::FriisPropagationLossModel");
    }
    else if (plan.propagation == "log-distance")
    {
        choose("ns3::LogDistancePropagationLossModel");
        const double frequency = ns3::LteSpectrumValueHelper::GetCarrierFrequency(plan.downlinkEarfcn);
        // Free space at 1 m (Friis), of the downlink in both directions.
        helper.SetPathlossModelAttribute(
            "ReferenceLoss",
            ns3::DoubleValue(20.0 * std::log10(4.0 * std::numbers::pi * frequency / SPEED_OF_LIGHT)));
        helper.SetPathlossModelAttribute("Exponent", ns3::DoubleValue(plan.pathLossExponent));
    }
    else
    {
        static const std::map<std::string, std::string> ENVIRONMENTS{
            {"urban", "Urban"}, {"suburban", "SubUrban"}, {"open", "OpenAreas"}};
        choose("ns3::OkumuraHataPropagationLossModel");
        helper.SetPathlossModelAttribute("Environment", ns3::StringValue(ENVIRONMENTS.at(plan.environment)));
        helper.SetPathlossModelAttribute("CitySize", ns3::StringValue("Small"));
    }
}

void AddFading(ns3::LteHelper& helper, const LtePlan& plan)
{
    const auto taps = TapsOf(plan.fading);
    if (taps.empty())
    {
        return;
    }
    auto stream = FADING_STREAM;
    for (const auto& channel : {helper.GetDownlinkSpectrumChannel(), helper.GetUplinkSpectrumChannel()})
    {
        channel->AddSpectrumPropagationLossModel(
            ns3::CreateObject<MultipathFading>(taps, plan.doppler, stream++));
    }
}

ns3::Ptr<Attenuation> AddAttenuation(ns3::LteHelper& helper, const LtePlan& plan)
{
    auto attenuation = ns3::CreateObject<Attenuation>();
    attenuation->OfAll() = plan.loss;
    for (const auto& channel : {helper.GetDownlinkSpectrumChannel(), helper.GetUplinkSpectrumChannel()})
    {
        // Losses are chained, the latest one first; this one may not have a successor of its own, being in both chains.
        channel->GetPropagationLossModel()->SetNext(attenuation);
    }
    return attenuation;
}

} // namespace netboxit
