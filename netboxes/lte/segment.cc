// SPDX-License-Identifier: GPL-2.0-or-later
#include "../engine/live_number.h"
#include "../engine/station_parameter.h"

#include "carrier_packet.h"
#include "network.h"
#include "terminal.h"

#include "ns3/lte-enb-rrc.h"
#include "ns3/lte-radio-bearer-info.h"
#include "ns3/lte-rlc.h"
#include "ns3/object-map.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <array>

namespace netboxit
{

namespace
{

/// What can be changed while the segment runs; the limits are those of parameters.py.
constexpr std::array LIVE_NUMBERS{
    LiveNumber{"distance", 1.0, 100e3, "m"},
    LiveNumber{"tx_power", -30.0, 60.0, "dBm"},
    LiveNumber{"ue_tx_power", -40.0, 33.0, "dBm"},
};
constexpr std::array LIVE_NUMBERS_OF_STATION{
    LiveNumber{"distance", 1.0, 100e3, "m"},
    LiveNumber{"tx_power", -40.0, 33.0, "dBm"},
};
/// ns-3 gives data radio bearer n the logical channel n + 2, and tells the one at a UE and the other at an eNodeB.
constexpr int FIRST_CHANNEL = 2;
constexpr double FARTHEST = 1000e3; ///< m, of a coordinate (netboxes/mobility/stations.py)
/// A UE in reach of a cell is connected within 0.3 s; one that is not by then does not hold up the others.
const ns3::Time LONGEST_ATTACH = ns3::Seconds(2);

} // namespace

/// One LTE network: its cells, its core, and its UEs.
class LteSegment : public Segment
{
  public:
    explicit LteSegment(const SegmentSetup& setup)
        : m_names(setup.stations), m_plan(setup.parameters, setup.stations, setup.classes),
          m_network(BuildNetwork(m_plan)), m_fates(setup.fates)
    {
        for (const auto& enodeb : m_plan.enodebs)
        {
            m_cellNames.push_back(enodeb.name);
        }
        m_terminals.resize(m_plan.stations.size());
        for (StationId id = 0; id < m_plan.stations.size(); ++id)
        {
            if (m_plan.stations[id].gateway)
            {
                continue;
            }
            m_terminals[id] = std::make_unique<Terminal>(id,
                                                         m_plan.stations[id],
                                                         setup.classes.size(),
                                                         m_network.terminals[id],
                                                         m_network.addresses[id],
                                                         m_network.motions[id],
                                                         m_cellNames,
                                                         setup.fates,
                                                         setup.announcements);
            m_byAddress.emplace(m_network.addresses[id].Get(), m_terminals[id].get());
            m_network.terminals[id]->GetRrc()->TraceConnectWithoutContext(
                "DrbCreated", ns3::MakeCallback(&LteSegment::BearerOfTerminal, this));
        }
        for (const auto& enodeb : m_network.enodebs)
        {
            enodeb->GetRrc()->TraceConnectWithoutContext("NewUeContext",
                                                         ns3::MakeCallback(&LteSegment::TerminalInCell, this));
        }
        m_network.sgi->SetReceiveCallback(ns3::MakeCallback(&LteSegment::FromCore, this));
        ns3::Simulator::Schedule(LONGEST_ATTACH, &LteSegment::StopWaiting, this);
    }

    void Transmit(StationId from, Destination to, const Frame& frame) override
    {
        if (from == m_plan.gateway)
        {
            ++m_sent;
            Downward(from, to, frame.slot, frame);
            return;
        }
        m_terminals[from]->SendUp(to, frame, to.station ? m_network.addresses[*to.station] : Everyone());
    }

