// SPDX-License-Identifier: GPL-2.0-or-later
#include "shaping.h"

#include "address_text.h"
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
constexpr const char* SHAPED = "25ab:1";
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
/// Of the budget what all else has beside telephony, which could take all of it: our own choice.
constexpr Rate PARTS = 8;
/// The initial window of a TCP (RFC 6928) must have room.
constexpr Rate LEAST_FRAMES = 10;
constexpr Rate LONGEST_QUEUE = 16 << 20;

/// What is not forwarded: RFC 5771 (local network control block), RFC 919, RFC 4291 (link-local).
constexpr std::array<const char*, 2> NOT_FORWARDED_IPV4{"224.0.0.0/24", "255.255.255.255/32"};
constexpr std::array<const char*, 2> NOT_FORWARDED_IPV6{"fe80::/10", "ff02::/16"};

/// EF (46, RFC 3246) and VOICE-ADMIT (44, RFC 5865), as octets of the IP header.
constexpr std::array<const char*, 2> TELEPHONY_CLASSES{"0xb8", "0xb0"};

Rate FrameOf(const ShapedInterface& interface)
{
    return interface.mtu + LINK_HEADERS;
}

/// With less, HTB would send more than the budget: it forgets a part of each frame's debt.
bool IsTooLittle(const ShapedInterface& interface, Rate budget)
{
    return budget * HTB_MEMORY_S < FrameOf(interface) * BITS_PER_BYTE;
}

/// Within the budget: which class, which number its queue has, how much of the budget is its own, and whether it goes first.
struct Share
{
    const char* classId;
    const char* queue;
    Rate parts;
    unsigned priority;
};

constexpr Share TELEPHONY{.classId = "25ab:20", .queue = "25ad:", .parts = PARTS - 1, .priority = 0};
constexpr Share OTHERS{.classId = "25ab:10", .queue = "25ac:", .parts = 1, .priority = 1};

std::string RateOf(Rate rate)
{
    return std::to_string(std::clamp<Rate>(rate, BITS_PER_BYTE, MOST_SHAPED)) + "bit";
}

/// What a class has of itself, and what it has with all that others leave.
std::string ClassOf(const ShapedInterface& interface, const char* parent, const char* classId, Rate own, Rate budget)
{
    const auto burst = std::max(FrameOf(interface), std::min(budget, MOST_SHAPED) / BITS_PER_BYTE / BURSTS_PER_S);
    const auto bytes = std::to_string(burst);
    // The quantum divides rate between classes of one priority, of which there is one; without it the kernel complains of the one
    // that it takes.
    return "dev " + interface.name + " parent " + parent + " classid " + classId + " htb rate " + RateOf(own) + " ceil " +
           RateOf(budget) + " burst " + bytes + " cburst " + bytes + " quantum " + std::to_string(FrameOf(interface));
}

std::string ClassOf(const ShapedInterface& interface, const Share& share, Rate budget)
{
    const auto own = budget / PARTS * share.parts;
    return ClassOf(interface, SHAPED, share.classId, own, budget) + " prio " + std::to_string(share.priority);
}

/// A TBF that never waits, at 1 Tbit/s: it cuts what a TCP hands over in one piece, of up to 64 KiB, into frames, which HTB does
/// not. Such a piece would be a burst of half a second at 1 Mbit/s.
std::string QueueOf(const ShapedInterface& interface, const Share& share, Rate budget)
{
    const auto least = LEAST_FRAMES * FrameOf(interface);
    const auto bytes = std::clamp(budget / BITS_PER_BYTE / QUEUES_PER_S, least, LONGEST_QUEUE);
    return "dev " + interface.name + " parent " + share.classId + " handle " + share.queue + " tbf rate 1tbit burst " +
           std::to_string(FrameOf(interface)) + " limit " + std::to_string(IsTooLittle(interface, budget) ? 1 : bytes);
}

/// Filters of one preference have one protocol.
class Filters
{
  public:
    explicit Filters(const std::string& interface) : m_interface(interface)
    {
    }

    void Exempt(const std::string& protocol, int preference, const std::string& match)
    {
        Add(protocol, preference, match, DIRECT);
    }

