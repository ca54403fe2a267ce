// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "classifier.h"
#include "live_limits.h"
#include "memory_wire.h"
#include "segment.h"

#include <optional>

namespace netboxit
{

/// The configuration cannot be used. The message is one line that names the key and the cause.
struct BadConfiguration : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/// Limits of times in the configuration and in control methods.
inline constexpr double LONGEST_S = 1e9;
inline constexpr double SHORTEST_INTERVAL_S = 0.01;

enum class ClockKind
{
    Real,
    Virtual,
};

enum class PortKind
{
    Packet, ///< a packet socket on a network interface
    Xdp,    ///< AF_XDP on a network interface
    Memory, ///< rings that are shared with the other end of a wire
    Pcapng, ///< captures, in virtual time
    Joined, ///< the wire leads to another node of the same process, in virtual time
};

/// Where a station's frames come from and go to; what a kind does not use is empty.
struct PortConfiguration
{
    PortKind kind{PortKind::Packet};
    std::string interface; ///< Packet, Xdp
    bool fallback{};       ///< Xdp: where it cannot be had, a packet socket will do
    std::string wire;      ///< Memory: the wire's folder
    WireEnd end{};         ///< Memory
    std::string input;     ///< Pcapng: the capture whose frames enter; empty: none do
    std::string output;    ///< Pcapng: empty: what leaves is only counted
    std::string capture;   ///< Joined: where all frames go that pass; empty: nowhere
    std::size_t snapshot{};  ///< Joined: bytes of each that are kept there
    std::uint32_t mtu{};   ///< 0: what the interface says, or 1500
};

struct StationConfiguration
{
    std::string name;
    PortConfiguration port;
};

struct RealtimeConfiguration
{
    std::int64_t limitNs{1'000'000}; ///< lateness beyond this is a miss
    bool abort{false};               ///< a miss ends the netbox
    int priority{50};                ///< SCHED_FIFO; 0: not asked for
    std::int64_t spinNs{50'000};     ///< how long before an event the loop stops sleeping
    double spinShare{0.2};           ///< of one core's time, at most, for spinning
    std::uint64_t timerSlackNs{1};
    /// CPU time that the kernel grants the container's real-time threads in each second; nothing: its general
    /// limit.
    std::optional<std::int64_t> runtimeUs;
    std::int64_t periodUs{1'000'000}; ///< the kernel grants it in parts, one in each such period
    std::optional<int> ioCore;        ///< where a second thread moves frames in and out; nothing: there is none
};

/// A live change at a simulated time.
struct ScheduledChange
{
    std::int64_t at; ///< ns
    std::string parameter;
    Json value;
};

/// What `netbox.json` says (docs/architecture.md, "Netbox process").
struct Configuration
{
    std::string name;
    std::string technology;
    std::uint32_t seed{1};
    ClockKind clock{ClockKind::Real};
    std::optional<std::int64_t> duration; ///< virtual time, ns
    std::int64_t start{0}; ///< virtual time: simulated time at which the first input frame enters, ns
    std::vector<StationConfiguration> stations;
    Classifier classifier{Json::array()};
    Json parameters;
    Json stages = Json::object(); ///< by station: a list, in the order in which packets from its node pass them
    Json linkLayer; ///< between the ports and the segment; null: none
    bool telemetry{false}; ///< the node at each port is told about its link
    LiveLimits live;
    RealtimeConfiguration realtime;
    std::string control;    ///< path, empty: none
    std::string records;    ///< path, empty: none
    std::string statistics; ///< path, empty: none
    std::string journal;    ///< path, empty: none
    std::optional<std::int64_t> interval; ///< virtual time: between samples of the statistics in the journal, ns; nothing: none
    std::vector<ScheduledChange> changes;
};

/// What a file has, as JSON; throws BadConfiguration.
Json ReadJson(const std::string& path);

/// Reads a netbox's configuration; throws BadConfiguration.
Configuration ReadConfiguration(const Json& json);

} // namespace netboxit
