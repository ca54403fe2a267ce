// SPDX-License-Identifier: GPL-2.0-or-later
// c2ml: a host's part in the management of links, see ../README.md.

#include "daemon.h"

#include <csignal>
#include <cstdio>
#include <fstream>

namespace
{

using namespace netboxit::middleware;

constexpr int DONE = 0;
constexpr int FAILED = 1;
constexpr int BAD_INPUT = 2;

DaemonConfiguration ReadFile(const char* path)
{
    std::ifstream file(path);
    if (!file)
    {
        throw std::invalid_argument("it cannot be read");
    }
    const auto json = Json::parse(file, nullptr, false);
    if (json.is_discarded())
    {
        throw std::invalid_argument("it is not JSON");
    }
    return ReadDaemonConfiguration(json);
}

} // namespace

int main(int argc, char* argv[])
{
    if (argc != 2)
    {
        std::fputs("usage: c2ml FILE\nFILE says which links this host allocates or uses: see middleware/README.md\n", stderr);
        return BAD_INPUT;
    }
    // Who reads the output may go before the shaper is removed.
    std::signal(SIGPIPE, SIG_IGN);
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    try
    {
        Daemon(ReadFile(argv[1])).Run();
        return DONE;
    }
    catch (const std::invalid_argument& error)
    {
        std::fprintf(stderr, "c2ml: %s: %s\n", argv[1], error.what());
        return BAD_INPUT;
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "c2ml: %s\n", error.what());
        return FAILED;
    }
}
