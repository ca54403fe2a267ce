// SPDX-License-Identifier: GPL-2.0-or-later
// virtual-network CONFIGURATION.json: the netboxes of a network in virtual time, in one process; see README.md.

#include "network.h"
#include "program.h"

namespace netboxit
{

namespace
{

int Run(const std::string& path)
{
    const auto configuration = ReadNetworkConfiguration(ReadJson(path));
    const auto events = InstallEventQueue();
    return Network(configuration, *events).Run();
}

} // namespace

} // namespace netboxit

int main(int argc, char** argv)
{
    return netboxit::RunProgram(argc, argv, netboxit::Run);
}
