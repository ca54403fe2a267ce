// SPDX-License-Identifier: GPL-2.0-or-later
// ns-3's own emulation of routers between two interfaces: what NetBoxIT is measured against.
#include "chain.h"

#include <ns3/boolean.h>
#include <ns3/global-value.h>
#include <ns3/simulator.h>
#include <ns3/string.h>

#include <exception>
#include <iostream>

int main(int argc, char** argv)
{
    using namespace netboxit::stock;
    try
    {
        // As the manual of ns-3's FdNetDevice says: in real time, and with checksums, since others see the packets.
        ns3::GlobalValue::Bind("SimulatorImplementationType", ns3::StringValue("ns3::RealtimeSimulatorImpl"));
        ns3::GlobalValue::Bind("ChecksumEnabled", ns3::BooleanValue(true));
        const auto options = ReadOptions(argc, argv);
        options.inside == Inside::Routers ? BuildRouters(options) : BuildBridges(options);
        ns3::Simulator::Run();
        ns3::Simulator::Destroy();
        return 0;
    }
    catch (const std::invalid_argument& error)
    {
        std::cerr << "stock-chain: " << error.what() << '\n';
        return 2;
    }
    catch (const std::exception& error)
    {
        std::cerr << "stock-chain: " << error.what() << '\n';
        return 1;
    }
}
