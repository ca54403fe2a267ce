// SPDX-License-Identifier: GPL-2.0-or-later
#include "surroundings.h"

#include <algorithm>
#include <cctype>

namespace netboxit::click
{

std::optional<std::string> DefinedAddress(const std::map<std::string, std::string>& defines, const std::string& name)
{
    auto variable = name;
    std::ranges::transform(name,
                           variable.begin(),
                           [](unsigned char letter)
                           { return letter == '-' ? '_' : static_cast<char>(std::toupper(letter)); });
    const auto found = defines.find(variable + "_ETH");
    return found == defines.end() ? std::nullopt : std::optional(found->second);
}

} // namespace netboxit::click
