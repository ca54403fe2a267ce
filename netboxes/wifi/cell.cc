// SPDX-License-Identifier: GPL-2.0-or-later
#include "cell.h"

#include "queue_scheduler.h"
#include "remembered_modes.h"

#include "ns3/boolean.h"
#include "ns3/constant-position-mobility-model.h"
#include "ns3/double.h"
#include "ns3/mobility-model.h"
#include "ns3/net-device-container.h"
#include "ns3/node.h"
#include "ns3/propagation-delay-model.h"
#include "ns3/propagation-loss-model.h"
#include "ns3/ssid.h"
#include "ns3/string.h"
#include "ns3/threshold-preamble-detection-model.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-mac-queue.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-phy.h"
#include "ns3/yans-wifi-helper.h"

#include <cmath>
#include <map>
#include <numbers>
#include <sstream>

namespace netboxit
{

namespace
{

constexpr double SPEED_OF_LIGHT = 299792458.0;
/// In m: propagation takes less than a SIGNAL field, 4 us. ns-3 aborts when a hidden station's frame arrives
/// at the very end of another one's SIGNAL field (stations that hear the same access point from the same
/// distance are in step to the nanosecond) and was sent before that field began. Past 1.35 km
/// acknowledgements come too late anyway (two ways in a slot of 9 us, no coverage class).
constexpr double LONGEST_RANGE = 1190.0;
/// Random streams: the devices' from here on; the channel draws none with the propagation models offered.
constexpr std::int64_t FIRST_STREAM = 1000;

ns3::WifiStandard StandardOf(const std::string& name)
{
    static const std::map<std::string, ns3::WifiStandard> STANDARDS{
        {"802.11a", ns3::WIFI_STANDARD_80211a},
        {"802.11g", ns3::WIFI_STANDARD_80211g},
        {"802.11n", ns3::WIFI_STANDARD_80211n},
        {"802.11ac", ns3::WIFI_STANDARD_80211ac},
        {"802.11ax", ns3::WIFI_STANDARD_80211ax},
    };
    return STANDARDS.at(name);
}

/// ns-3's name of the fixed mode that `rate` or `mcs` stands for.
std::string DataMode(const CellPlan& plan)
{
    if (plan.standard == "802.11a" || plan.standard == "802.11g")
    {
        const auto family = plan.standard == "802.11g" ? "ErpOfdmRate" : "OfdmRate";
        return family + std::to_string(std::lround(plan.rate / 1e6)) + "Mbps";
    }
    const auto family = plan.standard == "802.11n"    ? "HtMcs"
                        : plan.standard == "802.11ac" ? "VhtMcs"
                                                      : "HeMcs";
    return family + std::to_string(plan.mcs);
}

void ChooseRateControl(ns3::WifiHelper& wifi, const CellPlan& plan)
{
    const ns3::UintegerValue rtsThreshold(plan.rtsThreshold);
    if (plan.rateControl == "constant")
    {
        // The control mode is that of RTS frames: the most robust one that every station of the band
        // understands.
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                     "DataMode",
                                     ns3::StringValue(DataMode(plan)),
                                     "ControlMode",
                                     ns3::StringValue(plan.band < 3e9 ? "ErpOfdmRate6Mbps" : "OfdmRate6Mbps"),
                                     "RtsCtsThreshold",
                                     rtsThreshold);
        return;
    }
    const bool highThroughput = plan.standard != "802.11a" && plan.standard != "802.11g";
    const std::map<std::string, std::string> managers{
        {"ideal", "ns3::IdealWifiManager"},
        {"minstrel", highThroughput ? "ns3::MinstrelHtWifiManager" : "ns3::MinstrelWifiManager"},
        {"arf", "ns3::ArfWifiManager"},
        {"aarf", "ns3::AarfWifiManager"},
    };
    wifi.SetRemoteStationManager(managers.at(plan.rateControl), "RtsCtsThreshold", rtsThreshold);
}

/// ns-3's channel settings: number, width, band, index of the primary 20 MHz channel.
std::string ChannelSettings(const CellPlan& plan)
{
    std::ostringstream settings;
    settings << '{' << plan.channel << ", " << plan.channelWidth / 1e6 << ", "
             << (plan.band < 3e9 ? "BAND_2_4GHZ" : "BAND_5GHZ") << ", 0}";
    return settings.str();
}

ns3::YansWifiPhyHelper PhyOf(const CellPlan& plan, const ns3::Ptr<ns3::YansWifiChannel>& channel)
{
    static const std::map<std::string, std::string> ERROR_MODELS{
        {"table", "ns3::TableBasedErrorRateModel"},
        {"nist", "ns3::NistErrorRateModel"},
        {"yans", "ns3::YansErrorRateModel"},
    };
    ns3::YansWifiPhyHelper phy;
    phy.SetChannel(channel);
    phy.SetErrorRateModel(ERROR_MODELS.at(plan.errorModel));
    phy.SetPreambleDetectionModel(
        "ns3::ThresholdPreambleDetectionModel", "MinimumRssi", ns3::DoubleValue(plan.sensitivity));
    phy.Set("ChannelSettings", ns3::StringValue(ChannelSettings(plan)));
    phy.Set("TxGain", ns3::DoubleValue(plan.antennaGain));
    phy.Set("RxGain", ns3::DoubleValue(plan.antennaGain));
    phy.Set("RxNoiseFigure", ns3::DoubleValue(plan.noiseFigure));
    // A receiver that can decode weaker frames must not be deafened by ns-3's default floors.
    phy.Set("RxSensitivity", ns3::DoubleValue(std::min(plan.sensitivity, -101.0)));
    phy.Set("CcaSensitivity", ns3::DoubleValue(plan.sensitivity));
    return phy;
}

/// Loss depends on the centre frequency, known only once the devices are tuned.
void SetPropagation(const CellPlan& plan, const ns3::Ptr<ns3::YansWifiChannel>& channel, double frequency)
{
    ns3::Ptr<ns3::PropagationLossModel> loss;
    if (plan.propagation == "friis")
    {
        auto friis = ns3::CreateObject<ns3::FriisPropagationLossModel>();
        friis->SetFrequency(frequency);
        loss = friis;
    }
    else
    {
        auto logDistance = ns3::CreateObject<ns3::LogDistancePropagationLossModel>();
        const double friisAtOneMetre = 20.0 * std::log10(4.0 * std::numbers::pi * frequency / SPEED_OF_LIGHT);
        logDistance->SetPathLossExponent(plan.pathLossExponent);
        logDistance->SetReference(1.0, friisAtOneMetre);
        loss = logDistance;
    }
    auto range = ns3::CreateObject<ns3::RangePropagationLossModel>();
    range->SetAttribute("MaxRange", ns3::DoubleValue(LONGEST_RANGE));
    loss->SetNext(range);
    channel->SetPropagationLossModel(loss);
}

ns3::Ptr<ns3::WifiNetDevice> InstallOne(const CellPlan& plan,
                                        StationId id,
                                        const ns3::WifiHelper& wifi,
                                        const ns3::YansWifiPhyHelper& phy)
{
    const ns3::SsidValue ssid(ns3::Ssid("netboxit"));
    ns3::WifiMacHelper mac;
    mac.SetMacQueueScheduler(QueueScheduler::GetTypeId().GetName());
    if (plan.stations[id].accessPoint)
    {
        mac.SetType("ns3::ApWifiMac", "Ssid", ssid, "QosSupported", ns3::BooleanValue(plan.qos));
    }
    else
    {
        mac.SetType("ns3::StaWifiMac", "Ssid", ssid, "QosSupported", ns3::BooleanValue(plan.qos));
    }
    auto node = ns3::CreateObject<ns3::Node>();
    node->AggregateObject(ns3::CreateObject<ns3::ConstantPositionMobilityModel>());
    auto device = ns3::DynamicCast<ns3::WifiNetDevice>(wifi.Install(phy, mac, node).Get(0));
    device->GetMac()->SetAttribute("FrameRetryLimit", ns3::UintegerValue(plan.retryLimit));
    for (const auto ac : {ns3::AC_BE, ns3::AC_BK, ns3::AC_VI, ns3::AC_VO, ns3::AC_BE_NQOS})
    {
        if (auto queue = device->GetMac()->GetTxopQueue(ac))
        {
            queue->SetMaxSize(ns3::QueueSize(ns3::QueueSizeUnit::PACKETS, plan.queueSize));
            queue->SetMaxDelay(ns3::Seconds(plan.queueLifetime));
        }
    }
    SetTxPower(device, plan.stations[id].txPower);
    Place(plan, id, device);
    return device;
}

} // namespace