    void ExemptNetwork(const std::string& network)
    {
        const bool isIpv6 = network.find(':') != std::string::npos;
        ExemptIp(isIpv6, "match " + std::string(isIpv6 ? "ip6" : "ip") + " dst " + network);
    }

    /// Of UDP. Both ports are taken by this program, so that nobody else sends from them.
    void ExemptMessages(std::uint16_t source, std::uint16_t destination)
    {
        const auto ports = [&](const std::string& family) {
            return "match " + family + " protocol 17 0xff match " + family + " sport " + std::to_string(source) +
                   " 0xffff match " + family + " dport " + std::to_string(destination) + " 0xffff";
        };
        ExemptIp(false, ports("ip"));
        ExemptIp(true, ports("ip6"));
    }

    /// After all that is exempt. The two bits of ECN (RFC 3168) are not looked at.
    void PutFirst(const char* trafficClass)
    {
        Add("ip", 4, std::string("match ip dsfield ") + trafficClass + " 0xfc", TELEPHONY.classId);
        Add("ipv6", 5, std::string("match ip6 priority ") + trafficClass + " 0xfc", TELEPHONY.classId);
    }

    const std::string& Lines() const
    {
        return m_lines;
    }

  private:
    void ExemptIp(bool isIpv6, const std::string& match)
    {
        Exempt(isIpv6 ? "ipv6" : "ip", isIpv6 ? 3 : 2, match);
    }

    void Add(const std::string& protocol, int preference, const std::string& match, const char* classId)
    {
        m_lines += "filter add dev " + m_interface + " parent " + HANDLE + " protocol " + protocol + " prio " +
                   std::to_string(preference) + " u32 " + match + " classid " + classId + "\n";
    }

    const std::string& m_interface;
    std::string m_lines;
};

/// Lines that add or change them, with their queues.
std::string Classes(const std::string& action, const ShapedInterface& interface, Rate budget)
{
    auto lines = "class " + action + " " + ClassOf(interface, HANDLE, SHAPED, budget, budget) + "\n";
    for (const auto& share : {TELEPHONY, OTHERS})
    {
        lines += "class " + action + " " + ClassOf(interface, share, budget) + "\nqdisc " + action + " " +
                 QueueOf(interface, share, budget) + "\n";
    }
    return lines;
}

bool IsOwnRoot(const Json& queue)
{
    return queue.value("root", false) && queue.at("handle") == HANDLE && queue.at("kind") == "htb";
}

} // namespace

ShapedInterface ShapedInterfaceOf(const Json& links)
{
    const auto& interface = links.at(0);
    const auto& name = interface.at("ifname").get_ref<const std::string&>();
    if (name.find_first_of("#\"'\\") != std::string::npos)
    {
        throw std::runtime_error("interface " + name + ": `tc -batch` does not take this name (ip link set dev ... name ...)");
    }
    return {.name = name, .mtu = interface.at("mtu")};
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

std::string StartOfShaping(const ShapedInterface& interface, Rate budget, const Exempt& exempt)
{
    Filters filters(interface.name);
    filters.Exempt("arp", 1, "match u32 0 0");
    filters.ExemptMessages(MEMBER_PORT, ALLOCATOR_PORT);
    if (exempt.announcements)
    {
        filters.ExemptMessages(ALLOCATOR_PORT, MEMBER_PORT);
    }
    for (const auto* network : NOT_FORWARDED_IPV4)
    {
        filters.ExemptNetwork(network);
    }
    for (const auto* network : NOT_FORWARDED_IPV6)
    {
        filters.ExemptNetwork(network);
    }
    for (const auto& network : exempt.networks)
    {
        filters.ExemptNetwork(TextOf(network));
    }
    for (const auto* trafficClass : TELEPHONY_CLASSES)
    {
        filters.PutFirst(trafficClass);
    }
    return "qdisc add dev " + interface.name + " root handle " + HANDLE + " htb default 10 direct_qlen 1000\n" +
           Classes("add", interface, budget) + filters.Lines();
}

std::string ChangeOfShaping(const ShapedInterface& interface, Rate budget)
{
    return Classes("change", interface, budget);
}

std::string EndOfShaping(const std::string& interface)
{
    // With its number: the kernel refuses where somebody else's is there by now.
    return "qdisc del dev " + interface + " root handle " + HANDLE + "\n";
}

} // namespace netboxit::middleware
