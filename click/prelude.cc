// SPDX-License-Identifier: GPL-2.0-or-later
#include "prelude.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <array>
#include <sstream>
#include <utility>

namespace netboxit::click
{

namespace
{

/// The library has FromSimDevice and ToSimDevice in place of the user-level devices. The counters carry the
/// handlers that the originals have (count, reset_counts); arguments are kept in scripts that never run,
/// where the driver reads them.
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
    "click-router does not share frames with the kernel's own IP stack: take frames from an interface with "
    "FromDevice and give them to "
    "one with ToDevice";
constexpr std::string_view NO_SOCKETS = "the Click library of ns-3 is built without sockets of its own: send "
                                        "and receive through FromDevice and ToDevice";
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

/// What to say about an element class that Click does not know; empty when there is nothing to add to Click's
/// own message.
std::string_view WhyUnknown(std::string_view elementClass)
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

/// Click names the file in memory where it has no line of the user's to name.
std::string InWordsOfTheUser(std::string messages,
                             const std::string& memory,
                             const std::string& configuration)
{
    for (auto at = messages.find(memory); at != std::string::npos;
         at = messages.find(memory, at + configuration.size()))
    {
        messages.replace(at, memory.size(), configuration);
    }
    return messages;
}

/// Lines about a class that Click does not know, like FromHost, are followed by one that says why and what to
/// use instead.
std::string WithExplanations(const std::string& messages)
{
    std::string all;
    std::istringstream lines(messages);
    for (std::string line; std::getline(lines, line);)
    {
        all += line + "\n";
        for (const std::string_view announcement : {"unknown element class '", "undeclared element '"})
        {
            if (const auto at = line.find(announcement); at != std::string::npos)
            {
                const auto name =
                    line.substr(at + announcement.size(), line.rfind('\'') - at - announcement.size());
                const auto why = WhyUnknown(name);
                all += why.empty() ? "" : "  " + std::string(why) + "\n";
            }
        }
    }
    return all;
}

} // namespace

std::string ReadConfiguration(const std::string& path)
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

Descriptor ComposeConfiguration(const std::string& text, const std::string& name)
{
    const auto whole = std::string(PRELUDE) + "# 1 \"" + name + "\"\n" + text;
    Descriptor file(::memfd_create("click", MFD_CLOEXEC), "a file in memory for the configuration");
    WriteWhole(file.Get(), whole.data(), whole.size(), 0, "writing the configuration to memory");
    return file;
}

std::string ExplainMessages(const std::string& messages,
                            const std::string& memory,
                            const std::string& configuration)
{
    return WithExplanations(InWordsOfTheUser(messages, memory, configuration));
}

} // namespace netboxit::click
