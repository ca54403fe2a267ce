// SPDX-License-Identifier: GPL-2.0-or-later
#include "tcp_options.h"

#include <algorithm>
#include <array>

namespace netboxit
{

namespace
{

/// What is in force where the configuration says nothing.
struct Defaults
{
    bool sack;
    bool timestamps;
    bool windowScaling;
    double initialWindow; ///< segments
    double ackEvery;      ///< segments
    double smallestTimeout; ///< s
};

/// RFC 6928, and TCP_RTO_MIN.
constexpr Defaults OF_LINUX{true, true, true, 10, 2, 0.2};
/// What ns-2 2.1b4 has (ns-default.tcl): windows of segments, nothing of RFC 1323 or RFC 2018, two ticks as least timeout.
constexpr Defaults OF_1999{false, false, false, 1, 1, 1.0};
/// It measures the acknowledgement of each segment.
constexpr Defaults OF_NOORDWIJK{true, true, true, 10, 1, 0.2};

/// Bytes: Linux sends none that are smaller (TCP_MIN_SND_MSS).
constexpr double LEAST_MSS = 48;

struct Variant
{
    std::string_view name;
    const char* type;
    TcpBehaviour behaviour{TcpBehaviour::Ordinary};
    Defaults defaults{OF_LINUX};
};

/// The last ones bring a congestion control of their own.
constexpr std::array VARIANTS{Variant{"newreno", "ns3::TcpNewReno"},
                              Variant{"linux-reno", "netboxit::LinuxReno"},
                              Variant{"cubic", "netboxit::Cubic"},
                              Variant{"bbr", "netboxit::Bbr"},
                              Variant{"vegas", "ns3::TcpVegas"},
                              Variant{"hybla", "ns3::TcpHybla"},
                              Variant{"westwood+", "ns3::TcpWestwoodPlus"},
                              Variant{"bic", "ns3::TcpBic"},
                              Variant{"highspeed", "ns3::TcpHighSpeed"},
                              Variant{"dctcp", "ns3::TcpDctcp"},
                              Variant{"reno-1999", "ns3::TcpNewReno", TcpBehaviour::Reno1999, OF_1999},
                              Variant{"noordwijk", "ns3::TcpNewReno", TcpBehaviour::Noordwijk, OF_NOORDWIJK}};

/// What Linux's may grow to is 4 MiB of memory (tcp_wmem), of which on Linux 6.18 two thirds are data.
constexpr double SEND_BUFFER = 2.8e6;
constexpr double RECEIVE_BUFFER = 6291456; ///< What Linux's may grow to (tcp_rmem).
constexpr double LARGEST_BUFFER = 1 << 30; ///< RFC 7323, 2.3
/// TCP_DELACK_MIN.
constexpr double ACK_TIMEOUT = 0.04;
/// Of Noordwijk, as the dissertation of C. A. Grazia has it (2.2.2.1).
constexpr double BURST = 20;
constexpr double BURST_TIMER = 0.5;

const Variant& ReadVariant(Section& section)
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
    return *found;
}

bool TruthOr(Section& section, const std::string& key, bool otherwise)
{
    return section.At(key).is_null() ? otherwise : section.Truth(key);
}

/// As Linux's tcp_ecn: nothing said (2) accepts it from those that ask, true (1) asks for it, too, false (0) refuses it.
ns3::TcpSocketState::UseEcn_t ReadEcn(Section& section)
{
    if (section.At("ecn").is_null())
    {
        return ns3::TcpSocketState::AcceptOnly;
    }
    return section.Truth("ecn") ? ns3::TcpSocketState::On : ns3::TcpSocketState::Off;
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
    const auto& variant = ReadVariant(section);
    const auto& defaults = variant.defaults;
    if (variant.behaviour != TcpBehaviour::Noordwijk)
    {
        for (const auto* key : {"burst", "burst_timer_s"})
        {
            if (!section.At(key).is_null())
            {
                section.Refuse(key, "is of noordwijk alone; leave it out, or write \"variant\": \"noordwijk\"");
            }
        }
    }
    TcpOptions options{.variant = ns3::TypeId::LookupByName(variant.type),
                       .behaviour = variant.behaviour,
                       .sack = TruthOr(section, "sack", defaults.sack),
                       .ecn = ReadEcn(section),
                       .lowLatency = TruthOr(section, "l4s", false),
                       .timestamps = TruthOr(section, "timestamps", defaults.timestamps),
                       .windowScaling = TruthOr(section, "window_scaling", defaults.windowScaling),
                       .initialWindow = Whole(section, "initial_window", defaults.initialWindow, 1, 65535),
                       .ssthresh = WholeOrNone(section, "initial_ssthresh", 1, UINT32_MAX),
                       .segment = WholeOrNone(section, "mss", LEAST_MSS, 9176),
                       .sendBuffer = Whole(section, "send_buffer", SEND_BUFFER, 4096, LARGEST_BUFFER),
                       .receiveBuffer = Whole(section, "receive_buffer", RECEIVE_BUFFER, 4096, LARGEST_BUFFER),
                       .ackEvery = Whole(section, "ack_every", defaults.ackEvery, 1, 255),
                       .ackTimeout = ns3::Seconds(section.NumberOr("ack_timeout_s", ACK_TIMEOUT, 1e-6, 60)),
                       .pacing = TruthOr(section, "pacing", false),
                       .smallestTimeout = ns3::Seconds(section.NumberOr("rto_min_s", defaults.smallestTimeout, 1e-3, 60)),
                       .burst = Whole(section, "burst", BURST, 1, 1000),
                       .burstTimer = ns3::Seconds(section.NumberOr("burst_timer_s", BURST_TIMER, 1e-3, 60))};
    if (options.lowLatency && variant.name != "dctcp")
    {
        section.Refuse("l4s", "is of dctcp alone, which is scalable (RFC 9331, 4.3); leave it out, or write \"variant\": \"dctcp\"");
    }
    section.Finish();
    return options;
}

} // namespace netboxit
