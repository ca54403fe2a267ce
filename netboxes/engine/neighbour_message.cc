// SPDX-License-Identifier: GPL-2.0-or-later
#include "neighbour_message.h"

#include <algorithm>

namespace netboxit
{

namespace
{

constexpr std::size_t SHORTEST_FRAME = 60; ///< IEEE 802.3, without FCS

// RFC 826: Ethernet, IPv4, lengths of the addresses; then the operation, and the sender's and the target's addresses.
constexpr std::array<std::uint8_t, 6> ARP_OF_IPV4{0, 1, 0x08, 0, 6, 4};
constexpr std::size_t ARP_LENGTH = 28;
constexpr std::uint16_t ARP_REQUEST = 1;
constexpr std::uint16_t ARP_REPLY = 2;

// RFC 4861, section 4.
constexpr std::uint8_t ICMP_V6 = 58;
constexpr std::uint8_t HOP_LIMIT = 255;
constexpr std::uint8_t ROUTER_SOLICITATION = 133;
constexpr std::uint8_t ROUTER_ADVERTISEMENT = 134;
constexpr std::uint8_t NEIGHBOUR_SOLICITATION = 135;
constexpr std::uint8_t NEIGHBOUR_ADVERTISEMENT = 136;
constexpr std::uint8_t SOURCE_MAC = 1;
constexpr std::uint8_t TARGET_MAC = 2;
constexpr std::uint8_t ROUTER_FLAG = 0x80;
constexpr std::uint8_t SOLICITED_FLAG = 0x40;
constexpr std::uint8_t OVERRIDE_FLAG = 0x20;
constexpr std::size_t IPV6_HEADER = 40;
constexpr std::size_t ADVERTISEMENT_LENGTH = 32; ///< with the option that has the MAC address
constexpr std::array<std::uint8_t, 16> ALL_NODES{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
constexpr MacAddress ALL_NODES_MAC{0x33, 0x33, 0, 0, 0, 1};

MacAddress MacAt(Bytes bytes, std::size_t at)
{
    MacAddress mac;
    std::ranges::copy(bytes.subspan(at, mac.size()), mac.begin());
    return mac;
}

bool IsUnspecified(Bytes address)
{
    return std::ranges::all_of(address, [](std::uint8_t byte) { return byte == 0; });
}

bool IsLinkLocal(Bytes address)
{
    return address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
}

bool IsGroup(const MacAddress& mac)
{
    return (mac[0] & 1) != 0;
}

/// The tags' identifiers; nothing of more than two.
std::optional<std::uint32_t> VlansOf(Bytes frame, const Headers& headers)
{
    const auto tags = frame.size() - headers.afterType.size() - ETHERNET_HEADER;
    if (tags > 2 * VLAN_TAG)
    {
        return std::nullopt;
    }
    std::uint32_t vlans = 0;
    for (std::size_t tag = 0; tag < tags; tag += VLAN_TAG)
    {
        vlans = vlans << 12 | (BigEndian16(frame, ETHERNET_HEADER + tag) & 0x0fffu);
    }
    return vlans;
}

NetworkAddress AddressOf(std::uint32_t vlans, std::uint8_t version, Bytes bytes)
{
    NetworkAddress address{.vlans = vlans, .version = version};
    std::ranges::copy(bytes, address.bytes.begin());
    return address;
}

std::optional<NeighbourMessage> ReadArp(const Headers& headers, std::uint32_t vlans)
{
    const auto packet = headers.afterType;
    if (packet.size() < ARP_LENGTH || !std::ranges::equal(packet.first(ARP_OF_IPV4.size()), ARP_OF_IPV4))
    {
        return std::nullopt;
    }
    const auto operation = BigEndian16(packet, 6);
    if (operation != ARP_REQUEST && operation != ARP_REPLY)
    {
        return std::nullopt;
    }
    const auto senderMac = MacAt(packet, 8);
    const auto sender = packet.subspan(14, 4);
    const auto target = packet.subspan(24, 4);
    NeighbourMessage message;
    message.asker = packet.subspan(8, 10);
    // Who speaks for another MAC address than it sends from is not believed.
    if (!IsUnspecified(sender) && senderMac == headers.source && !IsGroup(senderMac))
    {
        message.claim = {AddressOf(vlans, 4, sender), senderMac, false};
    }
    const bool ofItself = std::ranges::equal(sender, target);
    if (operation == ARP_REQUEST && !ofItself)
    {
        message.question = AddressOf(vlans, 4, target);
        message.probe = IsUnspecified(sender);
    }
    else
    {
        message.announcement = ofItself || IsGroup(headers.destination);
    }
    return message;
}

/// RFC 1071, over IPv6's pseudo-header (RFC 8200, 8.1) and the message: 0 when the checksum in the message is right.
std::uint16_t ChecksumOf(Bytes addresses, Bytes message)
{
    std::uint32_t sum = ICMP_V6 + static_cast<std::uint32_t>(message.size());
    for (const auto part : {addresses, message})
    {
        for (std::size_t at = 0; at < part.size(); ++at)
        {
            sum += at % 2 == 0 ? part[at] << 8 : part[at];
        }
    }
    while (sum >> 16 != 0)
    {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return static_cast<std::uint16_t>(~sum);
}

struct Options
{
    bool areSound{true};
    std::optional<MacAddress> source;
    std::optional<MacAddress> target;
};

Options ReadOptions(Bytes rest)
{
    Options options;
    while (!rest.empty())
    {
        const std::size_t length = rest.size() < 2 ? 0 : rest[1] * 8u;
        if (length == 0 || length > rest.size())
        {
            return {.areSound = false, .source = {}, .target = {}};
        }
        if (length == 8 && (rest[0] == SOURCE_MAC || rest[0] == TARGET_MAC))
        {
            (rest[0] == SOURCE_MAC ? options.source : options.target) = MacAt(rest, 2);
        }
        rest = rest.subspan(length);
    }
    return options;
}

/// Bytes of a message of this type before its options; 0 of other types.
std::size_t FixedPartOf(std::uint8_t type)
{
    switch (type)
    {
    case ROUTER_SOLICITATION:
        return 8;
    case ROUTER_ADVERTISEMENT:
        return 16;
    case NEIGHBOUR_SOLICITATION:
    case NEIGHBOUR_ADVERTISEMENT:
        return 24;
    default:
        return 0;
    }
}

void Claim(NeighbourMessage& message,
           const NetworkAddress& address,
           const std::optional<MacAddress>& mac,
           std::optional<bool> router)
{
    if (mac && !IsGroup(*mac))
    {
        message.claim = {address, *mac, router};
    }
}

std::optional<NeighbourMessage> ReadNeighbourDiscovery(const Headers& headers, std::uint32_t vlans)
{
    const auto& ip = *headers.ip;
    const auto packet = ip.payload;
    const auto fixed = ip.header[6] != ICMP_V6 || packet.size() < 4 ? 0 : FixedPartOf(packet[0]);
    if (fixed == 0 || packet.size() < fixed || packet.size() != BigEndian16(ip.header, 4) ||
        ip.header[7] != HOP_LIMIT || packet[1] != 0 || ChecksumOf(ip.header.subspan(8, 32), packet) != 0)
    {
        return std::nullopt;
    }
    const auto options = ReadOptions(packet.subspan(fixed));
    const bool fromNobody = IsUnspecified(ip.source);
    const bool toGroup = ip.destination[0] == 0xff;
    NeighbourMessage message;
    if (!options.areSound || (fromNobody && options.source))
    {
        return std::nullopt;
    }
    if (fixed < 24)
    {
        const bool ofRouter = packet[0] == ROUTER_ADVERTISEMENT;
        if (ofRouter && !IsLinkLocal(ip.source))
        {
            return std::nullopt;
        }
        const auto router = ofRouter ? std::optional(true) : std::nullopt;
        Claim(message, AddressOf(vlans, 6, ip.source), options.source, router);
        return message;
    }
    const auto target = packet.subspan(8, 16);
    if (target[0] == 0xff || (fromNobody && !toGroup))
    {
        return std::nullopt;
    }
    if (packet[0] == NEIGHBOUR_SOLICITATION)
    {
        Claim(message, AddressOf(vlans, 6, ip.source), options.source, std::nullopt);
        message.question = AddressOf(vlans, 6, target);
        message.probe = fromNobody;
        return message;
    }
    if (toGroup && (packet[4] & SOLICITED_FLAG) != 0)
    {
        return std::nullopt;
    }
    Claim(message, AddressOf(vlans, 6, target), options.target, (packet[4] & ROUTER_FLAG) != 0);
    message.announcement = toGroup;
    return message;
}

template <typename Range>
void Append(std::vector<std::uint8_t>& bytes, const Range& more)
{
    bytes.insert(bytes.end(), std::begin(more), std::end(more));
}

void AppendArpReply(std::vector<std::uint8_t>& answer, const NeighbourMessage& message, const MacAddress& owner)
{
    Append(answer, ARP_OF_IPV4);
    Append(answer, std::array<std::uint8_t, 2>{0, ARP_REPLY});
    Append(answer, owner);
    Append(answer, std::span(message.question->bytes).first(4));
    Append(answer, message.asker);
}

void AppendAdvertisement(std::vector<std::uint8_t>& answer,
                         const IpHeaders& ip,
                         const NeighbourMessage& message,
                         const MacAddress& owner,
                         bool router)
{
    std::vector<std::uint8_t> packet{0x60, 0, 0, 0, 0, ADVERTISEMENT_LENGTH, ICMP_V6, HOP_LIMIT};
    Append(packet, message.question->bytes);
    Append(packet, message.probe ? Bytes(ALL_NODES) : ip.source);
    const auto flags = static_cast<std::uint8_t>((router ? ROUTER_FLAG : 0) |
                                                 (message.probe ? 0 : SOLICITED_FLAG) | OVERRIDE_FLAG);
    Append(packet, std::array<std::uint8_t, 8>{NEIGHBOUR_ADVERTISEMENT, 0, 0, 0, flags, 0, 0, 0});
    Append(packet, message.question->bytes);
    Append(packet, std::array<std::uint8_t, 2>{TARGET_MAC, 1});
    Append(packet, owner);
    const Bytes bytes(packet);
    const auto checksum = ChecksumOf(bytes.subspan(8, 32), bytes.subspan(IPV6_HEADER));
    packet[IPV6_HEADER + 2] = static_cast<std::uint8_t>(checksum >> 8);
    packet[IPV6_HEADER + 3] = static_cast<std::uint8_t>(checksum);
    Append(answer, packet);
}

} // namespace

std::optional<NeighbourMessage> ReadNeighbourMessage(Bytes frame, const Headers& headers)
{
    const auto vlans = VlansOf(frame, headers);
    if (!vlans)
    {
        return std::nullopt;
    }
    if (headers.etherType == ether_type::ARP)
    {
        return ReadArp(headers, *vlans);
    }
    return headers.ip && headers.ip->version == 6 ? ReadNeighbourDiscovery(headers, *vlans) : std::nullopt;
}

std::vector<std::uint8_t> AnswerOf(
    Bytes frame, const Headers& headers, const NeighbourMessage& message, const MacAddress& owner, bool router)
{
    std::vector<std::uint8_t> answer;
    const bool isArp = headers.etherType == ether_type::ARP;
    Append(answer, !isArp && message.probe ? ALL_NODES_MAC : headers.source);
    Append(answer, owner);
    // Tags and EtherType as in the question.
    const auto types = frame.first(frame.size() - headers.afterType.size()).subspan(answer.size());
    Append(answer, types);
    if (isArp)
    {
        AppendArpReply(answer, message, owner);
    }
    else
    {
        AppendAdvertisement(answer, *headers.ip, message, owner, router);
    }
    // Long enough without the tags, too: bridges take them off.
    answer.resize(std::max(answer.size(), SHORTEST_FRAME + types.size() - sizeof(headers.etherType)));
    return answer;
}

} // namespace netboxit
