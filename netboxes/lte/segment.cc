// SPDX-License-Identifier: GPL-2.0-or-later
#include "bearer_queues.h"
#include "bearers.h"
#include "carrier_packet.h"
#include "handover_guard.h"
#include "link_rates.h"
#include "live_changes.h"
#include "network.h"
#include "terminal.h"

#include "ns3/lte-enb-phy.h"
#include "ns3/lte-enb-rrc.h"
#include "ns3/lte-spectrum-phy.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace netboxit
{

namespace
{

/// A UE in reach of a cell is connected within 0.3 s; one that is not by then does not hold up the others.
const ns3::Time LONGEST_ATTACH = ns3::Seconds(2);
/// Of a packet in an idle cell, ns: what ns-3's layers take from the core to a UE, and, with the report of what waits and the grant, back
/// (docs/validation.md, "latency of an idle cell").
constexpr std::int64_t DOWNLINK_LATENCY = 4'000'000;
constexpr std::int64_t UPLINK_LATENCY = 12'000'000;

} // namespace

/// One LTE network: its cells, its core, and its UEs.
class LteSegment : public Segment
{
  public:
    explicit LteSegment(const SegmentSetup& setup)
        : m_names(setup.stations), m_plan(setup.parameters, setup.stations, setup.classes),
          m_network(BuildNetwork(m_plan)), m_fates(setup.fates),
          m_queues(m_plan,
                   m_network,
                   setup.frames,
                   [this](StationId id) -> TerminalTraffic& { return m_terminals[id]->Traffic(); },
                   [this](StationId id) { return m_terminals[id]->Counters().Quality(); }),
          m_live(m_names, m_cellNames, m_plan, m_network, m_terminals, m_queues, setup.announcements)
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
                                                         m_network,
                                                         m_cellNames,
                                                         setup.fates,
                                                         setup.announcements);
            m_byAddress.emplace(m_network.addresses[id].Get(), m_terminals[id].get());
        }
        for (const auto& enodeb : m_network.enodebs)
        {
            m_guards.push_back(std::make_unique<HandoverGuard>(enodeb, m_network));
            enodeb->GetPhy()->GetUlSpectrumPhy()->TraceConnectWithoutContext(
                "UlPhyReception", ns3::MakeCallback(&LteSegment::ReceivedUplink, this));
            enodeb->GetPhy()->TraceConnectWithoutContext("ReportUeSinr",
                                                         ns3::MakeCallback(&LteSegment::SoundedUplink, this));
            SchedulerOf(enodeb)->SetQualityReported([this, cell = enodeb->GetCellId()](std::uint16_t rnti, int quality) {
                if (auto* terminal = In(cell, rnti))
                {
                    terminal->Counters().ReportedQuality(quality);
                }
            });
        }
        m_network.sgi->SetReceiveCallback(ns3::MakeCallback(&LteSegment::FromCore, this));
        m_attaching = ns3::Simulator::Schedule(LONGEST_ATTACH, &LteSegment::StopWaiting, this, "no cell in reach");
    }

    void Transmit(StationId from, Destination to, const Frame& frame) override
    {
        if (from == m_plan.gateway)
        {
            ++m_sent;
            Downward(from, to, frame);
            return;
        }
        m_terminals[from]->SendUp(to, frame, to.station ? m_network.addresses[*to.station] : Everyone());
    }

    void Set(std::string_view name, const Json& value) override
    {
        m_live.Set(name, value);
    }

    Json Read() const override
    {
        Json stations = Json::object();
        for (StationId id = 0; id < m_terminals.size(); ++id)
        {
            auto& counters = stations[m_names[id]];
            if (!m_terminals[id])
            {
                counters = {{"sent", m_sent}, {"received", m_received}};
                continue;
            }
            counters = m_terminals[id]->Read();
            counters.update(m_queues.Read(id));
        }
        return {{"stations", stations}};
    }

    void Reset() override
    {
        m_sent = m_received = 0;
        for (const auto& terminal : m_terminals)
        {
            if (terminal)
            {
                terminal->Reset();
            }
        }
        m_queues.ResetStatistics();
    }

    void Begin() override
    {
        m_attaching.Cancel();
        StopWaiting(Terminal::NOT_YET);
        m_network.attenuation->Begin();
        for (const auto& motion : m_network.motions)
        {
            if (motion)
            {
                motion->Begin();
            }
        }
    }

    std::vector<Unlinked> WithoutLink() const override
    {
        std::vector<Unlinked> found;
        for (const auto& terminal : m_terminals)
        {
            if (terminal && !terminal->IsConnected())
            {
                found.push_back({terminal->Id(), {{"reason", terminal->WhyNotConnected()}}});
            }
        }
        return found;
    }

    std::optional<LinkState> StateOf(StationId station) const override
    {
        if (m_terminals[station])
        {
            return StateOf(*m_terminals[station]);
        }
        // The gateway has a rate to each of the UEs: the best of them.
        LinkState state;
        for (const auto& terminal : m_terminals)
        {
            if (terminal)
            {
                const auto own = StateOf(*terminal);
                state.transmit = std::max(state.transmit, own.receive);
                state.receive = std::max(state.receive, own.transmit);
                state.latency = DOWNLINK_LATENCY;
            }
        }
        return state;
    }

    bool Ready() const override
    {
        return std::ranges::all_of(
            m_terminals, [](const auto& terminal) { return !terminal || terminal->IsConnected() || terminal->IsDown(); });
    }

  private:
    LinkState StateOf(const Terminal& terminal) const
    {
        if (!terminal.IsConnected())
        {
            return {.latency = UPLINK_LATENCY};
        }
        const auto& counters = terminal.Counters();
        return {.transmit = m_rates.Uplink(counters.SinrUplink()),
                .receive = m_rates.Downlink(counters.Quality()),
                .latency = UPLINK_LATENCY};
    }

    /// From the core to one UE, or one copy to each but the sender.
    void Downward(StationId from, Destination to, const Frame& frame)
    {
        for (const auto& terminal : m_terminals)
        {
            const bool meant = terminal && (to.station ? terminal->Id() == *to.station : terminal->Id() != from);
            if (meant && terminal->LeavesCore(frame))
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
        if (sender == m_byAddress.end() || !sender->second->Traffic().ArrivedAtCore(carried->slot, carried->trafficClass))
        {
            return true;
        }
        const Frame frame{.slot = carried->slot, .length = packet->GetSize(), .trafficClass = carried->trafficClass};
        const bool everyone = carried->destination == Everyone();
        const auto receiver = m_byAddress.find(carried->destination.Get());
        if (receiver != m_byAddress.end())
        {
            Downward(sender->second->Id(), {receiver->second->Id()}, frame);
            return true;
        }
        if (everyone)
        {
            Downward(sender->second->Id(), {}, frame);
        }
        ++m_received;
        m_fates.Deliver(carried->slot, m_plan.gateway);
        return true;
    }

    void StopWaiting(const char* reason)
    {
        for (const auto& terminal : m_terminals)
        {
            if (terminal)
            {
                terminal->GiveUpWaiting(reason);
            }
        }
    }

    void ReceivedUplink(ns3::PhyReceptionStatParameters block)
    {
        if (auto* terminal = In(block.m_cellId, block.m_rnti))
        {
            terminal->Counters().ReceivedUplink(block);
        }
    }

    void SoundedUplink(std::uint16_t cell, std::uint16_t rnti, double sinr, std::uint8_t)
    {
        if (auto* terminal = In(cell, rnti))
        {
            terminal->Sounded(sinr);
        }
    }

    /// The UE that has this number in a cell.
    Terminal* In(std::uint16_t cell, std::uint16_t rnti) const
    {
        const auto found = std::ranges::find_if(m_terminals, [cell, rnti](const auto& terminal) {
            return terminal && terminal->Device()->GetRrc()->GetRnti() == rnti &&
                   terminal->Device()->GetRrc()->GetCellId() == cell;
        });
        return found == m_terminals.end() ? nullptr : found->get();
    }

    std::vector<std::string> m_names;
    LtePlan m_plan;
    LteNetwork m_network;
    Fates& m_fates;
    BearerQueues m_queues;
    LinkRates m_rates{m_plan.resourceBlocks};
    LiveChanges m_live;
    std::vector<std::unique_ptr<HandoverGuard>> m_guards;
    ns3::EventId m_attaching;
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
