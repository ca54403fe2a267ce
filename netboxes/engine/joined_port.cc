// SPDX-License-Identifier: GPL-2.0-or-later
#include "joined_port.h"

#include "carrier.h"
#include "netbox.h"

namespace netboxit
{

JoinedPort::JoinedPort(const std::string& node,
                       std::string name,
                       const PortConfiguration& configuration,
                       std::uint32_t mtu)
    : Port(std::move(name), mtu), m_wireName(node + "." + Name())
{
    if (!configuration.capture.empty())
    {
        m_capture.emplace(configuration.capture, configuration.snapshot);
    }
}

void JoinedPort::BelongTo(Netbox& netbox, StationId station, VirtualWires& wires)
{
    m_netbox = &netbox;
    m_station = station;
    m_wires = &wires;
    m_number = wires.Add(*this);
}

void JoinedPort::Join(WireEndpoint& other)
{
    m_other = &other;
}

void JoinedPort::SetCarrier(bool carrier)
{
    m_carrier = carrier;
    if (auto* const observer = dynamic_cast<CarrierObserver*>(&m_netbox->TheSegment()))
    {
        observer->SetCarrier(m_station, carrier);
    }
}

int JoinedPort::Descriptor() const
{
    return -1;
}

std::size_t JoinedPort::Receive(std::span<Reception>)
{
    return 0; // frames enter by the wires
}

void JoinedPort::Send(std::span<Departure> departures, std::int64_t stamp)
{
    if (!m_carrier)
    {
        counters.sendDrops += departures.size();
        return;
    }
    for (auto& departure : departures)
    {
        Capture(stamp, departure.slot->bytes);
        m_other->Arrive(departure.slot->bytes, stamp);
        departure.taken = true;
    }
    counters.sent += departures.size();
}

void JoinedPort::Refresh()
{
    if (m_capture)
    {
        m_capture->Finish();
    }
}

nlohmann::json JoinedPort::Describe() const
{
    return {{"name", Name()}, {"kind", "joined"}, {"mtu", Mtu()}};
}

void JoinedPort::Arrive(Bytes frame, std::int64_t stamp)
{
    Capture(stamp, frame);
    if (!Accept(frame.size()))
    {
        return;
    }
    Reception reception{.slot = m_netbox->TakeSlot()};
    if (reception.slot == nullptr)
    {
        m_netbox->DropForOverload(m_station);
        return;
    }
    reception.Put(frame, stamp);
    m_arrived.push_back(reception);
    m_wires->Notice(m_number);
}

void JoinedPort::Enter()
{
    const auto reception = m_arrived.front();
    m_arrived.pop_front();
    m_netbox->Enter(m_station, reception, 0);
}

const std::string& JoinedPort::WireName() const
{
    return m_wireName;
}

void JoinedPort::Capture(std::int64_t stamp, Bytes frame)
{
    if (m_captures)
    {
        m_capture->Write(stamp, frame);
    }
}

} // namespace netboxit
