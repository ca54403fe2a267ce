// SPDX-License-Identifier: GPL-2.0-or-later
#include "ports.h"

#include "interface_port.h"
#include "joined_port.h"
#include "memory_port.h"
#include "packet_socket.h"
#include "pcapng_port.h"
#include "threaded_port.h"
#include "xdp_socket.h"

#include <poll.h>

#include <algorithm>
#include <chrono>

namespace netboxit
{

namespace
{

constexpr std::uint32_t DEFAULT_MTU = 1500;
/// The orchestrator moves interfaces into the container while the netbox starts.
constexpr std::chrono::seconds PATIENCE{10};

void WaitUntilUp(const NetworkInterface& interface, EndSignal& end)
{
    constexpr int PAUSE_MS = 20;
    const auto deadline = std::chrono::steady_clock::now() + PATIENCE;
    for (auto state = interface.CurrentState(); state != NetworkInterface::State::Up;
         state = interface.CurrentState())
    {
        if (std::chrono::steady_clock::now() > deadline)
        {
            throw std::runtime_error(
                interface.Subject() + ": interface " + interface.Name() +
                (state == NetworkInterface::State::Down ? " is not up" : " does not exist") + ", waited for " +
                std::to_string(PATIENCE.count()) + " s");
        }
        pollfd wait{end.Descriptor(), POLLIN, 0};
        ::poll(&wait, 1, PAUSE_MS);
        if (end.HasCome())
        {
            throw Interrupted();
        }
    }
}

std::unique_ptr<Port> OpenInterface(const std::string& name, const PortConfiguration& port, EndSignal& end)
{
    const NetworkInterface interface("port " + name, port.interface);
    WaitUntilUp(interface, end);
    const auto mtu = port.mtu == 0 ? interface.Mtu() : port.mtu;
    Json description{{"kind", "packet"}, {"interface", port.interface}};
    if (port.kind == PortKind::Xdp)
    {
        try
        {
            auto socket = std::make_unique<XdpSocket>(interface);
            description["kind"] = "xdp";
            return std::make_unique<InterfacePort>(name, std::move(socket), mtu, description);
        }
        catch (const std::exception& error)
        {
            if (!port.fallback)
            {
                throw;
            }
            description["reason"] = error.what();
        }
    }
    auto open = [subject = interface.Subject(), device = port.interface, mtu]
    {
        const NetworkInterface now(subject, device);
        if (now.CurrentState() != NetworkInterface::State::Up)
        {
            throw std::runtime_error("interface " + device + " is not up");
        }
        return std::make_unique<PacketSocket>(now, mtu);
    };
    return std::make_unique<InterfacePort>(name, open(), mtu, description, open);
}

/// The one place where the kinds of ports are told apart.
std::unique_ptr<Port>
OpenPort(const std::string& node, const std::string& name, const PortConfiguration& port, EndSignal& end)
{
    const auto mtu = port.mtu == 0 ? DEFAULT_MTU : port.mtu;
    switch (port.kind)
    {
    case PortKind::Packet:
    case PortKind::Xdp:
        return OpenInterface(name, port, end);
    case PortKind::Memory:
        return std::make_unique<MemoryPort>(name, port.wire, port.end, mtu);
    case PortKind::Pcapng:
        return std::make_unique<PcapngPort>(name, port.input, port.output, mtu);
    case PortKind::Joined:
        return std::make_unique<JoinedPort>(node, name, port, mtu);
    }
    throw std::logic_error("port " + name + ": its kind is none");
}

} // namespace

std::vector<std::unique_ptr<Port>> OpenPorts(const Configuration& configuration, EndSignal& end)
{
    const auto& realtime = configuration.realtime;
    std::shared_ptr<IoThread> thread;
    std::vector<std::unique_ptr<Port>> ports;
    for (const auto& station : configuration.stations)
    {
        auto port = OpenPort(configuration.name, station.name, station.port, end);
        const bool kernels = station.port.kind == PortKind::Packet || station.port.kind == PortKind::Xdp;
        if (realtime.ioCore && kernels)
        {
            thread = thread ? thread : std::make_shared<IoThread>(realtime);
            port = std::make_unique<ThreadedPort>(std::move(port), thread);
        }
        ports.push_back(std::move(port));
    }
    if (std::ranges::any_of(configuration.stations,
                            [](const auto& station) { return station.port.kind == PortKind::Xdp; }))
    {
        GiveUpAttaching();
    }
    if (thread)
    {
        thread->Start();
    }
    return ports;
}

} // namespace netboxit
