// SPDX-License-Identifier: GPL-2.0-or-later
#include "receiver_channels.h"

#include "block_error.h"
#include "mac_overhead.h"

namespace netboxit::wimax
{

std::optional<double> ReceiverChannels::Success(StationId to) const
{
    const auto* link = m_links[to];
    if (!link)
    {
        return std::nullopt;
    }
    const auto profile = link->Profile();
    if (!profile)
    {
        return 0.0;
    }
    const auto perBlock = PROFILES[*profile].bytesPerSymbol;
    const auto blocks = (LARGEST_SDU + PDU_OVERHEAD + perBlock - 1) / perBlock;
    return 1.0 - PduErrorRate(link->BlockErrorRateAt(*profile), blocks);
}

} // namespace netboxit::wimax
