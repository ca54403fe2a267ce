// SPDX-License-Identifier: GPL-2.0-or-later
#include "network.h"

#include "bearer_queue.h"
#include "bearers.h"
#include "carrier_managers.h"
#include "guaranteeing_scheduler.h"
#include "propagation.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/constant-position-mobility-model.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-generator.h"
#include "ns3/ipv6-address-generator.h"
#include "ns3/lte-amc.h"
#include "ns3/lte-enb-phy.h"
#include "ns3/lte-enb-rrc.h"
#include "ns3/lte-ue-phy.h"
#include "ns3/lte-ue-power-control.h"
#include "ns3/lte-ue-rrc.h"
#include "ns3/point-to-point-epc-helper.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace netboxit
{

namespace
{

/// Of S1-U, S5, S11 and X2: fast enough that a 1500-byte packet takes 0.1 us.
constexpr const char* CORE_RATE = "100Gb/s";
/// Bytes: a jumbo frame with the headers of GTP-U, UDP and IP.
constexpr std::uint64_t CORE_MTU = 10000;
/// Random streams: the LTE devices', and those of wandering stations (the channels' are in propagation.cc).
constexpr std::int64_t FIRST_STREAM = 1000;
constexpr std::int64_t WANDER_STREAM = 900'000;

/// The id that the helper gives its next cell. LteHelper keeps it to itself and always begins with 1. The name of a private member is
/// permitted as an argument of an explicit instantiation (C++20, [temp.spec], 6), which defines this function.
std::uint16_t& NextCellOf(ns3::LteHelper& helper);

template <std::uint16_t ns3::LteHelper::*NEXT_CELL>
struct CellNumbering
{
    friend std::uint16_t& NextCellOf(ns3::LteHelper& helper)
    {
        return helper.*NEXT_CELL;
    }
};

template struct CellNumbering<&ns3::LteHelper::m_cellIdCounter>;

/// Every so many ms a UE sounds the channel; as many UEs fit into a cell (TS 36.213, Table 8.2-1, without those of ns-3's 2 and 5 ms,
/// which leave no room for a UE that comes over).
std::uint64_t SoundingPeriod(std::size_t terminals)
{
    std::uint64_t period = 10;
    while (period < 2 * terminals && period < 320)
    {
        period *= 2;
    }
    return period;
}

/// Attributes that ns-3's LTE objects take when they are made, deep inside the helper.
void SetDefaults(const LtePlan& plan)
{
    using ns3::Config::SetDefault;
    static const std::map<std::string, ns3::LteEnbRrc::LteEpsBearerToRlcMapping_t> RLC{
        {"um", ns3::LteEnbRrc::RLC_UM_ALWAYS},
        {"am", ns3::LteEnbRrc::RLC_AM_ALWAYS},
        {"by-qci", ns3::LteEnbRrc::PER_BASED},
    };
    // The first of those that ns-3 knows to have the QCIs of mission-critical services.
    SetDefault("ns3::EpsBearer::Release", ns3::UintegerValue(15));
    SetDefault("ns3::LteEnbRrc::EpsBearerToRlcMapping", ns3::EnumValue(RLC.at(plan.rlc)));
    SetDefault("ns3::LteEnbRrc::SrsPeriodicity", ns3::UintegerValue(SoundingPeriod(plan.stations.size())));
    static const std::map<std::string, ns3::LteAmc::AmcModel> ADAPTATION{{"error-model", ns3::LteAmc::MiErrorModel},
                                                                         {"piro", ns3::LteAmc::PiroEW2010}};
    SetDefault("ns3::LteAmc::AmcModel", ns3::EnumValue(ADAPTATION.at(plan.adaptation)));
    SetDefault("ns3::LteEnbRrc::DefaultTransmissionMode", ns3::UintegerValue(plan.transmissionMode));
    // The target waits for the UE while its answer goes back over X2, and while it tries random access (ns-3: 50 times 7 ms at most); the
    // source waits besides until the path is switched and X2 says so.
    const auto joining = ns3::MilliSeconds(500) + ns3::Seconds(plan.x2Delay);
    SetDefault("ns3::LteEnbRrc::HandoverJoiningTimeoutDuration", ns3::TimeValue(joining));
    SetDefault("ns3::LteEnbRrc::HandoverLeavingTimeoutDuration",
               ns3::TimeValue(joining + ns3::MilliSeconds(200) + ns3::Seconds(plan.x2Delay + 2.0 * plan.coreDelay)));
    // What waits is in the bearers' own queues (BearerQueue): RLC refuses nothing.
    SetDefault("ns3::LteRlcAm::MaxTxBufferSize", ns3::UintegerValue(BearerQueue::RLC_ROOM));
    SetDefault("ns3::LteRlcUm::MaxTxBufferSize", ns3::UintegerValue(BearerQueue::RLC_ROOM));
    SetDefault("ns3::LteRlcUm::EnablePdcpDiscarding", ns3::BooleanValue(false));
    SetDefault("ns3::LteUePhy::EnableUplinkPowerControl", ns3::BooleanValue(plan.uplinkPowerControl));
    SetDefault("ns3::LteUePhy::NoiseFigure", ns3::DoubleValue(plan.terminalNoiseFigure));
    SetDefault("ns3::LteEnbPhy::NoiseFigure", ns3::DoubleValue(plan.noiseFigure));
    for (const std::string link : {"S1uLink", "S5Link", "S11Link", "X2Link"})
    {
        const auto owner = link == "S1uLink" ? "ns3::PointToPointEpcHelper::" : "ns3::NoBackhaulEpcHelper::";
        SetDefault(owner + link + "DataRate", ns3::DataRateValue(ns3::DataRate(CORE_RATE)));
        SetDefault(owner + link + "Mtu", ns3::UintegerValue(CORE_MTU));
    }
    SetDefault("ns3::PointToPointEpcHelper::S1uLinkDelay", ns3::TimeValue(ns3::Seconds(plan.coreDelay)));
    SetDefault("ns3::NoBackhaulEpcHelper::X2LinkDelay", ns3::TimeValue(ns3::Seconds(plan.x2Delay)));
}

void ChooseHandover(ns3::LteHelper& helper, const LtePlan& plan)
{
    if (plan.handover == "a3-rsrp")
    {
        helper.SetHandoverAlgorithmType("ns3::A3RsrpHandoverAlgorithm");
        helper.SetHandoverAlgorithmAttribute("Hysteresis", ns3::DoubleValue(plan.handoverHysteresis));
        helper.SetHandoverAlgorithmAttribute("TimeToTrigger", ns3::TimeValue(ns3::Seconds(plan.timeToTrigger)));
    }
    else if (plan.handover == "a2-a4-rsrq")
    {
        helper.SetHandoverAlgorithmType("ns3::A2A4RsrqHandoverAlgorithm");
        // RSRQ is reported in steps of 0.5 dB (TS 36.133, 9.1.7).
        helper.SetHandoverAlgorithmAttribute(
            "NeighbourCellOffset", ns3::UintegerValue(std::lround(plan.handoverHysteresis * 2.0)));
    }
    else
    {
        helper.SetHandoverAlgorithmType("ns3::NoOpHandoverAlgorithm");
    }
}

ns3::Ptr<ns3::LteHelper> HelperOf(const LtePlan& plan, const ns3::Ptr<ns3::EpcHelper>& core)
{
    static const std::map<std::string, std::string> SCHEDULERS{
        {"pf", "Pf"},       {"rr", "Rr"},         {"fdmt", "FdMt"},     {"tdmt", "TdMt"}, {"tta", "Tta"},
        {"fdbet", "FdBet"}, {"tdbet", "TdBet"},   {"fdtbfq", "FdTbfq"}, {"tdtbfq", "TdTbfq"},
        {"pss", "Pss"},     {"cqa", "Cqa"}};
    auto helper = ns3::CreateObject<ns3::LteHelper>();
    helper->SetEpcHelper(core);
    helper->SetEnbComponentCarrierManagerType(EnodebCarrierManager::GetTypeId().GetName());
    helper->SetUeComponentCarrierManagerType(TerminalCarrierManager::GetTypeId().GetName());
    helper->SetSchedulerType(GuaranteeingScheduler::GetTypeId().GetName());
    helper->SetSchedulerAttribute("Inner", ns3::StringValue("ns3::" + SCHEDULERS.at(plan.scheduler) + "FfMacScheduler"));
    helper->SetSchedulerAttribute("HarqEnabled", ns3::BooleanValue(plan.harq));
    helper->SetSchedulerAttribute("Acknowledged", ns3::BooleanValue(plan.rlc != "um"));
    helper->SetSchedulerAttribute("Upholds", ns3::BooleanValue(plan.upholdGuarantees));
    helper->SetSpectrumChannelType("ns3::MultiModelSpectrumChannel");
    helper->SetEnbDeviceAttribute("DlBandwidth", ns3::UintegerValue(plan.resourceBlocks));
    helper->SetEnbDeviceAttribute("UlBandwidth", ns3::UintegerValue(plan.resourceBlocks));
    helper->SetEnbDeviceAttribute("DlEarfcn", ns3::UintegerValue(plan.downlinkEarfcn));
    helper->SetEnbDeviceAttribute("UlEarfcn", ns3::UintegerValue(plan.uplinkEarfcn));
    helper->SetUeDeviceAttribute("DlEarfcn", ns3::UintegerValue(plan.downlinkEarfcn));
    helper->SetEnbAntennaModelType("ns3::IsotropicAntennaModel");
    helper->SetEnbAntennaModelAttribute("Gain", ns3::DoubleValue(plan.antennaGain));
    helper->SetUeAntennaModelType("ns3::IsotropicAntennaModel");
    helper->SetUeAntennaModelAttribute("Gain", ns3::DoubleValue(plan.terminalGain));
    ChoosePropagation(*helper, plan);
    ChooseHandover(*helper, plan);
    return helper;
}

void AddEnodebs(LteNetwork& network, const LtePlan& plan)
{
    ns3::NodeContainer nodes;
    nodes.Create(plan.enodebs.size());
    for (std::size_t i = 0; i < plan.enodebs.size(); ++i)
    {
        auto mobility = ns3::CreateObject<ns3::ConstantPositionMobilityModel>();
        mobility->SetPosition(VectorOf(plan.enodebs[i].position));
        nodes.Get(i)->AggregateObject(mobility);
        network.sites.push_back(mobility);
    }
    static std::uint16_t nextCell = 1; // of the process
    NextCellOf(*network.helper) = nextCell;
    const auto devices = network.helper->InstallEnbDevice(nodes);
    nextCell = NextCellOf(*network.helper);
    for (std::size_t i = 0; i < plan.enodebs.size(); ++i)
    {
        network.enodebs.push_back(ns3::DynamicCast<ns3::LteEnbNetDevice>(devices.Get(i)));
        SetTxPower(network.enodebs.back(), plan.enodebs[i].txPower);
    }
    network.helper->AddX2Interface(nodes);
    network.helper->AssignStreams(devices, FIRST_STREAM);
}

void AddTerminals(LteNetwork& network, const LtePlan& plan, ns3::EpcHelper& core)
{
    network.terminals.resize(plan.stations.size());
    network.motions.resize(plan.stations.size());
    network.addresses.resize(plan.stations.size());
    ns3::NodeContainer nodes;
    std::vector<StationId> ids;
    for (StationId id = 0; id < plan.stations.size(); ++id)
    {
        if (!plan.stations[id].gateway)
        {
            auto node = ns3::CreateObject<ns3::Node>();
            network.motions[id] = Motion::From(plan.stations[id].place,
                                               PlaceAround(plan, id, plan.stations[id].distance),
                                               WANDER_STREAM + id);
            node->AggregateObject(network.motions[id]);
            network.attenuation->Of(network.motions[id]) = plan.stations[id].loss;
            nodes.Add(node);
            ids.push_back(id);
        }
    }
    const auto devices = network.helper->InstallUeDevice(nodes);
    // The core asks the IP stack of a UE for its address; nothing else of the stack is used.
    ns3::InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    internet.Install(nodes);
    const auto addresses = core.AssignUeIpv4Address(devices);
    for (std::size_t i = 0; i < ids.size(); ++i)
    {
        const auto device = ns3::DynamicCast<ns3::LteUeNetDevice>(devices.Get(i));
        network.terminals[ids[i]] = device;
        network.addresses[ids[i]] = addresses.GetAddress(i);
        SetTxPower(device, plan.stations[ids[i]].txPower);
    }
    network.helper->AssignStreams(devices, FIRST_STREAM + 1000 * static_cast<std::int64_t>(plan.enodebs.size()));
    network.helper->Attach(devices);
    for (const auto id : ids)
    {
        for (const auto& bearer : plan.stations[id].bearers)
        {
            ActivateBearer(*network.helper, network.terminals[id], bearer);
        }
    }
}

} // namespace

std::optional<std::size_t> LteNetwork::IndexOf(std::uint16_t cell) const
{
    const auto found = std::ranges::find(enodebs, cell, [](const auto& enodeb) { return enodeb->GetCellId(); });
    return found == enodebs.end() ? std::nullopt : std::optional<std::size_t>(found - enodebs.begin());
}

ns3::Ipv4Address Everyone()
{
    return ns3::Ipv4Address::GetBroadcast();
}

LteNetwork BuildNetwork(const LtePlan& plan)
{
    SetDefaults(plan);
    // The core's addresses are seen by nobody outside; those of another cell in this process may be the same.
    ns3::Ipv4AddressGenerator::Reset();
    ns3::Ipv6AddressGenerator::Reset();
    auto core = ns3::CreateObject<ns3::PointToPointEpcHelper>();
    LteNetwork network;
    network.helper = HelperOf(plan, core);
    AddEnodebs(network, plan);
    AddFading(*network.helper, plan);
    network.attenuation = AddAttenuation(*network.helper, plan);
    for (std::size_t i = 0; i < network.sites.size(); ++i)
    {
        network.attenuation->Of(network.sites[i]).isOff = plan.enodebs[i].isOff;
    }
    AddTerminals(network, plan, *core);
    for (const auto& enodeb : network.enodebs)
    {
        TellPriorities(enodeb, network, plan);
    }
    const auto pgw = core->GetPgwNode();
    for (std::uint32_t i = 0; i < pgw->GetNDevices() && !network.sgi; ++i)
    {
        network.sgi = ns3::DynamicCast<ns3::VirtualNetDevice>(pgw->GetDevice(i));
    }
    network.addresses[plan.gateway] = core->GetUeDefaultGatewayAddress();
    return network;
}

ns3::Vector PlaceAround(const LtePlan& plan, StationId id, double distance)
{
    const auto centre = VectorOf(plan.enodebs.front().position);
    const double angle = 2.0 * std::numbers::pi * id / static_cast<double>(plan.stations.size());
    return {centre.x + distance * std::cos(angle), centre.y + distance * std::sin(angle), plan.terminalHeight};
}

void SetTxPower(const ns3::Ptr<ns3::LteEnbNetDevice>& enodeb, double dBm)
{
    enodeb->GetPhy()->SetTxPower(dBm);
}

void SetTxPower(const ns3::Ptr<ns3::LteUeNetDevice>& terminal, double dBm)
{
    terminal->GetPhy()->SetTxPower(dBm);
    terminal->GetPhy()->GetUplinkPowerControl()->SetPcmax(dBm);
}

} // namespace netboxit
