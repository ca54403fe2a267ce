// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "bearer_discipline.h"
#include "carrier_packet.h"
#include "service_rate.h"
#include "terminal_traffic.h"

#include "../queueing/queue.h"

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/lte-mac-sap.h"
#include "ns3/lte-rlc-sap.h"
#include "ns3/lte-rlc.h"

#include <deque>

namespace netboxit
{

/// The queue of one data radio bearer in one direction. It stands around the bearer's RLC entity, between PDCP and MAC: what PDCP sends
/// waits here, and RLC gets as much of it as a transmission opportunity carries, and never less than one packet. MAC is told what
/// waits here and in RLC together, in the way in which RLC would count it.
///
/// It is aggregated to the RLC entity, and lives as long.
class BearerQueue : public ns3::Object, public ns3::LteRlcSapProvider, public ns3::LteMacSapUser, public ns3::LteMacSapProvider
{
  public:
    static ns3::TypeId GetTypeId();

    /// Room that RLC is to have, bytes: more than it is ever given.
    static constexpr std::uint32_t RLC_ROOM = 100'000'000;

    /// Where it stands.
    struct Place
    {
        QueueNumber number{}; ///< by which the traffic tells it from the bearer's earlier ones
        bool uplink{};
        double grossRate{}; ///< bit/s, of the cell in this direction
        TerminalTraffic& traffic;
        Frames& frames;
        std::function<int()> quality; ///< as BearerView::quality
    };

    /// `said` is the parameter `queue`; throws OutOfRange. RLC's reports go on to `mac`.
    BearerQueue(ns3::LteRlc& rlc,
                ns3::LteMacSapProvider& mac,
                const Place& place,
                const Json& said,
                queueing::Chance chance);

    /// As queueing::Queue::Set.
    void Set(const Json& said);
    Json Read() const;
    void ResetStatistics();

    // From PDCP.
    void TransmitPdcpPdu(TransmitPdcpPduParameters parameters) override;
    // From MAC.
    void NotifyTxOpportunity(TxOpportunityParameters opportunity) override;
    void NotifyHarqDeliveryFailure() override;
    void ReceivePdu(ReceivePduParameters parameters) override;
    // From RLC.
    void TransmitPdu(TransmitPduParameters parameters) override;
    void ReportBufferStatus(ReportBufferStatusParameters report) override;

  private:
    struct Outgoing
    {
        TransmitPdcpPduParameters unit; ///< the packet, with PDCP's header
        std::optional<CarrierPacket> carried;
        std::int64_t since{}; ///< ns, when it came
    };

    bool Mark(const CarrierPacket& packet);
    queueing::Maker MakerOfDisciplines();
    /// Gives RLC packets until it has more than `bytes` to send, or nothing waits. False when it got none.
    bool Fill(std::uint32_t bytes);
    /// Bytes of packets that this PDU of RLC takes along for the first time.
    std::uint32_t NewBytes(const ns3::Packet& pdu);
    void Report();
    /// Has RLC report, and start its timer anew, as if a packet had come to it.
    void Ask();
    /// Brings its latest report up to date, of which MAC does not hear.
    void Look();
    void Remind();
    /// Tells MAC that less waits than it was told.
    void ReportDrops();
    void Correct();
    void DoDispose() override;

    Place m_place;
    queueing::Queue<Outgoing> m_queue;
    bool m_acknowledged; ///< RLC's mode
    ns3::LteRlcSapProvider& m_rlc;
    ns3::LteMacSapUser& m_rlcBelow; ///< what MAC would call
    ns3::LteMacSapProvider& m_mac;
    std::deque<PacketInRlc> m_inRlc; ///< that are not yet sent as a whole
    std::uint32_t m_bytesInRlc{};
    ReportBufferStatusParameters m_report{}; ///< the latest of RLC
    std::uint16_t m_nextNumber{};            ///< acknowledged mode: of the next PDU that is no repetition
    bool m_isQuiet{};           ///< RLC's reports do not go on
    bool m_dropped{};           ///< something that MAC believes to wait
    ns3::EventId m_correction;
    ns3::Time m_interval;       ///< acknowledged mode: of reports while no packet comes
    ns3::EventId m_reminder;
    ServiceRate m_rate;
};

} // namespace netboxit
