// SPDX-License-Identifier: GPL-2.0-or-later
#include "ports.h"

#include "memory_port.h"
#include "packet_port.h"
#include "pcapng_port.h"

namespace netboxit
{

namespace
{

constexpr std::uint32_t DEFAULT_MTU = 1500;
/// The orchestrator moves interfaces into the container while the netbox starts.
constexpr std::chrono::seconds PATIENCE{10};

/// The one place where the kinds of ports are told apart.
std::unique_ptr<Port> OpenPort(const std::string& name, const PortConfiguration& port, EndSignal& end)
{
    const auto mtu = port.mtu == 0 ? DEFAULT_MTU : port.mtu;
    switch (port.kind)
    {
    case PortKind::Packet:
        return std::make_unique<PacketPort>(name, port.interface, port.mtu, PATIENCE, end);
    case PortKind::Xdp:
        throw BadConfiguration("port " + name + ": ports of this kind are not built yet");
    case PortKind::Memory:
        return std::make_unique<MemoryPort>(name, port.wire, port.end, mtu);
    case PortKind::Pcapng:
        return std::make_unique<PcapngPort>(name, port.input, port.output, mtu);
    }
    throw std::logic_error("port " + name + ": its kind is none");
}

} // namespace

std::vector<std::unique_ptr<Port>> OpenPorts(const Configuration& configuration, EndSignal& end)
{
    std::vector<std::unique_ptr<Port>> ports;
    for (const auto& station : configuration.stations)
    {
        ports.push_back(OpenPort(station.name, station.port, end));
    }
    return ports;
}

} // namespace netboxit
