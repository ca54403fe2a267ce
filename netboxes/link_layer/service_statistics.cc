// SPDX-License-Identifier: GPL-2.0-or-later
#include "service_statistics.h"

namespace netboxit::multiservice
{

nlohmann::json ServiceStatistics::Read() const
{
    auto drops = nlohmann::json::object();
    for (std::size_t reason = 0; reason < dropped.size(); ++reason)
    {
        if (dropped[reason] > 0)
        {
            drops[std::string(DROP_NAMES[reason])] = dropped[reason];
        }
    }
    return {{"offered_packets", offeredPackets},
            {"offered_bytes", offeredBytes},
            {"sent_data", sentData},
            {"sent_data_bytes", sentDataBytes},
            {"retransmissions", retransmissions},
            {"sent_parity", sentParity},
            {"sent_control", sentControl},
            {"sent_bytes", sentBytes},
            {"timeouts", timeouts},
            {"dropped", drops},
            {"received_frames", receivedFrames},
            {"damaged_frames", damagedFrames},
            {"delivered", delivered},
            {"delivered_bytes", deliveredBytes},
            {"repaired", repaired},
            {"duplicates", duplicates},
            {"lost", lost}};
}

} // namespace netboxit::multiservice
