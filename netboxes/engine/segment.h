// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "frame.h"
#include "headers.h"
#include "link_state.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace netboxit
{

using Json = nlohmann::json;

/// The engine's side of the contract: a segment says here what became of each copy of a frame, at the simulation time at which it happens.
/// One copy is expected for each station a frame was destined to; a copy that is never accounted for is counted as Loss::Unknown
/// when its slot expires (30 s).
class Fates
{
  public:
    virtual ~Fates() = default;
    /// The frame has arrived at `station`, whose port sends it now. A second copy for the same station is ignored and counted.
    virtual void Deliver(SlotId frame, StationId station) = 0;
    /// The copy for `station` will never arrive.
    virtual void Lose(SlotId frame, StationId station, Loss reason) = 0;
    /// No copy that is still on its way will arrive.
    virtual void LoseAll(SlotId frame, Loss reason) = 0;
};

/// The frames themselves: for segments that are ends of a network, sources and sinks of traffic, and for media that repeat frames or damage them.
class Frames
{
  public:
    virtual ~Frames() = default;
    /// A frame (without FCS; copied) begins here and leaves at the port of `station` now. False, and nothing leaves,
    /// when the netbox is full or the frame is longer than the port's MTU allows.
    virtual bool Emit(StationId station, Bytes frame) = 0;
    /// A frame's bytes, without FCS; none when the name is stale. Valid until the frame's fate is settled.
    virtual Bytes Read(SlotId frame) const = 0;
    /// The same bytes, to be changed on their way: every copy that is delivered from now on has them so; none when the name is stale.
    virtual std::span<std::uint8_t> Rewrite(SlotId frame) = 0;
    /// Sets Congestion Experienced (RFC 3168) in the copy for `station`, where none is named in all copies that are still awaited. Copies for
    /// others stay as they are. False, and nothing changes, where the packet is not capable of ECN, or the name is stale.
    virtual bool MarkCongestion(SlotId frame, std::optional<StationId> station) = 0;
    /// One more frame like this one, as if it had come in with it, which only `station` awaits; its fate is its own. None when the
    /// name is stale or the netbox is full.
    virtual std::optional<SlotId> Duplicate(SlotId frame, StationId station) = 0;
    /// When the frame came in at its port, ns since 1970; 0 when the name is stale.
    virtual std::int64_t ArrivedAt(SlotId frame) const = 0;
    /// The frame has reached its end here: no copy goes on.
    virtual void Absorb(SlotId frame) = 0;
    /// How far the clock is ahead of Simulator::Now(), ns: how late the segment acts. 0 in virtual time.
    virtual std::int64_t Behind() const = 0;
    /// A simulated time (ns) as ns since 1970.
    virtual std::int64_t StampOf(std::int64_t time) const = 0;
};

/// What happens to stations in the course of a run, for its journal (docs/architecture.md, "Journal").
class Announcements
{
  public:
    virtual ~Announcements() = default;
    /// Something happened now that whoever watches the network should know: `event` is a word of the journal's
    /// vocabulary ("link_down", "link_up", "handover", …), `details` an object of what else there is to tell, in base units.
    virtual void Announce(std::string_view event,
                          std::optional<StationId> station,
                          const Json& details = Json::object()) = 0;
    /// What an application measured of itself, for its analysis; `details` have its flow's name as "flow".
    virtual void Record(std::string_view what, const Json& details) = 0;
};

/// A live parameter has no such name. The message lists those that exist.
struct UnknownParameter : std::invalid_argument
{
    using std::invalid_argument::invalid_argument;
};

/// A value is not one that the parameter permits. The message gives the permitted ones, with their unit and source.
struct OutOfRange : std::invalid_argument
{
    using std::invalid_argument::invalid_argument;
};

/// A station that nothing can reach now: it is not associated, ranged, attached or logged on, or its link is interrupted.
struct Unlinked
{
    StationId station;
    Json details; ///< "reason", in words, and whatever else there is to tell
};

/// Everything a segment is made from.
struct SegmentSetup
{
    std::vector<std::string> stations; ///< names, by StationId
    std::vector<std::string> classes;  ///< names, by ClassId; the last one is "default"
    Json parameters;                   ///< the technology's parameters: names as in YAML, values in base units (m, s, Hz, bit/s, B, dB, dBm);
                                       ///< those that can be changed are within the limits of parameters.py
    Fates& fates;                      ///< outlives the segment
    Frames& frames;                    ///< outlives the segment
    Announcements& announcements;      ///< outlives the segment
};

/// One emulated network segment: the whole contract that a technology fulfils. All calls happen in the simulator's one thread, at Simulator::Now().
class Segment
{
  public:
    virtual ~Segment() = default;
    /// Hands a frame to station `from`, whose port received it now.
    virtual void Transmit(StationId from, Destination to, const Frame& frame) = 0;
    /// Changes a live parameter (name and base unit as in YAML; that of one station is "station.parameter", see
    /// station_parameter.h); throws UnknownParameter or OutOfRange and then changes nothing. The value is within
    /// the limits of parameters.py: the engine has looked.
    virtual void Set(std::string_view parameter, const Json& value) = 0;
    /// Statistics now: an object with "stations": {name: {counter: number}} and whatever the technology adds.
    virtual Json Read() const = 0;
    /// All stations have their links, and the network's time begins within seconds: what is to be done before can be done now.
    virtual void Prepare() {}
    /// The network's time begins now: whatever follows a time of its own (paths, profiles, traces, series) starts from its time 0.
    /// Until then it stays as it is at time 0. May come again, and then starts anew.
    virtual void Begin() {}
    /// Starts the segment's statistics anew, where it has any that grow with time.
    virtual void Reset() {}
    /// True when the segment is an end of the network: each frame that arrives is offered to it as it is, for everyone, without a
    /// bridge, and no station expects a copy.
    virtual bool IsEnd() const { return false; }
    /// How long before their time events may run (ns), so that frames can leave on time although computing takes time: they wait for
    /// the clock. In exchange a frame that comes in meanwhile enters later, by as much at most.
    virtual std::int64_t Lead() const { return 0; }
    /// True when the medium has no address resolution: the engine answers ARP and neighbour discovery (neighbour_proxy.h).
    virtual bool ProxiesNeighbours() const { return false; }
    /// Whether frames from one station can reach the other one now, as far as the segment knows: asked for the answers of that proxy.
    virtual bool Connects(StationId from, StationId to) const { return true; }
    /// The stations that have no link now. When the network's time begins they are announced as "link_down", after Begin().
    virtual std::vector<Unlinked> WithoutLink() const { return {}; }
    /// What the segment can say of a station's link now; none where it has no rates of its own to tell.
    virtual std::optional<LinkState> StateOf(StationId station) const { return {}; }
    /// False while stations may still be on their way into the network: until each has its link, or the time is over that they
    /// take. One that is out of range then comes when it can.
    virtual bool Ready() const { return true; }
};

/// Each technology defines this one function in its `segment.cc`. Random streams must come from ns-3 (seed and run are set already),
/// with stream numbers assigned explicitly, so that the same seed gives the same run.
std::unique_ptr<Segment> MakeSegment(const SegmentSetup& setup);

/// That function, of the technology that a program has in it, or of a module that it has loaded.
using SegmentMaker = std::unique_ptr<Segment> (*)(const SegmentSetup& setup);

} // namespace netboxit
