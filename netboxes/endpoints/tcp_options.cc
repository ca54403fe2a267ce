// SPDX-License-Identifier: GPL-2.0-or-later
#include "tcp_options.h"

#include <algorithm>
#include <array>

namespace netboxit
{

namespace
{

struct Variant
{
    std::string_view name;
    const char* type;
};

constexpr std::array VARIANTS{Variant{"newreno", "ns3::TcpNewReno"},
                              Variant{"linux-reno", "ns3::TcpLinuxReno"},
                              Variant{"cubic", "ns3::TcpCubic"},
                              Variant{"bbr", "ns3::TcpBbr"},
                              Variant{"vegas", "ns3::TcpVegas"},
                              Variant{"hybla", "ns3::TcpHybla"},
                              Variant{"westwood+", "ns3::TcpWestwoodPlus"},
                              Variant{"bic", "ns3::TcpBic"},
                              Variant{"highspeed", "ns3::TcpHighSpeed"},
                              Variant{"dctcp", "ns3::TcpDctcp"}};

// tcp_wmem and tcp_rmem: what Linux's buffers may grow to.
constexpr double SEND_BUFFER = 4194304;
constexpr double RECEIVE_BUFFER = 6291456;
constexpr double LARGEST_BUFFER = 1 << 30; ///< RFC 7323, 2.3
/// RFC 6928.
constexpr double INITIAL_WINDOW = 10;
/// TCP_DELACK_MIN and TCP_RTO_MIN.
constexpr double ACK_TIMEOUT = 0.04;
constexpr double SMALLEST_TIMEOUT = 0.2;

ns3::TypeId ReadVariant(Section& section)
{
    const auto name = section.TextOr("variant", "cubic");
    const auto found = std::ranges::find(VARIANTS, name, &Variant::name);
    if (found == VARIANTS.end())
    {
        std::string known;
        for (const auto& variant : VARIANTS)
        {
            known += (known.empty() ? "" : ", ") + std::string(variant.name);
        }
        section.Refuse("variant", "is \"" + name + "\"; there are " + known);
    }
    return ns3::TypeId::LookupByName(found->type);
}

bool TruthOr(Section& section, const std::string& key, bool otherwise)
{
    return section.At(key).is_null() ? otherwise : section.Truth(key);
}

std::uint32_t Whole(Section& section, const std::string& key, double otherwise, double least, double most)
{
    return static_cast<std::uint32_t>(section.NumberOr(key, otherwise, least, most));
}

std::optional<std::uint32_t> WholeOrNone(Section& section, const std::string& key, double least, double most)
{
    return section.At(key).is_null() ? std::nullopt : std::optional(Whole(section, key, 0, least, most));
}

} // namespace

TcpOptions ReadTcpOptions(Section& configuration)
{
    static const auto nothing = Json::object();
    const auto& json = configuration.At("tcp");
    Section section(json.is_null() ? nothing : json, configuration.Path("tcp"));
    TcpOptions options{.variant = ReadVariant(section),
                       .sack = TruthOr(section, "sack", true),
                       .ecn = TruthOr(section, "ecn", false),
                       .timestamps = TruthOr(section, "timestamps", true),
                       .windowScaling = TruthOr(section, "window_scaling", true),
                       .initialWindow = Whole(section, "initial_window", INITIAL_WINDOW, 1, 65535),
                       .ssthresh = WholeOrNone(section, "initial_ssthresh", 1, UINT32_MAX),
                       .segment = WholeOrNone(section, "mss", 88, 9176),
                       .sendBuffer = Whole(section, "send_buffer", SEND_BUFFER, 4096, LARGEST_BUFFER),
                       .receiveBuffer = Whole(section, "receive_buffer", RECEIVE_BUFFER, 4096, LARGEST_BUFFER),
                       .ackEvery = Whole(section, "ack_every", 2, 1, 255),
                       .ackTimeout = ns3::Seconds(section.NumberOr("ack_timeout_s", ACK_TIMEOUT, 1e-6, 60)),
                       .pacing = TruthOr(section, "pacing", false),
                       .smallestTimeout = ns3::Seconds(section.NumberOr("rto_min_s", SMALLEST_TIMEOUT, 1e-3, 60))};
    section.Finish();
    return options;
}

} // namespace netboxit