    void Set(std::string_view name, const Json& value) override
    {
        const auto [station, parameter] = TargetOf(name, m_names);
        if (station)
        {
            SetOfStation(*station, parameter, value);
            return;
        }
        const double checked = CheckLive("lte", LIVE_NUMBERS, parameter, value);
        if (parameter == "tx_power")
        {
            for (std::size_t i = 0; i < m_plan.enodebs.size(); ++i)
            {
                if (!m_plan.enodebs[i].ownTxPower)
                {
                    SetTxPower(m_network.enodebs[i], checked);
                }
            }
            return;
        }
        for (const auto& terminal : m_terminals)
        {
            if (terminal && parameter == "distance" && !terminal->Plan().ownDistance && terminal->Plan().place.empty())
            {
                terminal->TheMotion()->SetPosition(PlaceAround(m_plan, terminal->Id(), checked));
            }
            else if (terminal && parameter == "ue_tx_power" && !terminal->Plan().ownTxPower)
            {
                SetTxPower(terminal->Device(), checked);
            }
        }
    }

    Json Read() const override
    {
        Json stations = Json::object();
        for (StationId id = 0; id < m_terminals.size(); ++id)
        {
            stations[m_names[id]] =
                m_terminals[id] ? m_terminals[id]->Read() : Json{{"sent", m_sent}, {"received", m_received}};
        }
        return {{"stations", stations}};
    }

    void Begin() override
    {
        for (const auto& motion : m_network.motions)
        {
            if (motion)
            {
                motion->Begin();
            }
        }
    }

    bool Ready() const override
    {
        return std::ranges::all_of(
            m_terminals, [](const auto& terminal) { return !terminal || terminal->IsConnected() || terminal->IsDown(); });
    }

  private:
    /// From the core to one UE, or one copy to each but the sender.
    void Downward(StationId from, Destination to, SlotId slot, const Frame& frame)
    {
        for (const auto& terminal : m_terminals)
        {
            const bool meant = terminal && (to.station ? terminal->Id() == *to.station : terminal->Id() != from);
            if (meant && terminal->LeavesCore(slot, frame.trafficClass))
            {
                m_network.sgi->Send(
                    CarrierPacket::Make(frame, m_network.addresses[m_plan.gateway], terminal->Address()),
                    ns3::Mac48Address::GetBroadcast(),
                    ether_type::IPV4);
            }
        }
    }

    /// What UEs send comes out of the PGW here.
    bool FromCore(ns3::Ptr<ns3::NetDevice>,
                  ns3::Ptr<const ns3::Packet> packet,
                  std::uint16_t,
                  const ns3::Address&)
    {
        const auto carried = CarrierPacket::Read(packet);
        const auto sender = carried ? m_byAddress.find(carried->source.Get()) : m_byAddress.end();
        if (sender == m_byAddress.end() || !sender->second->ArrivedAtCore(carried->slot, carried->trafficClass))
        {
            return true;
        }
        const Frame frame{.slot = carried->slot, .length = packet->GetSize(), .trafficClass = carried->trafficClass};
        const bool everyone = carried->destination == Everyone();
        const auto receiver = m_byAddress.find(carried->destination.Get());
        if (receiver != m_byAddress.end())
        {
            Downward(sender->second->Id(), {receiver->second->Id()}, carried->slot, frame);
            return true;
        }
        if (everyone)
        {
            Downward(sender->second->Id(), {}, carried->slot, frame);
        }
        ++m_received;
        m_fates.Deliver(carried->slot, m_plan.gateway);
        return true;
    }

    void StopWaiting()
    {
        for (const auto& terminal : m_terminals)
        {
            if (terminal)
            {
                terminal->GiveUpWaiting();
            }
        }
    }

    void SetOfStation(StationId id, std::string_view parameter, const Json& value)
    {
        if (!m_terminals[id])
        {
            throw UnknownParameter("lte: " + m_names[id] + " is the gateway, of which nothing can be changed");
        }
        const auto& terminal = *m_terminals[id];
        if (parameter == "position")
        {
            terminal.TheMotion()->SetPosition(PositionFrom(value));
            return;
        }
        const double checked = CheckLive("lte", LIVE_NUMBERS_OF_STATION, parameter, value, "position");
        if (parameter == "distance")
        {
            terminal.TheMotion()->SetPosition(PlaceAround(m_plan, id, checked));
        }
        else
        {
            SetTxPower(terminal.Device(), checked);
        }
    }

