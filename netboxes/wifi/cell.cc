// SPDX-License-Identifier: GPL-2.0-or-later
#include "cell.h"

#include "mesh_point.h"
#include "queue_scheduler.h"
#include "rate_control.h"
#include "remembered_modes.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/net-device-container.h"
#include "ns3/node.h"
#include "ns3/propagation-delay-model.h"
#include "ns3/ssid.h"
#include "ns3/string.h"
#include "ns3/threshold-preamble-detection-model.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-mac-queue.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-phy.h"
#include "ns3/wifi-remote-station-manager.h"
#include "ns3/yans-wifi-helper.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace netboxit
{

namespace
{

/// Random streams: of shadowing and fading, of devices, of mesh points, of those who wander.
constexpr std::int64_t PROPAGATION_STREAM = 10;
constexpr std::int64_t DEVICE_STREAM = 1000;
constexpr std::int64_t MESH_STREAM = 1'000'000;
constexpr std::int64_t MOTION_STREAM = 2'000'000;

/// Takes a whole factory of rate controls.
class Helper : public ns3::WifiHelper
{
  public:
    void SetRateControl(const ns3::ObjectFactory& factory)
    {
        m_stationManager.assign(1, factory);
    }
};

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
    phy.Set("RxNoiseFigure", ns3::DoubleValue(plan.noiseFigure));
    // A receiver that can decode weaker frames must not be deafened by ns-3's default floors.
    phy.Set("RxSensitivity", ns3::DoubleValue(std::min(plan.sensitivity, -101.0)));
    phy.Set("CcaSensitivity", ns3::DoubleValue(plan.sensitivity));
    return phy;
}

ns3::WifiMacHelper MacOf(const CellPlan& plan, const StationPlan& station)
{
    const ns3::SsidValue ssid(ns3::Ssid("netboxit"));
    const ns3::BooleanValue qos(plan.qos);
    ns3::WifiMacHelper mac;
    mac.SetMacQueueScheduler(QueueScheduler::GetTypeId().GetName());
    const auto type = plan.mode == Mode::AdHoc ? "ns3::AdhocWifiMac"
                      : station.accessPoint    ? "ns3::ApWifiMac"
                                               : "ns3::StaWifiMac";
    mac.SetType(type, "Ssid", ssid, "QosSupported", qos);
    return mac;
}

ns3::Ptr<ns3::WifiNetDevice> InstallOne(const CellPlan& plan,
                                        const StationPlan& station,
                                        const ns3::Ptr<Motion>& motion,
                                        const ns3::WifiHelper& wifi,
                                        const ns3::YansWifiPhyHelper& phy)
{
    auto node = ns3::CreateObject<ns3::Node>();
    node->AggregateObject(motion);
    auto device = plan.mode == Mode::Mesh
                      ? MakeMeshInterface(plan, node, phy)
                      : ns3::DynamicCast<ns3::WifiNetDevice>(wifi.Install(phy, MacOf(plan, station), node).Get(0));
    device->GetMac()->SetAttribute("FrameRetryLimit", ns3::UintegerValue(plan.retryLimit));
    // ns-3's own limits are 65535 octets for best effort and video, and none at all for the other two.
    for (const auto* category : {"BE", "BK", "VI", "VO"})
    {
        device->GetMac()->SetAttribute(std::string(category) + "_MaxAmpduSize", ns3::UintegerValue(plan.LongestAmpdu()));
    }
    for (const auto ac : {ns3::AC_BE, ns3::AC_BK, ns3::AC_VI, ns3::AC_VO, ns3::AC_BE_NQOS})
    {
        if (auto queue = device->GetMac()->GetTxopQueue(ac))
        {
            queue->SetMaxDelay(ns3::Seconds(plan.msduLifetime));
        }
    }
    device->GetPhy()->SetTxGain(station.antennaGain);
    device->GetPhy()->SetRxGain(station.antennaGain);
    if (plan.coverageClass > 0)
    {
        device->GetPhy()->SetSlot(device->GetPhy()->GetSlot() + ns3::MicroSeconds(3 * plan.coverageClass));
    }
    device->GetRemoteStationManager()->SetShortPreambleEnabled(plan.shortPreamble);
    SetTxPower(device, station.txPower);
    return device;
}

/// Distances count from where the access point stands at first.
std::vector<ns3::Ptr<Motion>> Motions(const CellPlan& plan)
{
    ns3::Vector accessPoint;
    for (const auto& station : plan.stations)
    {
        if (station.accessPoint)
        {
            accessPoint = Motion::From(station.motion, {}, MOTION_STREAM)->GetPosition();
        }
    }
    std::vector<ns3::Ptr<Motion>> motions;
    for (StationId id = 0; id < plan.stations.size(); ++id)
    {
        motions.push_back(
            Motion::From(plan.stations[id].motion, plan.PlaceOf(id, accessPoint), MOTION_STREAM + id));
    }
    return motions;
}

} // namespace

Cell BuildCell(const CellPlan& plan)
{
    auto channel = ns3::CreateObject<ns3::YansWifiChannel>();
    channel->SetPropagationDelayModel(ns3::CreateObject<ns3::ConstantSpeedPropagationDelayModel>());
    const auto phy = PhyOf(plan, channel);
    Helper wifi;
    wifi.SetStandard(StandardOf(plan));
    wifi.SetRateControl(RateControlOf(plan));

    Cell cell;
    cell.motions = Motions(plan);
    ns3::NetDeviceContainer container;
    for (StationId id = 0; id < plan.stations.size(); ++id)
    {
        cell.devices.push_back(InstallOne(plan, plan.stations[id], cell.motions[id], wifi, phy));
        container.Add(cell.devices.back());
    }
    RememberModes();
    // Loss depends on the centre frequency, known only once the devices are tuned.
    const double frequency = cell.devices.front()->GetPhy()->GetFrequency() * 1e6;
    cell.propagation = Propagation::Make(
        plan, frequency, {cell.motions.begin(), cell.motions.end()}, PROPAGATION_STREAM);
    channel->SetPropagationLossModel(cell.propagation);
    ns3::WifiHelper::AssignStreams(container, DEVICE_STREAM);
    if (plan.mode == Mode::Mesh)
    {
        for (StationId id = 0; id < plan.stations.size(); ++id)
        {
            cell.meshPoints.push_back(MakeMeshPoint(cell.devices[id], MESH_STREAM + 100 * id));
        }
    }
    return cell;
}

void SetTxPower(const ns3::Ptr<ns3::WifiNetDevice>& device, double dBm)
{
    // One power level: its start and its end.
    device->GetPhy()->SetTxPowerStart(dBm);
    device->GetPhy()->SetTxPowerEnd(dBm);
}

} // namespace netboxit
