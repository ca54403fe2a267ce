// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "bearer_queue.h"
#include "network.h"

#include "../queueing/chance.h"

#include "ns3/object-map.h"

#include <functional>
#include <map>

namespace netboxit
{

/// Puts a queue around each RLC entity of user data, at UEs and eNodeBs. RLC entities are made anew with each connection and handover.
class BearerQueues
{
  public:
    using TrafficOf = std::function<TerminalTraffic&(StationId)>;
    /// The channel quality indicator that a UE reported last.
    using QualityOf = std::function<int(StationId)>;

    /// All of it outlives this object; throws OutOfRange for what is said of the queues.
    BearerQueues(const LtePlan& plan, const LteNetwork& network, Frames& frames, TrafficOf traffic, QualityOf quality);
    BearerQueues(const BearerQueues&) = delete;
    BearerQueues& operator=(const BearerQueues&) = delete;

    /// For all queues, and those to come; throws OutOfRange and then changes nothing.
    void Set(const Json& said);
    /// {queue_uplink, queue_downlink} of a UE: of each bearer by the name of its class, "default" for the one of all others.
    Json Read(StationId terminal) const;
    /// Statistics of all queues that there are count from now on.
    void ResetStatistics();

  private:
    void BearerOfTerminal(std::uint64_t imsi, std::uint16_t cell, std::uint16_t rnti, std::uint8_t identity);
    void TerminalInCell(std::uint16_t cell, std::uint16_t rnti);
    void BearerInCell(std::uint64_t imsi, std::uint16_t cell, std::uint16_t rnti, std::uint8_t channel);
    BearerQueue& Make(const ns3::ObjectMapValue& bearers,
                      int identity,
                      StationId terminal,
                      bool uplink,
                      ns3::LteMacSapProvider& mac);
    StationId StationOf(std::uint64_t imsi) const;
    /// At UEs and eNodeBs.
    template <typename Do>
    void EachQueue(Do act) const;
    Json ReadEach(const ns3::Object& owner, StationId terminal) const;
    double Draw(std::int64_t stream);

    const LtePlan& m_plan;
    const LteNetwork& m_network;
    Frames& m_frames;
    TrafficOf m_traffic;
    QualityOf m_quality;
    Json m_said;
    double m_grossRate; ///< bit/s, of one layer
    QueueNumber m_latest{};
    queueing::LaterChances m_laterChances;
    std::map<std::int64_t, queueing::Chance> m_chances; ///< by random stream
};

} // namespace netboxit
