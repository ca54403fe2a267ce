// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"

#include "ns3/nstime.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace netboxit::wimax
{

/// The scheduling services of 6.3.5.2 in their order of precedence.
enum class Scheduling
{
    Ugs,   ///< unsolicited grant service: grants of fixed size at fixed intervals
    ErtPs, ///< extended rtPS: unsolicited grants, whose size the subscriber may ask to change (6.3.5.2.2.1)
    RtPs,  ///< real-time polling service: unicast request opportunities at fixed intervals
    NrtPs, ///< non-real-time polling service: rare unicast polls, contention allowed
    BestEffort
};

inline constexpr std::array SCHEDULING_NAMES{std::string_view("UGS"),
                                             std::string_view("ertPS"),
                                             std::string_view("rtPS"),
                                             std::string_view("nrtPS"),
                                             std::string_view("BE")};

/// Whether the base station grants such a connection room that it did not ask for.
inline constexpr bool IsUnsolicited(Scheduling scheduling)
{
    return scheduling == Scheduling::Ugs || scheduling == Scheduling::ErtPs;
}

enum class Direction
{
    Uplink,
    Downlink
};

/// How SDUs become MAC PDUs on a connection (6.3.3), agreed upon when it is made.
struct Carriage
{
    bool fragmentation{true}; ///< an SDU may be cut where a grant ends (6.3.3.3)
    bool packing{false};      ///< several SDUs may share a PDU (6.3.3.4)
    bool crc{true};           ///< each PDU ends with a CRC-32 (6.3.3.5)
};

/// The QoS parameters of a service flow (11.13). Rates count the bytes of SDUs, which are Ethernet frames
/// without FCS.
struct ServiceFlow
{
    std::string name; ///< the traffic class, or "implicit" for what no declared flow takes
    Direction direction{};
    Scheduling scheduling{Scheduling::BestEffort};
    double reservedRate{};                                       ///< bit/s, minimum reserved traffic rate
    double maximumRate{std::numeric_limits<double>::infinity()}; ///< bit/s, maximum sustained traffic rate
    ns3::Time interval;                      ///< unsolicited grant interval, or unsolicited polling interval
    std::optional<ns3::Time> maximumLatency; ///< older SDUs are discarded
    std::uint32_t packetBytes{};             ///< UGS, ertPS: size of an SDU (11.13); 0 if not known
    Json queue;                              ///< as queue.py dumps it; its room is counted in bytes of SDUs
    bool hasOwnQueue{};                      ///< `queue` is not the cell's
    double weight{1.0};                      ///< for schedulers that weigh
    Carriage carriage;

    /// Whether its SDUs may wait among those of others: what is guaranteed, limited or late by itself cannot.
    bool MayShareQueue() const
    {
        return !hasOwnQueue && reservedRate == 0.0 && std::isinf(maximumRate) && !maximumLatency;
    }
};

/// Credit that grows with a rate up to a depth; may go below zero by what was taken in advance.
class TokenBucket
{
  public:
    TokenBucket(double rateBitPerS, double depthBytes);

    /// Bytes that may be spent at `now`; a bucket of infinite rate always has 2^31.
    std::uint32_t Available(ns3::Time now);
    void Take(std::uint32_t bytes);

  private:
    double m_bytesPerS;
    double m_depth;
    double m_level;
    ns3::Time m_filled;
};

/// The two rates of a service flow as credit, in bytes of SDUs.
struct FlowCredit
{
    FlowCredit(const ServiceFlow& flow, double frameS);

    void Take(std::uint32_t bytes);

    TokenBucket reserved;
    TokenBucket maximum;
};

} // namespace netboxit::wimax
