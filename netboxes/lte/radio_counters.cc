// SPDX-License-Identifier: GPL-2.0-or-later
#include "radio_counters.h"

#include "ns3/lte-amc.h"
#include "ns3/lte-spectrum-phy.h"
#include "ns3/lte-ue-phy.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace netboxit
{

namespace
{

constexpr int HIGHEST_MCS = 28;      ///< TS 36.213, Table 7.1.7.1-1
constexpr int MOST_RESOURCE_BLOCKS = 110; ///< TS 36.213, Table 7.1.7.2.1-1

/// Bytes of the transport block of each MCS and number of resource blocks.
const auto& BlockSizes()
{
    static const auto sizes = [] {
        std::array<std::array<int, MOST_RESOURCE_BLOCKS + 1>, HIGHEST_MCS + 1> table{};
        const auto amc = ns3::CreateObject<ns3::LteAmc>();
        for (int mcs = 0; mcs <= HIGHEST_MCS; ++mcs)
        {
            for (int blocks = 1; blocks <= MOST_RESOURCE_BLOCKS; ++blocks)
            {
                table[mcs][blocks] = amc->GetDlTbSizeFromMcs(mcs, blocks) / 8;
            }
        }
        return table;
    }();
    return sizes;
}

/// How many resource blocks a transport block had: ns-3 tells its size and MCS only.
int ResourceBlocksOf(int mcs, int size)
{
    const auto& sizes = BlockSizes().at(std::min(mcs, HIGHEST_MCS));
    return static_cast<int>(std::lower_bound(sizes.begin(), sizes.end(), size) - sizes.begin());
}

double Decibels(double ratio)
{
    // JSON has no infinity: -200 dB is no signal at all.
    return ratio > 1e-20 ? 10.0 * std::log10(ratio) : -200.0;
}

} // namespace

RadioCounters::RadioCounters(const ns3::Ptr<ns3::LteUeNetDevice>& device)
{
    const auto phy = device->GetPhy();
    phy->TraceConnectWithoutContext("ReportCurrentCellRsrpSinr", ns3::MakeCallback(&RadioCounters::Measured, this));
    phy->TraceConnectWithoutContext("ReportUlPhyResourceBlocks", ns3::MakeCallback(&RadioCounters::SentUplink, this));
    phy->GetDlSpectrumPhy()->TraceConnectWithoutContext(
        "DlPhyReception", ns3::MakeCallback(&RadioCounters::ReceivedDownlink, this));
}

void RadioCounters::Count(Direction& direction, const ns3::PhyReceptionStatParameters& block)
{
    ++direction.transportBlocks;
    direction.retransmissions += block.m_rv > 0;
    direction.errors += block.m_correctness == 0;
    direction.mcs = block.m_mcs;
}

void RadioCounters::ReceivedDownlink(ns3::PhyReceptionStatParameters block)
{
    Count(m_downlink, block);
    if (block.m_layer == 0)
    {
        m_downlink.resourceBlocks += ResourceBlocksOf(block.m_mcs, block.m_size);
    }
}

void RadioCounters::ReceivedUplink(const ns3::PhyReceptionStatParameters& block)
{
    Count(m_uplink, block);
}

void RadioCounters::SentUplink(std::uint16_t, const std::vector<int>& resourceBlocks)
{
    m_uplink.resourceBlocks += resourceBlocks.size();
}

void RadioCounters::Measured(std::uint16_t, std::uint16_t, double rsrp, double sinr, std::uint8_t)
{
    m_rsrp = rsrp;
    m_sinrDownlink = sinr;
}

Json RadioCounters::Read() const
{
    Json counters{{"rsrp", Decibels(m_rsrp) + 30.0},
                  {"sinr_downlink", Decibels(m_sinrDownlink)},
                  {"sinr_uplink", Decibels(m_sinrUplink)}};
    counters.update(QualityStatistics());
    for (const auto& [way, direction] : {std::pair{"downlink", &m_downlink}, {"uplink", &m_uplink}})
    {
        const std::string suffix = std::string("_") + way;
        counters["mcs" + suffix] = direction->mcs;
        counters["transport_blocks" + suffix] = direction->transportBlocks;
        counters["retransmissions" + suffix] = direction->retransmissions;
        counters["block_errors" + suffix] = direction->errors;
        counters["resource_blocks" + suffix] = direction->resourceBlocks;
    }
    return counters;
}

Json RadioCounters::QualityStatistics() const
{
    std::uint64_t reports = 0;
    std::uint64_t sum = 0;
    for (std::size_t index = 0; index < m_qualities.size(); ++index)
    {
        reports += m_qualities[index];
        sum += index * m_qualities[index];
    }
    return {{"cqi", m_quality},
            {"cqi_mean", reports == 0 ? Json() : Json(static_cast<double>(sum) / static_cast<double>(reports))},
            {"cqi_reports", m_qualities}};
}

void RadioCounters::Reset()
{
    m_qualities.fill(0);
    for (auto* direction : {&m_downlink, &m_uplink})
    {
        *direction = {.mcs = direction->mcs};
    }
}

} // namespace netboxit
