// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>

namespace netboxit::stages
{

inline constexpr std::size_t CACHE_LINE = 64; ///< bytes, on x86-64 and on most ARM processors

/// Asks the processor to fetch an object that will be changed. It does not wait for it.
template <typename Object>
void FetchToWrite(const Object& object)
{
    const auto* const bytes = reinterpret_cast<const char*>(&object);
    for (std::size_t at = 0; at < sizeof(Object); at += CACHE_LINE)
    {
        __builtin_prefetch(bytes + at, 1);
    }
}

} // namespace netboxit::stages
