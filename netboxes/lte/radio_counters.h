// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"

#include "ns3/lte-common.h"
#include "ns3/lte-ue-net-device.h"

#include <array>

namespace netboxit
{

/// What the air interface did for one UE: as its own receiver saw it, and as the eNodeBs saw its transmissions.
class RadioCounters
{
  public:
    explicit RadioCounters(const ns3::Ptr<ns3::LteUeNetDevice>& device);
    RadioCounters(const RadioCounters&) = delete;
    RadioCounters& operator=(const RadioCounters&) = delete;

    /// An eNodeB has received a transport block of this UE.
    void ReceivedUplink(const ns3::PhyReceptionStatParameters& block);
    /// An eNodeB has measured the sounding signal of this UE.
    void SoundedUplink(double sinr)
    {
        m_sinrUplink = sinr;
    }

    /// An eNodeB has got this UE's channel quality indicator (TS 36.213, 7.2.3), 0 to 15.
    void ReportedQuality(int index)
    {
        m_quality = index;
        ++m_qualities.at(static_cast<std::size_t>(index));
    }
    /// The latest.
    int Quality() const
    {
        return m_quality;
    }

    /// At which an eNodeB measured the latest sounding signal; 0: none yet.
    double SinrUplink() const
    {
        return m_sinrUplink;
    }

    Json Read() const;
    /// Counts from now on; what was measured last, and the latest MCS, stay.
    void Reset();

  private:
    struct Direction
    {
        std::uint64_t transportBlocks{};
        std::uint64_t retransmissions{};
        std::uint64_t errors{}; ///< transport blocks that were not understood, each attempt
        std::uint64_t resourceBlocks{};
        int mcs{};
    };

    Json QualityStatistics() const;
    static void Count(Direction& direction, const ns3::PhyReceptionStatParameters& block);
    void ReceivedDownlink(ns3::PhyReceptionStatParameters block);
    void Measured(std::uint16_t cell, std::uint16_t rnti, double rsrp, double sinr, std::uint8_t carrier);
    void SentUplink(std::uint16_t rnti, const std::vector<int>& resourceBlocks);

    Direction m_downlink;
    Direction m_uplink;
    double m_rsrp{};        ///< W in a resource element
    double m_sinrDownlink{}; ///< ratio
    double m_sinrUplink{};   ///< ratio
    int m_quality{};
    std::array<std::uint64_t, 16> m_qualities{}; ///< reports by index
};

} // namespace netboxit
