// SPDX-License-Identifier: GPL-2.0-or-later
#include "shaping.h"

#include "messages.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace netboxit::middleware
{

namespace
{

using Json = nlohmann::json;

/// By this number a run finds what an earlier one left that was killed. Those that the kernel chooses begin at 8000:.
constexpr const char* HANDLE = "25ab:";
constexpr const char* SHAPED = "25ab:10";
constexpr const char* QUEUE = "25ac:";
/// HTB's name for its direct queue.
constexpr const char* DIRECT = "25ab:0";

/// An Ethernet header and one VLAN tag.
constexpr Rate LINK_HEADERS = 14 + 4;
constexpr Rate BITS_PER_BYTE = 8;
/// HTB forgets what a class sent above its rate after so long (sch_htb.c, mbuffer).
constexpr Rate HTB_MEMORY_S = 60;
/// A frame takes more than one tick of 64 ns, by which tc tells the kernel a burst. Above this rate the shaper is slower than the
/// budget.
constexpr Rate MOST_SHAPED = 100'000'000'000;
/// A burst lasts for this part of a second at the class's rate: 5 ms. Timers that are late by less than that lose no rate. If all
/// members of a link send a burst at the same time, the link's queue becomes 5 ms long. One frame at least.
constexpr Rate BURSTS_PER_S = 200;
/// A queue of 250 ms: about the round-trip time of long paths on the ground, so that a TCP that halves its window keeps the rate.
/// Our own choice.
constexpr Rate QUEUES_PER_S = 4;
/// The initial window of a TCP (RFC 6928) must have room.
constexpr Rate LEAST_FRAMES = 10;
constexpr Rate LONGEST_QUEUE = 16 << 20;

/// What is not forwarded: RFC 5771 (local network control block), RFC 919, RFC 4291 (link-local).
constexpr std::array<const char*, 2> NOT_FORWARDED_IPV4{"224.0.0.0/24", "255.255.255.255/32"};
constexpr std::array<const char*, 2> NOT_FORWARDED_IPV6{"fe80::/10", "ff02::/16"};

Rate FrameOf(const ShapedInterface& interface)
{
    return interface.mtu + LINK_HEADERS;
}

/// With less, HTB would send more than the budget: it forgets a part of each frame's debt.
bool IsTooLittle(const ShapedInterface& interface, Rate budget)
{
    return budget * HTB_MEMORY_S < FrameOf(interface) * BITS_PER_BYTE;
}

std::string ClassOf(const ShapedInterface& interface, Rate budget)
{
    const auto rate = std::to_string(std::clamp<Rate>(budget, BITS_PER_BYTE, MOST_SHAPED)) + "bit";
    const auto burst = std::max(FrameOf(interface), std::min(budget, MOST_SHAPED) / BITS_PER_BYTE / BURSTS_PER_S);
    const auto bytes = std::to_string(burst);
    // The quantum divides rate between classes, of which there is one; without it the kernel complains of the one that it takes.
    return "dev " + interface.name + " parent " + HANDLE + " classid " + SHAPED + " htb rate " + rate + " ceil " + rate +
           " burst " + bytes + " cburst " + bytes + " quantum " + std::to_string(FrameOf(interface));
}

/// A TBF that never waits, at 1 Tbit/s: it cuts what a TCP hands over in one piece, of up to 64 KiB, into frames, which HTB does
/// not. Such a piece would be a burst of half a second at 1 Mbit/s.
std::string QueueOf(const ShapedInterface& interface, Rate budget)
{
    const auto least = LEAST_FRAMES * FrameOf(interface);
    const auto bytes = std::clamp(budget / BITS_PER_BYTE / QUEUES_PER_S, least, LONGEST_QUEUE);
    return "dev " + interface.name + " parent " + SHAPED + " handle " + QUEUE + " tbf rate 1tbit burst " +
           std::to_string(FrameOf(interface)) + " limit " + std::to_string(IsTooLittle(interface, budget) ? 1 : bytes);
}

/// Filters of one preference have one protocol.
class Exemptions
{
  public:
    explicit Exemptions(const std::string& interface) : m_interface(interface)
    {
    }

    void Add(const std::string& protocol, int preference, const std::string& match)
    {
        m_lines += "filter add dev " + m_interface + " parent " + HANDLE + " protocol " + protocol + " prio " +
                   std::to_string(preference) + " u32 " + match + " classid " + DIRECT + "\n";
    }

    void AddNetwork(const std::string& network)
    {
        const bool isIpv6 = network.find(':') != std::string::npos;
        AddIp(isIpv6, "match " + std::string(isIpv6 ? "ip6" : "ip") + " dst " + network);
    }

    /// Of UDP. Both ports are taken by this program, so that nobody else sends from them.
    void AddMessages(std::uint16_t source, std::uint16_t destination)
    {
        const auto ports = [&](const std::string& family) {
            return "match " + family + " protocol 17 0xff match " + family + " sport " + std::to_string(source) +
                   " 0xffff match " + family + " dport " + std::to_string(destination) + " 0xffff";
        };
        AddIp(false, ports("ip"));
        AddIp(true, ports("ip6"));
    }

    const std::string& Lines() const
    {
        return m_lines;
    }

  private:
    void AddIp(bool isIpv6, const std::string& match)
    {
        Add(isIpv6 ? "ipv6" : "ip", isIpv6 ? 3 : 2, match);
    }

    const std::string& m_interface;
    std::string m_lines;
};

bool IsOwnRoot(const Json& queue)
{
    return queue.value("root", false) && queue.at("handle") == HANDLE && queue.at("kind") == "htb";
}

} // namespace

ShapedInterface ShapedInterfaceOf(const Json& addresses)
{
    const auto& interface = addresses.at(0);
    const auto& name = interface.at("ifname").get_ref<const std::string&>();
    if (name.find_first_of("#\"'\\") != std::string::npos)
    {
        throw std::runtime_error("interface " + name + ": `tc -batch` does not take this name (ip link set dev ... name ...)");
    }
    ShapedInterface shaped{.name = interface.at("ifname"), .mtu = interface.at("mtu"), .onLink = {}};
    for (const auto& address : interface.at("addr_info"))
    {
        // Of a point-to-point link the other end's network is on it ("address").
        const auto& on = address.contains("address") ? address.at("address") : address.at("local");
        shaped.onLink.push_back(on.get<std::string>() + "/" + std::to_string(address.at("prefixlen").get<int>()));
    }
    return shaped;
}

Root RootOf(const Json& queues)
{
    const auto root = std::ranges::find_if(queues, [](const Json& queue) { return queue.value("root", false); });
    // The kernel's defaults have no number.
    if (root == queues.end() || root->at("handle") == "0:")
    {
        return Root::Kernel;
    }
    return IsOwnRoot(*root) ? Root::Own : Root::Foreign;
}

std::vector<std::string> ShapedInterfaces(const Json& queues)
{
    std::vector<std::string> interfaces;
    for (const auto& queue : queues)
    {
        if (IsOwnRoot(queue))
        {
            interfaces.push_back(queue.at("dev"));
        }
    }
    return interfaces;
}

std::string StartOfShaping(const ShapedInterface& interface, Rate budget, bool sendsAnnouncements)
{
    Exemptions exemptions(interface.name);
    exemptions.Add("arp", 1, "match u32 0 0");
    exemptions.AddMessages(MEMBER_PORT, ALLOCATOR_PORT);
    if (sendsAnnouncements)
    {
        exemptions.AddMessages(ALLOCATOR_PORT, MEMBER_PORT);
    }
    for (const auto* network : NOT_FORWARDED_IPV4)
    {
        exemptions.AddNetwork(network);
    }
    for (const auto* network : NOT_FORWARDED_IPV6)
    {
        exemptions.AddNetwork(network);
    }
    for (const auto& network : interface.onLink)
    {
        exemptions.AddNetwork(network);
    }
    return "qdisc add dev " + interface.name + " root handle " + HANDLE + " htb default 10 direct_qlen 1000\nclass add " +
           ClassOf(interface, budget) + "\nqdisc add " + QueueOf(interface, budget) + "\n" + exemptions.Lines();
}

std::string ChangeOfShaping(const ShapedInterface& interface, Rate budget)
{
    return "class change " + ClassOf(interface, budget) + "\nqdisc change " + QueueOf(interface, budget) + "\n";
}

std::string EndOfShaping(const std::string& interface)
{
    // With its number: the kernel refuses where somebody else's is there by now.
    return "qdisc del dev " + interface + " root handle " + HANDLE + "\n";
}

} // namespace netboxit::middleware
