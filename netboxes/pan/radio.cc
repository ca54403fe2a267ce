// SPDX-License-Identifier: GPL-2.0-or-later
#include "radio.h"

#include "../engine/nature.h"

#include "ns3/double.h"
#include "ns3/lr-wpan-constants.h"
#include "ns3/lr-wpan-csmaca.h"
#include "ns3/lr-wpan-error-model.h"
#include "ns3/lr-wpan-mac.h"
#include "ns3/lr-wpan-phy.h"
#include "ns3/lr-wpan-spectrum-value-helper.h"
#include "ns3/node.h"
#include "ns3/propagation-delay-model.h"
#include "ns3/propagation-loss-model.h"
#include "ns3/single-model-spectrum-channel.h"

#include <cmath>
#include <numbers>

namespace netboxit
{

namespace
{

/// Random streams: shadowing, walks (one a station), devices. Those of the queues are in station.cc.
constexpr std::int64_t SHADOWING_STREAM = 5000;
constexpr std::int64_t FIRST_WALK_STREAM = 5001;
constexpr std::int64_t FIRST_DEVICE_STREAM = 6000;
constexpr std::uint16_t PAN_ID = 0x6e62;
/// MAC header of a data frame without its addresses: frame control 2, sequence number 1, PAN identifiers; then FCS 2 (IEEE
/// 802.15.4-2006, 7.2). ns-3 compresses the PAN identifiers of a frame within one PAN (7.2.1.1.5).
constexpr std::uint32_t MAC_OVERHEAD = 2 + 1 + 2 + 2;

/// Centre frequency of channels 11 to 26 (IEEE 802.15.4-2006, 6.1.2.1), Hz.
double FrequencyOf(std::uint32_t channel)
{
    return 2405e6 + 5e6 * (channel - 11);
}

ns3::Ptr<ns3::PropagationLossModel> LossByDistance(const Json& parameters, double frequency)
{
    if (parameters.at("propagation") == "friis")
    {
        auto friis = ns3::CreateObject<ns3::FriisPropagationLossModel>();
        friis->SetFrequency(frequency);
        return friis;
    }
    auto logDistance = ns3::CreateObject<ns3::LogDistancePropagationLossModel>();
    const double friisAtOneMetre = 20.0 * std::log10(4.0 * std::numbers::pi * frequency / SPEED_OF_LIGHT);
    logDistance->SetReference(1.0, friisAtOneMetre);
    logDistance->SetPathLossExponent(parameters.at("path_loss_exponent"));
    return logDistance;
}

} // namespace

Radio::Radio(const Json& parameters, const std::vector<std::string>& stations)
    : m_count(stations.size()),
      m_circle(parameters.at("stations"), stations, "coordinator", parameters.at("distance"), FIRST_WALK_STREAM),
      m_extended(parameters.at("addressing") == "extended"), m_allOff(parameters.at("outage")), m_channelNumber(parameters.at("channel")),
      m_sensitivity(parameters.at("sensitivity")), m_loss(ns3::CreateObject<PairLoss>())
{
    const auto& said = parameters.at("stations");
    std::vector<ns3::Ptr<ns3::MobilityModel>> places;
    for (StationId id = 0; id < m_count; ++id)
    {
        const auto& station = said.at(stations[id]);
        const bool ownTxPower = !station.at("tx_power").is_null();
        m_stations.push_back({.txPower = ownTxPower ? station.at("tx_power") : parameters.at("tx_power"),
                              .ownTxPower = ownTxPower,
                              .off = station.at("outage")});
        places.push_back(m_circle.At(id));
    }
    m_loss->Set(LossByDistance(parameters, FrequencyOf(m_channelNumber)),
                places,
                parameters.at("antenna_gain"),
                parameters.at("shadowing"),
                SHADOWING_STREAM);
    SetFade(std::nullopt, parameters.at("fade"));
    for (StationId id = 0; id < m_count; ++id)
    {
        SetFade(id, said.at(stations[id]).at("fade"));
    }
    BuildDevices(parameters);
    ApplyOutage();
}

void Radio::BuildDevices(const Json& parameters)
{
    auto channel = ns3::CreateObject<ns3::SingleModelSpectrumChannel>();
    channel->AddPropagationLossModel(m_loss);
    channel->SetPropagationDelayModel(ns3::CreateObject<ns3::ConstantSpeedPropagationDelayModel>());
    std::int64_t stream = FIRST_DEVICE_STREAM;
    for (StationId id = 0; id < m_count; ++id)
    {
        auto node = ns3::CreateObject<ns3::Node>();
        node->AggregateObject(m_circle.At(id));
        auto device = ns3::CreateObject<ns3::lrwpan::LrWpanNetDevice>();
        device->SetChannel(channel);
        node->AddDevice(device);
        device->SetNode(node);
        const auto phy = device->GetPhy();
        phy->SetMobility(m_circle.At(id));
        auto attributes = ns3::Create<ns3::lrwpan::PhyPibAttributes>();
        attributes->phyCurrentPage = parameters.at("channel_page");
        attributes->phyCurrentChannel = m_channelNumber;
        phy->PlmeSetAttributeRequest(ns3::lrwpan::phyCurrentChannel, attributes);
        phy->SetRxSensitivity(m_sensitivity);
        const auto mac = device->GetMac();
        mac->SetPanId(PAN_ID);
        mac->SetShortAddress(ns3::Mac16Address(static_cast<std::uint16_t>(id + 1)));
        mac->SetExtendedAddress(ns3::Mac64Address(static_cast<std::uint64_t>(id + 1)));
        mac->SetMacMaxFrameRetries(parameters.at("mac_max_frame_retries"));
        const auto csma = device->GetCsmaCa();
        csma->SetUnSlottedCsmaCa();
        csma->SetMacMaxBE(parameters.at("mac_max_be"));
        csma->SetMacMinBE(parameters.at("mac_min_be"));
        csma->SetMacMaxCSMABackoffs(parameters.at("mac_max_csma_backoffs"));
        stream += device->AssignStreams(stream);
        m_devices.push_back(device);
        ApplyTxPower(id);
    }
    m_noise = 10.0 * std::log10(ns3::lrwpan::LrWpanSpectrumValueHelper::TotalAvgPower(
                         m_devices.front()->GetPhy()->GetNoisePowerSpectralDensity(), m_channelNumber)) +
              30.0;
}

std::uint32_t Radio::PayloadRoom() const
{
    return ns3::lrwpan::aMaxPhyPacketSize - MAC_OVERHEAD - 2 * (m_extended ? 8 : 2);
}

double Radio::Power(StationId from, StationId to) const
{
    return m_loss->CalcRxPower(m_stations[from].txPower, m_circle.At(from), m_circle.At(to));
}

bool Radio::Reach(StationId a, StationId b, bool faded) const
{
    const double least = m_sensitivity - (faded ? 0.0 : m_loss->Fade(a, b));
    return Power(a, b) >= least && Power(b, a) >= least;
}

void Radio::SetTxPower(std::optional<StationId> station, double dBm)
{
    for (StationId id = 0; id < m_count; ++id)
    {
        auto& each = m_stations[id];
        if (station ? id == *station : !each.ownTxPower)
        {
            each.ownTxPower = station.has_value();
            each.txPower = dBm;
            ApplyTxPower(id);
        }
    }
}

void Radio::ApplyTxPower(StationId station)
{
    ns3::lrwpan::LrWpanSpectrumValueHelper values;
    m_devices[station]->GetPhy()->SetTxPowerSpectralDensity(
        values.CreateTxPowerSpectralDensity(m_stations[station].txPower, m_channelNumber));
}

void Radio::SetOutage(std::optional<StationId> station, bool off)
{
    (station ? m_stations.at(*station).off : m_allOff) = off;
    ApplyOutage();
}

void Radio::ApplyOutage()
{
    for (StationId id = 0; id < m_count; ++id)
    {
        m_loss->SetOff(id, IsOff(id));
    }
}

} // namespace netboxit
