// SPDX-License-Identifier: GPL-2.0-or-later
#include "segment_module.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace netboxit
{

namespace
{

/// MakeSegment of segment.h, as the compiler names it (Itanium C++ ABI, 5.1).
constexpr auto MAKE_SEGMENT = "_ZN8netboxit11MakeSegmentERKNS_12SegmentSetupE";

std::filesystem::path ModuleOf(const std::string& technology)
{
    if (!std::ranges::all_of(technology,
                             [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '-' || letter == '_'; }))
    {
        throw std::runtime_error("technology: \"" + technology + "\" is no name of one");
    }
    return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "segments" / (technology + ".so");
}

} // namespace

SegmentMaker LoadSegment(const std::string& technology)
{
    const auto module = ModuleOf(technology);
    auto* const handle = ::dlopen(module.c_str(), RTLD_LAZY | RTLD_LOCAL); // ns-3 has libraries that lack what nobody calls
    if (handle == nullptr)
    {
        throw std::runtime_error("technology " + technology + " cannot be loaded: " + ::dlerror() + "; remedy: make setup");
    }
    auto* const found = ::dlsym(handle, MAKE_SEGMENT);
    if (found == nullptr)
    {
        throw std::runtime_error(module.string() + " has no MakeSegment; remedy: make setup");
    }
    return reinterpret_cast<SegmentMaker>(found);
}

} // namespace netboxit
