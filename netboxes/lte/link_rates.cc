// SPDX-License-Identifier: GPL-2.0-or-later
#include "link_rates.h"

#include <cmath>

namespace netboxit
{

namespace
{

constexpr std::uint64_t SUBFRAMES = 1000; ///< a second (TS 36.211, 4)
/// Between Shannon's ratio and that at which uncoded M-QAM has a bit error rate of 5e-5 (Seo and Lee 2004, as ns-3's uplink schedulers).
const double GAP = -std::log(5.0 * 0.00005) / 1.5;

} // namespace

LinkRates::LinkRates(int resourceBlocks)
    : m_adaptation(ns3::CreateObject<ns3::LteAmc>()),
      m_resourceBlocks(resourceBlocks)
{
}

std::uint64_t LinkRates::Downlink(int quality) const
{
    return quality == 0 ? 0 : SUBFRAMES * m_adaptation->GetDlTbSizeFromMcs(m_adaptation->GetMcsFromCqi(quality), m_resourceBlocks);
}

std::uint64_t LinkRates::Uplink(double sinr) const
{
    const auto quality = sinr > 0 ? m_adaptation->GetCqiFromSpectralEfficiency(std::log2(1 + sinr / GAP)) : 0;
    return quality == 0 ? 0 : SUBFRAMES * m_adaptation->GetUlTbSizeFromMcs(m_adaptation->GetMcsFromCqi(quality), m_resourceBlocks);
}

} // namespace netboxit
