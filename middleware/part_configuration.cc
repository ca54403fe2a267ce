// SPDX-License-Identifier: GPL-2.0-or-later
#include "part_configuration.h"

#include <arpa/inet.h>
#include <net/if.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace netboxit::middleware
{

namespace
{

constexpr std::array<std::string_view, 3> ENFORCEMENTS{"window", "shaper", "none"};
constexpr std::array<std::string_view, 2> ROLES{"allocator", "member"};
constexpr std::array<std::string_view, 2> KINDS_OF_DIVISION{"unweighted", "dybra"};
constexpr std::array<std::string_view, 2> EQUATIONS{"printed", "corrected"};
constexpr std::array<std::string_view, 2> DIRECTIONS{"transmit", "receive"};
constexpr std::array<std::string_view, 2> WITHOUT_LEASE{"unmanaged", "hold"};
constexpr std::size_t KEY_BYTES = 16;
/// Each is a filter of the kernel, by which each packet goes. Our own choice.
constexpr std::size_t MOST_BESIDE = 256;
constexpr unsigned IPV6_BITS = 128;
/// What is no address of one host that a route leads to: unspecified, multicast and reserved above it, link-local.
constexpr std::array NO_HOSTS{Prefix{Ipv4Address(0, 0).host, 128},
                              Prefix{Ipv4Address(0xe0000000, 0).host, IPV4_MAPPED_BITS + 3}, // 224.0.0.0/4 and 240.0.0.0/4
                              Prefix{{}, 128},
                              Prefix{{0xff}, 8},
                              Prefix{{0xfe, 0x80}, 10}};
/// Groups that no router forwards beyond an organisation (RFC 2365, section 6).
constexpr Prefix GROUPS{Ipv4Address(0xef000000, 0).host, IPV4_MAPPED_BITS + 8};
constexpr const char* HEX_DIGITS = "0123456789abcdefABCDEF";

/// The keys of one entry. A key with null is as one that is absent.
class Entry
{
  public:
    Entry(const Json& json, const std::string& path) : m_json(json), m_path(path)
    {
        if (!json.is_object())
        {
            throw std::invalid_argument(path + " is " + Shown(json) + ", not an object: give one for each part");
        }
    }

    [[noreturn]] void Refuse(const std::string& key, const std::string& permitted) const
    {
        const auto value = m_json.find(key);
        const auto found = value == m_json.end() ? std::string(" is missing: give ") : " is " + Shown(*value) + ": give ";
        throw std::invalid_argument(m_path + "." + key + found + permitted);
    }

    bool Has(const std::string& key)
    {
        m_asked.insert(key);
        const auto value = m_json.find(key);
        return value != m_json.end() && !value->is_null();
    }

    std::string Text(const std::string& key, const std::string& permitted)
    {
        if (!Has(key) || !m_json.at(key).is_string() || m_json.at(key).get_ref<const std::string&>().empty())
        {
            Refuse(key, permitted);
        }
        return m_json.at(key);
    }

    /// Which one of `words` it is.
    std::size_t Word(const std::string& key, std::span<const std::string_view> words)
    {
        std::string permitted;
        for (const auto& word : words)
        {
            permitted += (permitted.empty() ? "\"" : " or \"") + std::string(word) + "\"";
        }
        const auto found = std::ranges::find(words, Text(key, permitted));
        if (found == words.end())
        {
            Refuse(key, permitted);
        }
        return static_cast<std::size_t>(found - words.begin());
    }

    bool TruthOr(const std::string& key, bool otherwise)
    {
        if (!Has(key))
        {
            return otherwise;
        }
        if (!m_json.at(key).is_boolean())
        {
            Refuse(key, "true or false");
        }
        return m_json.at(key);
    }

    /// Empty where the key is absent.
    std::vector<std::string> Texts(const std::string& key, std::size_t most, const std::string& permitted)
    {
        if (!Has(key))
        {
            return {};
        }
        const auto& list = m_json.at(key);
        if (!list.is_array() || list.size() > most || !std::ranges::all_of(list, [](const Json& text) { return text.is_string(); }))
        {
            Refuse(key, permitted);
        }
        return list;
    }

    double Number(const std::string& key, double most, const std::string& permitted)
    {
        const bool isNumber = Has(key) && m_json.at(key).is_number();
        const auto number = isNumber ? m_json.at(key).get<double>() : std::nan("");
        if (!(number >= 0 && number <= most)) // also of what is no number
        {
            Refuse(key, permitted);
        }
        return number;
    }

    /// All whole numbers up to MOST_RATE are exact in a double.
    std::int64_t Whole(const std::string& key, std::int64_t most, const std::string& permitted)
    {
        const auto number = Number(key, static_cast<double>(most), permitted);
        if (number != std::floor(number))
        {
            Refuse(key, permitted);
        }
        return static_cast<std::int64_t>(number);
    }

    Rate BitsPerSecond(const std::string& key)
    {
        return Whole(key, MOST_RATE, "a whole number from 0 to 10^15, in bit/s");
    }

    /// After all keys have been asked for.
    void RefuseOthers() const
    {
        for (const auto& [key, value] : m_json.items())
        {
            if (!m_asked.contains(key))
            {
                throw std::invalid_argument(m_path + " has the key " + Shown(key) + ", which this role has not: leave it out");
            }
        }
    }

  private:
    static std::string Shown(const Json& value)
    {
        // What no encoding permits is shown all the same.
        return value.dump(-1, ' ', false, Json::error_handler_t::replace);
    }

    const Json& m_json;
    const std::string& m_path;
    std::set<std::string> m_asked;
};

/// k0 and k1 are little-endian, as SipHash has them (section 2.1 of its paper).
Key KeyOf(Entry& entry)
{
    if (!entry.Has("key"))
    {
        return {};
    }
    const std::string permitted = "32 hexadecimal digits that are not all 0, or null where the members agreed on no key";
    const auto digits = entry.Text("key", permitted);
    if (digits.size() != 2 * KEY_BYTES || digits.find_first_not_of(HEX_DIGITS) != std::string::npos)
    {
        entry.Refuse("key", permitted);
    }
    Key key{};
    for (std::size_t byte = 0; byte < KEY_BYTES; ++byte)
    {
        const auto value = std::stoull(digits.substr(2 * byte, 2), nullptr, 16);
        key[byte / 8] |= value << (8 * (byte % 8));
    }
    if (key == Key{})
    {
        entry.Refuse("key", permitted);
    }
    return key;
}

std::optional<HostAddress> HostOf(const std::string& text)
{
    in_addr ipv4{};
    if (::inet_pton(AF_INET, text.c_str(), &ipv4) == 1)
    {
        return Ipv4Address(ntohl(ipv4.s_addr), 0).host;
    }
    in6_addr ipv6{};
    if (::inet_pton(AF_INET6, text.c_str(), &ipv6) != 1 || IN6_IS_ADDR_V4MAPPED(&ipv6))
    {
        return std::nullopt;
    }
    HostAddress host{};
    std::ranges::copy(ipv6.s6_addr, host.begin());
    return host;
}

/// As "10.0.0.0/24" or "2001:db8::/64".
std::optional<Prefix> NetworkOf(const std::string& text)
{
    const auto slash = text.find('/');
    const auto host = HostOf(text.substr(0, slash));
    const auto digits = slash == std::string::npos ? std::string() : text.substr(slash + 1);
    if (!host || digits.empty() || digits.size() > 3 || digits.find_first_not_of("0123456789") != std::string::npos)
    {
        return std::nullopt;
    }
    const unsigned before = text.find(':') == std::string::npos ? IPV4_MAPPED_BITS : 0;
    const Prefix network{.first = *host, .length = before + static_cast<unsigned>(std::stoul(digits))};
    return network.length > IPV6_BITS ? std::nullopt : std::optional(network);
}

std::vector<Prefix> BesideOf(Entry& entry)
{
    const std::string permitted = "a list of up to " + std::to_string(MOST_BESIDE) + " IP networks, as \"10.0.0.0/24\"";
    std::vector<Prefix> networks;
    for (const auto& text : entry.Texts("beside", MOST_BESIDE, permitted))
    {
        const auto network = NetworkOf(text);
        if (!network)
        {
            entry.Refuse("beside", permitted);
        }
        networks.push_back(*network);
    }
    return networks;
}

/// A member sends to it by the routes of its host: no link-local address, whose link would have to be named, too.
Address AllocatorOf(Entry& entry)
{
    const std::string permitted =
        "the IPv4 or IPv6 address of the allocator's host, without a prefix length; not a link-local or multicast one";
    const auto host = HostOf(entry.Text("allocator", permitted));
    if (!host || std::ranges::any_of(NO_HOSTS, [&](const Prefix& network) { return network.Contains(*host); }))
    {
        entry.Refuse("allocator", permitted);
    }
    return {.host = *host, .port = ALLOCATOR_PORT};
}

HostAddress GroupOf(Entry& entry)
{
    const std::string permitted = "an IPv4 multicast group of 239.0.0.0/8, or null where each member has its copy";
    const auto group = HostOf(entry.Text("group", permitted));
    if (!group || !GROUPS.Contains(*group))
    {
        entry.Refuse("group", permitted);
    }
    return *group;
}

std::optional<AnnouncingGroup> AnnouncingGroupOf(Entry& entry)
{
    if (!entry.Has("group"))
    {
        return std::nullopt;
    }
    const auto group = GroupOf(entry);
    const std::string permitted = "the IPv4 address of this host that members ask, by whose interface the group is reached";
    const auto from = HostOf(entry.Text("address", permitted));
    if (!from || !IsIpv4(*from) || std::ranges::any_of(NO_HOSTS, [&](const Prefix& network) { return network.Contains(*from); }))
    {
        entry.Refuse("address", permitted);
    }
    return AnnouncingGroup{.group = group, .from = *from};
}

std::uint32_t DomainOf(Entry& entry)
{
    return static_cast<std::uint32_t>(
        entry.Whole("domain", UINT32_MAX, "a whole number from 0 to 4294967295, the same for all parts of the link"));
}

/// Linux takes neither (dev_valid_name), and a leading "-" would be an option of the programs that get the name.
bool IsInterfaceName(const std::string& name)
{
    const auto isForbidden = [](unsigned char character) {
        return character <= ' ' || character == '/' || character == ':' || character == 0x7f;
    };
    const bool isFolder = name == "." || name == "..";
    return name.size() < IFNAMSIZ && name.front() != '-' && !isFolder && std::ranges::none_of(name, isForbidden);
}

std::string InterfaceOf(Entry& entry, const std::string& permitted)
{
    auto name = entry.Text("interface", permitted);
    if (!IsInterfaceName(name))
    {
        entry.Refuse("interface", permitted);
    }
    return name;
}

std::optional<FollowedLink> FollowedBy(Entry& entry)
{
    if (!entry.Has("follows"))
    {
        return std::nullopt;
    }
    if (entry.Has("capacity_bps"))
    {
        entry.Refuse("capacity_bps", "none where follows says that a netbox tells it");
    }
    FollowedLink link{.interface = InterfaceOf(entry, "the name of the interface of this host where the netbox is"),
                      .isReceived = entry.Word("follows", DIRECTIONS) == 1};
    if (entry.Has("exploitation"))
    {
        const std::string permitted = "a number above 0 and at most 1, the part of the rate that is divided";
        link.exploitation = entry.Number("exploitation", 1, permitted);
        if (link.exploitation == 0)
        {
            entry.Refuse("exploitation", permitted);
        }
    }
    return link;
}

AllocatorPart ReadAllocator(Entry& entry)
{
    auto follows = FollowedBy(entry);
    Allocator::Settings settings{
        .domain = DomainOf(entry), .capacity = follows ? 0 : entry.BitsPerSecond("capacity_bps"), .key = KeyOf(entry)};
    settings.reassigns = entry.Word("kind", KINDS_OF_DIVISION) == 1;
    if (entry.Has("equations"))
    {
        settings.equations = static_cast<Equations>(entry.Word("equations", EQUATIONS));
    }
    settings.recovers = entry.TruthOr("recovers", settings.recovers);
    auto group = AnnouncingGroupOf(entry);
    settings.multicast = group.has_value();
    return {.settings = settings, .follows = std::move(follows), .group = group};
}

MemberPart ReadMember(Entry& entry)
{
    Member::Settings settings{.domain = DomainOf(entry), .allocator = AllocatorOf(entry), .key = KeyOf(entry)};
    if (entry.Has("without_lease"))
    {
        settings.withoutLease = static_cast<Member::WithoutLease>(entry.Word("without_lease", WITHOUT_LEASE));
    }
    if (entry.Has("threshold"))
    {
        constexpr double THOUSAND = 1000;
        const auto part = entry.Number("threshold", 1, "a number from 0 to 1, the part by which a rate has to change");
        settings.threshold = static_cast<unsigned>(std::lround(part * THOUSAND));
    }
    if (entry.Has("kind"))
    {
        // The allocator decides, and says it in its grants. Who wrote the file is told of a wrong word all the same.
        entry.Word("kind", KINDS_OF_DIVISION);
    }
    // Hosts in virtual time follow it; this member is one from the beginning to the end.
    entry.TruthOr("while_sending", false);
    MemberPart part{.settings = settings,
                    .enforcement = static_cast<Enforcement>(entry.Word("enforcement", ENFORCEMENTS)),
                    .interface = entry.Has("interface")
                                     ? std::optional(InterfaceOf(entry,
                                                                 "the name of an interface of this host, or null for the one by "
                                                                 "which the allocator is reached"))
                                     : std::nullopt,
                    .access = entry.Has("access_bps") ? std::optional(entry.BitsPerSecond("access_bps")) : std::nullopt,
                    .telemetry = entry.TruthOr("telemetry", false),
                    .beside = BesideOf(entry),
                    .group = entry.Has("group") ? std::optional(GroupOf(entry)) : std::nullopt};
    if (part.group && !IsIpv4(settings.allocator.host))
    {
        entry.Refuse("group", "none where the allocator has an IPv6 address: groups are of IPv4");
    }
    if (part.telemetry && part.access)
    {
        entry.Refuse("telemetry", "false where access_bps says the access");
    }
    return part;
}

std::uint32_t DomainOf(const Part& part)
{
    return std::visit([](const auto& role) { return role.settings.domain; }, part.role);
}

} // namespace

std::optional<Rate> FollowedLink::CapacityOf(std::uint64_t transmit, std::uint64_t receive) const
{
    const auto told = std::min<std::uint64_t>(isReceived ? receive : transmit, MOST_RATE);
    return told == 0 ? std::nullopt : std::optional(static_cast<Rate>(exploitation * static_cast<double>(told)));
}

std::string_view NameOf(Enforcement enforcement)
{
    return ENFORCEMENTS[static_cast<std::size_t>(enforcement)];
}

Part ReadPart(const Json& json, const std::string& path)
{
    Entry entry(json, path);
    Part part{.name = entry.Text("name", "the name of the managed link"), .role = {}};
    if (entry.Word("role", ROLES) == 0)
    {
        part.role = ReadAllocator(entry);
    }
    else
    {
        part.role = ReadMember(entry);
    }
    entry.RefuseOthers();
    return part;
}

std::vector<Part> ReadParts(const Json& management)
{
    if (!management.is_array())
    {
        throw std::invalid_argument("management is no list: give a list with an object for each part of this host");
    }
    std::vector<Part> parts;
    for (const auto& entry : management)
    {
        const auto path = "management[" + std::to_string(parts.size()) + "]";
        auto part = ReadPart(entry, path);
        for (const auto& other : parts)
        {
            const bool isSame = other.name == part.name || DomainOf(other) == DomainOf(part);
            if (other.role.index() == part.role.index() && isSame)
            {
                const auto domain = std::to_string(DomainOf(part));
                throw std::invalid_argument(path + " (" + part.name + ", domain " + domain + ") has the role, and the name or " +
                                            "the domain, of an entry before it: give each link its own");
            }
        }
        parts.push_back(std::move(part));
    }
    return parts;
}

} // namespace netboxit::middleware
