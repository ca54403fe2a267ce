// SPDX-License-Identifier: GPL-2.0-or-later
#include "prelude.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <array>
#include <utility>

namespace netboxit
{

namespace
{

/// The library has FromSimDevice and ToSimDevice in place of the user-level devices. The counters carry the handlers that the originals have
/// (count, reset_counts); arguments are kept in scripts that never run, where the driver reads them.
constexpr std::string_view PRELUDE = R"click(
elementclass FromDevice { $device, __REST__ $rest |
  FromSimDevice($device, SNAPLEN 8192) -> device :: Counter -> output;
  netboxit_arguments :: Script(TYPE PASSIVE, return "$rest") };
elementclass PollDevice FromDevice;
elementclass ToDevice { $device, __REST__ $rest |
  input -> device :: Counter -> ToSimDevice($device);
  netboxit_arguments :: Script(TYPE PASSIVE, return "$rest") };
elementclass ToHost { __REST__ $rest | input -> netboxit_discards :: Discard };
elementclass ToHostSniffers ToHost;
elementclass ControlSocket { __REST__ $rest | netboxit_control :: Script(TYPE PASSIVE, return "$rest") };
)click";

constexpr std::string_view NO_KERNEL_STACK =
    "click-router does not share frames with the kernel's own IP stack: take frames from an interface with FromDevice and give them to "
    "one with ToDevice";
constexpr std::string_view NO_SOCKETS =
    "the Click library of ns-3 is built without sockets of its own: send and receive through FromDevice and ToDevice";
constexpr std::string_view NOT_BUILT = "the Click library of ns-3 is built without it";

constexpr std::array<std::pair<std::string_view, std::string_view>, 16> UNKNOWN{{
    {"FromHost", NO_KERNEL_STACK},
    {"KernelTun", NO_KERNEL_STACK},
    {"KernelTap", NO_KERNEL_STACK},
    {"KernelFilter", NO_KERNEL_STACK},
    {"Socket", NO_SOCKETS},
    {"RawSocket", NO_SOCKETS},
    {"McastSocket", NO_SOCKETS},
    {"ChatterSocket", NO_SOCKETS},
    {"LookupIPRoute", "use StaticIPLookup or RadixIPLookup, its names since Click 1.4"},
    {"DirectIPLookup", "use RadixIPLookup, which answers alike"},
    {"RangeIPLookup", "use RadixIPLookup, which answers alike"},
    {"LinuxIPLookup", NO_KERNEL_STACK},
    {"EtherSwitch", NOT_BUILT},
    {"ProbSplitter", "use RandomSample, whose second output is the other share"},
    {"FastUDPSource", "use RatedSource -> UDPIPEncap -> EtherEncap"},
    {"UDPSource", "use RatedSource -> UDPIPEncap -> EtherEncap"},
}};

std::string
ReadWhole(const std::string& path)
{
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "reading the configuration " + path);
    std::string text;
    std::array<char, 16384> part;
    for (;;)
    {
        const auto count = ::read(file.Get(), part.data(), part.size());
        Checked(static_cast<int>(count), "reading the configuration " + path);
        if (count == 0)
        {
            return text;
        }
        text.append(part.data(), static_cast<std::size_t>(count));
    }
}

} // namespace

Descriptor
ComposeConfiguration(const std::string& path)
{
    std::string text(PRELUDE);
    text += "# 1 \"" + path + "\"\n" + ReadWhole(path);
    Descriptor file(::memfd_create("click", MFD_CLOEXEC), "a file in memory for the configuration");
    WriteWhole(file.Get(), text.data(), text.size(), 0, "writing the configuration to memory");
    return file;
}

std::string_view
WhyUnknown(std::string_view elementClass)
{
    for (const auto& [name, why] : UNKNOWN)
    {
        if (name == elementClass)
        {
            return why;
        }
    }
    return {};
}

} // namespace netboxit
