// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/loss_counts.h"

#include "ns3/qos-utils.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-phy-state.h"
#include "ns3/wifi-psdu.h"
#include "ns3/wifi-tx-vector.h"

#include <array>
#include <map>

namespace netboxit
{

/// How long a station transmits, and how long its medium is busy, by its PHY's own states.
class Airtime
{
  public:
    explicit Airtime(ns3::Ptr<ns3::WifiNetDevice> device);
    Airtime(const Airtime&) = delete;
    Airtime& operator=(const Airtime&) = delete;
    ~Airtime();

    /// s, since the statistics began.
    double Transmitting() const
    {
        return m_transmitting.GetSeconds();
    }

    /// s, since the statistics began: transmitting, receiving, or held busy by what it senses.
    double Busy() const
    {
        return m_busy.GetSeconds();
    }

    /// Counts from now on.
    void Reset();

  private:
    void StateLasts(ns3::Time start, ns3::Time duration, ns3::WifiPhyState state);

    ns3::Ptr<ns3::WifiNetDevice> m_device;
    ns3::Time m_reset; ///< when it began to count
    ns3::Time m_transmitting;
    ns3::Time m_busy;
};

/// What a station did with data frames, in all and by access category.
class StationCounters
{
  public:
    void CountTransmission(const ns3::WifiPsdu& psdu, double rate);
    void CountLoss(Loss reason, std::optional<ns3::AcIndex> category);

    /// bit/s of the latest data frame; 0 before the first one.
    double Rate() const
    {
        return m_rate;
    }

    /// Counts from now on; the rate stays.
    void Reset();

    /// With what is told of each access category's queue; by category only when there are several.
    Json Read(const std::map<ns3::AcIndex, Json>& queues) const;

  private:
    struct Category
    {
        std::uint64_t transmissions{};   ///< data frames put on the air, each attempt
        std::uint64_t retransmissions{}; ///< those of them that were repetitions
        LossCounts lost;
    };

    Category& Of(ns3::AcIndex category)
    {
        return m_categories[category];
    }

    double m_rate{}; ///< bit/s of the latest data frame
    LossCounts m_lost;
    std::array<Category, ns3::AC_UNDEF> m_categories{};
};

/// The access category of a data frame; none without QoS.
std::optional<ns3::AcIndex> CategoryOf(const ns3::WifiMacHeader& header);

} // namespace netboxit
