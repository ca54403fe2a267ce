// SPDX-License-Identifier: GPL-2.0-or-later
#include "station_port.h"

#include <algorithm>
#include <sstream>

namespace netboxit
{

namespace
{

constexpr std::size_t FCS = 4;
constexpr std::size_t LARGEST_FRAME = ETHERNET_HEADER + 65535;
/// IEEE 802.3, 3.2.6: from here on the field is a type, below a length.
constexpr std::uint16_t LOWEST_TYPE = 0x0600;

ns3::Mac48Address MacAt(Bytes frame, std::size_t at)
{
    ns3::Mac48Address address;
    address.CopyFrom(frame.data() + at);
    return address;
}

} // namespace

void StationPort::Join(PortDevice& device)
{
    const auto address = ns3::Mac48Address::ConvertFrom(device.GetAddress());
    if (!m_byAddress.emplace(address, &device).second)
    {
        std::ostringstream text;
        text << address;
        throw std::invalid_argument("hosts: two hosts of one station have the MAC address " + text.str() +
                                    "; give one of them another");
    }
    m_devices.push_back(&device);
}

void StationPort::Receive(Bytes frame)
{
    ++m_counters.received;
    m_counters.receivedBytes += frame.size() + FCS;
    if (frame.size() < ETHERNET_HEADER || frame.size() > LARGEST_FRAME)
    {
        Count(Finding::Malformed);
        return;
    }
    const auto destination = MacAt(frame, 0);
    const auto owner = m_byAddress.find(destination);
    if (owner == m_byAddress.end() && !destination.IsGroup())
    {
        Count(Finding::OtherHost);
        return;
    }
    const auto source = MacAt(frame, 6);
    const auto etherType = BigEndian16(frame, 12);
    if (source.IsGroup() || etherType < LOWEST_TYPE)
    {
        Count(source.IsGroup() ? Finding::Malformed : Finding::Unsupported);
        return;
    }
    const auto checked = CheckPacket(etherType, frame.subspan(ETHERNET_HEADER));
    if (checked.finding != Finding::Good)
    {
        Count(checked.finding);
        return;
    }
    const EthernetPacket packet{source, destination, etherType, checked.packet};
    Count(owner == m_byAddress.end() ? TakenByGroup(packet) : owner->second->Take(packet));
}

Finding StationPort::TakenByGroup(const EthernetPacket& packet)
{
    auto best = Finding::OtherHost;
    for (auto* const device : m_devices)
    {
        const auto finding = device->Take(packet);
        best = finding == Finding::Good || best == Finding::OtherHost ? finding : best;
    }
    return best;
}

bool StationPort::Send(Bytes frame)
{
    if (!m_frames.Emit(m_station, frame))
    {
        ++m_counters.sendDrops;
        return false;
    }
    ++m_counters.sent;
    m_counters.sentBytes += frame.size() + FCS;
    return true;
}

void StationPort::Count(Finding finding)
{
    m_counters.otherHost += finding == Finding::OtherHost;
    m_counters.malformed += finding == Finding::Malformed;
    m_counters.unsupported += finding == Finding::Unsupported;
    m_counters.overLimit += finding == Finding::OverLimit;
}

} // namespace netboxit
