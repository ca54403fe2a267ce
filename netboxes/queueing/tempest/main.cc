// SPDX-License-Identifier: GPL-2.0-or-later
// Tries a scheduler without a network: what a packet costs, and what flows get. README.md has the options and the result.
#include "trial.h"

#include <iostream>

int main(int count, char** words)
{
    using namespace netboxit::queueing;
    try
    {
        const std::vector<std::string> said(words + 1, words + count);
        auto told = tempest::Try(tempest::ParseOptions(said));
        told["format"] = "netboxit tempest";
        told["version"] = 1;
        told["command"] = said;
        std::cout << told.dump() << '\n';
        return 0;
    }
    catch (const tempest::BadOption& error)
    {
        std::cerr << "tempest: " << error.what() << '\n';
        return 2;
    }
    catch (const std::bad_alloc&)
    {
        std::cerr << "tempest: there is not enough memory; say fewer flows or a smaller -qmax\n";
        return 1;
    }
}
