// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../queueing/channel.h"

#include "ns3/nstime.h"
#include "ns3/wifi-mpdu.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-psdu.h"
#include "ns3/wifi-tx-vector.h"

namespace netboxit
{

class Stations;

/// The channels from one station to those that hear its frames, by what its MAC learns: which data frames were acknowledged, and which not.
///
/// The success of a receiver is that of the attempts in the last MEMORY, older ones exponentially less. It stays as it is while nothing is
/// sent there.
class ReceiverChannels : public queueing::Channel
{
  public:
    /// Of the station `own`, among stations with these names; it sends to all others, or where `only` is said, to that one alone.
    ReceiverChannels(ns3::Ptr<ns3::WifiNetDevice> device,
                     const std::vector<std::string>& names,
                     const class Stations& stations,
                     StationId own,
                     std::optional<StationId> only);
    ReceiverChannels(const ReceiverChannels&) = delete;
    ReceiverChannels& operator=(const ReceiverChannels&) = delete;
    ~ReceiverChannels() override;

    const std::vector<std::string>& Stations() const override
    {
        return m_names;
    }

    std::optional<double> Success(StationId to) const override;

    /// Who receives what goes to a station, or to everyone: the access point where it relays.
    std::optional<StationId> ReceiverOf(std::optional<StationId> to) const
    {
        return m_only ? m_only : to;
    }

  private:
    struct Attempts
    {
        double all{0};
        double acknowledged{0};
        ns3::Time latest;
    };

    template <typename Connector>
    void Connect(const Connector& connect);
    void Acknowledged(ns3::Ptr<const ns3::WifiMpdu> mpdu);
    void Failed(ns3::Ptr<const ns3::WifiMpdu> mpdu);
    void FrameTimesOut(std::uint8_t reason, ns3::Ptr<const ns3::WifiMpdu> mpdu, const ns3::WifiTxVector& vector);
    void FramesTimeOut(std::uint8_t reason, ns3::Ptr<const ns3::WifiPsdu> psdu, const ns3::WifiTxVector& vector);
    void Count(const ns3::WifiMacHeader& header, bool acknowledged);

    ns3::Ptr<ns3::WifiNetDevice> m_device;
    const std::vector<std::string>& m_names;
    const class Stations& m_stations;
    StationId m_own;
    std::optional<StationId> m_only;
    std::vector<Attempts> m_attempts; ///< by station
};

} // namespace netboxit
