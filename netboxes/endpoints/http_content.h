// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace netboxit
{

/// What is at a path of a server: a text, then zeros, which take no memory.
struct HttpObject
{
    std::string text;
    std::uint64_t zeros;
};

/// What a server has: the object that a request's target names; nothing where there is none.
using HttpContent = std::function<std::optional<HttpObject>(std::string_view target)>;

} // namespace netboxit