CellPlan::CellPlan(const Json& parameters, const std::vector<std::string>& stationNames)
    : standard(parameters.at("standard")), band(parameters.at("band")),
      channel(parameters.at("channel").is_null() ? 0 : parameters.at("channel").get<std::uint16_t>()),
      channelWidth(parameters.at("channel_width")), propagation(parameters.at("propagation")),
      pathLossExponent(parameters.at("path_loss_exponent")), antennaGain(parameters.at("antenna_gain")),
      noiseFigure(parameters.at("noise_figure")), sensitivity(parameters.at("sensitivity")),
      errorModel(parameters.at("error_model")), rateControl(parameters.at("rate_control")),
      rate(parameters.at("rate").is_null() ? 0.0 : parameters.at("rate").get<double>()),
      mcs(parameters.at("mcs").is_null() ? 0 : parameters.at("mcs").get<int>()), qos(parameters.at("qos")),
      retryLimit(parameters.at("retry_limit")), rtsThreshold(parameters.at("rts_threshold").get<double>()),
      queueSize(parameters.at("queue_size")), queueLifetime(parameters.at("queue_lifetime"))
{
    for (const auto& name : stationNames)
    {
        const auto& station = parameters.at("stations").at(name);
        const bool ownDistance = !station.at("distance").is_null();
        const bool ownTxPower = !station.at("tx_power").is_null();
        stations.push_back({.accessPoint = station.at("role") == "access-point",
                            .distance = ownDistance ? station.at("distance") : parameters.at("distance"),
                            .txPower = ownTxPower ? station.at("tx_power") : parameters.at("tx_power"),
                            .ownDistance = ownDistance,
                            .ownTxPower = ownTxPower});
    }
}