    ns3::Vector PositionFrom(const Json& value) const
    {
        const bool whole = value.is_array() && value.size() == 3 &&
                           std::ranges::all_of(value, [](const auto& coordinate) {
                               return coordinate.is_number() && std::abs(coordinate.template get<double>()) <= FARTHEST;
                           });
        if (!whole || (m_plan.propagation == "okumura-hata" && value.at(2).get<double>() < 0.0))
        {
            throw OutOfRange("lte: a position is [x, y, z] in m, each from -1000000 to 1000000, not " + value.dump() +
                             "; with okumura-hata z is at least 0, a height above ground");
        }
        return {value.at(0), value.at(1), value.at(2).get<double>() + m_plan.terminalHeight};
    }

    /// A UE has got a bearer: its RLC entity is to say what it refuses.
    void BearerOfTerminal(std::uint64_t imsi, std::uint16_t, std::uint16_t, std::uint8_t identity)
    {
        const auto found = std::ranges::find_if(m_network.terminals, [imsi](const auto& device) {
            return device && device->GetImsi() == imsi;
        });
        ns3::ObjectMapValue bearers;
        (*found)->GetRrc()->GetAttribute("DataRadioBearerMap", bearers);
        Watch(bearers, identity, ns3::MakeCallback(&LteSegment::RefusedUp, this));
    }

    void TerminalInCell(std::uint16_t cell, std::uint16_t rnti)
    {
        m_network.enodebs.at(cell - 1)->GetRrc()->GetUeManager(rnti)->TraceConnectWithoutContext(
            "DrbCreated", ns3::MakeCallback(&LteSegment::BearerInCell, this));
    }

    void BearerInCell(std::uint64_t, std::uint16_t cell, std::uint16_t rnti, std::uint8_t channel)
    {
        ns3::ObjectMapValue bearers;
        m_network.enodebs.at(cell - 1)->GetRrc()->GetUeManager(rnti)->GetAttribute("DataRadioBearerMap", bearers);
        Watch(bearers, channel - FIRST_CHANNEL, ns3::MakeCallback(&LteSegment::RefusedDown, this));
    }

    static void Watch(const ns3::ObjectMapValue& bearers,
                      int identity,
                      const ns3::Callback<void, ns3::Ptr<const ns3::Packet>>& refused)
    {
        for (auto each = bearers.Begin(); each != bearers.End(); ++each)
        {
            const auto bearer = ns3::DynamicCast<ns3::LteDataRadioBearerInfo>(each->second);
            if (bearer && bearer->m_drbIdentity == identity)
            {
                bearer->m_rlc->TraceConnectWithoutContext("TxDrop", refused);
            }
        }
    }

    void RefusedUp(ns3::Ptr<const ns3::Packet> pdu)
    {
        const auto carried = CarrierPacket::Read(pdu, PDCP_HEADER);
        const auto found = carried ? m_byAddress.find(carried->source.Get()) : m_byAddress.end();
        if (found != m_byAddress.end())
        {
            found->second->Refused(carried->slot, carried->trafficClass, true);
        }
    }

    void RefusedDown(ns3::Ptr<const ns3::Packet> pdu)
    {
        const auto carried = CarrierPacket::Read(pdu, PDCP_HEADER);
        const auto found = carried ? m_byAddress.find(carried->destination.Get()) : m_byAddress.end();
        if (found != m_byAddress.end())
        {
            found->second->Refused(carried->slot, carried->trafficClass, false);
        }
    }

    std::vector<std::string> m_names;
    LtePlan m_plan;
    LteNetwork m_network;
    Fates& m_fates;
    std::vector<std::string> m_cellNames;
    std::vector<std::unique_ptr<Terminal>> m_terminals; ///< by StationId, null for the gateway
    std::map<std::uint32_t, Terminal*> m_byAddress;
    std::uint64_t m_sent{};
    std::uint64_t m_received{};
};

std::unique_ptr<Segment> MakeSegment(const SegmentSetup& setup)
{
    return std::make_unique<LteSegment>(setup);
}

} // namespace netboxit