std::vector<ns3::Ptr<ns3::WifiNetDevice>> BuildCell(const CellPlan& plan)
{
    auto channel = ns3::CreateObject<ns3::YansWifiChannel>();
    channel->SetPropagationDelayModel(ns3::CreateObject<ns3::ConstantSpeedPropagationDelayModel>());
    const auto phy = PhyOf(plan, channel);
    ns3::WifiHelper wifi;
    wifi.SetStandard(StandardOf(plan.standard));
    ChooseRateControl(wifi, plan);

    std::vector<ns3::Ptr<ns3::WifiNetDevice>> devices;
    ns3::NetDeviceContainer container;
    for (StationId id = 0; id < plan.stations.size(); ++id)
    {
        devices.push_back(InstallOne(plan, id, wifi, phy));
        container.Add(devices.back());
    }
    RememberModes();
    SetPropagation(plan, channel, devices.front()->GetPhy()->GetFrequency() * 1e6);
    ns3::WifiHelper::AssignStreams(container, FIRST_STREAM);
    return devices;
}

void Place(const CellPlan& plan, StationId id, const ns3::Ptr<ns3::WifiNetDevice>& device)
{
    const auto& station = plan.stations[id];
    const double radius = station.accessPoint ? 0.0 : station.distance;
    const double angle = 2.0 * std::numbers::pi * id / static_cast<double>(plan.stations.size());
    device->GetNode()->GetObject<ns3::MobilityModel>()->SetPosition(
        ns3::Vector(radius * std::cos(angle), radius * std::sin(angle), 0.0));
}

void SetTxPower(const ns3::Ptr<ns3::WifiNetDevice>& device, double dBm)
{
    // One power level: its start and its end.
    device->GetPhy()->SetTxPowerStart(dBm);
    device->GetPhy()->SetTxPowerEnd(dBm);
}

} // namespace netboxit
