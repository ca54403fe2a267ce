// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "outgoing.h"

#include "../engine/loss_counts.h"

#include "ns3/random-variable-stream.h"

#include <span>

namespace netboxit
{

/// What all media of Ethernet have in common: live parameters, wires that are cut and joined again, bit errors, and what is told of
/// them. A medium applies what changes.
class Medium : public Segment
{
  public:
    explicit Medium(const SegmentSetup& setup);

    void Set(std::string_view parameter, const Json& value) override;
    Json Read() const override;
    void Begin() override;
    std::vector<Unlinked> WithoutLink() const override;
    std::optional<LinkState> StateOf(StationId station) const override;
    void Reset() override;

  protected:
    /// Numbers of random streams from here on are of the queues: two of each station.
    static constexpr std::int64_t QUEUE_STREAMS = 8000;

    /// One station's wire.
    struct Wire
    {
        std::uint64_t rate{};   ///< bit/s
        std::int64_t delay{};   ///< one way, ns
        bool ownRate{false};    ///< not the medium's
        bool ownDelay{false};
        bool off{false};        ///< an outage of its own
        bool cut{false};        ///< nothing passes
        bool announced{false};  ///< that it is
        LossCounts lost;        ///< of what its station sent
    };

    /// A rate or a delay of this station has changed.
    virtual void ApplyRate(StationId station) = 0;
    virtual void ApplyDelay(StationId station) = 0;
    /// Its wire was cut or joined.
    virtual void ApplyCut(StationId station) = 0;
    /// All queues are to be as `queue`, a parameter, says; throws OutOfRange and then changes none.
    virtual void ApplyQueue(const Json& queue) = 0;
    virtual bool IsCutBy(bool all, std::span<const Wire> wires, StationId station) const;
    /// True when stations have rates and delays of their own.
    virtual bool HasOwnWires() const;
    /// Throws OutOfRange when the medium cannot have this rate (bit/s) and delay (s) together.
    virtual void Check(double rate, double delay) const;
    virtual Json ReadStation(StationId station) const = 0;
    virtual void ResetStation(StationId station) = 0;

    Wire& At(StationId station)
    {
        return m_wires[station];
    }

    const Wire& At(StationId station) const
    {
        return m_wires[station];
    }

    StationId Count() const
    {
        return static_cast<StationId>(m_wires.size());
    }

    /// Has what is cut or joined applied. A medium calls it when it is made, too.
    void LookAtCuts();
    /// For what is on a wire: no bit of so many bytes, preamble included, was damaged. By chance.
    bool Survives(std::uint32_t bytes)
    {
        return m_logOfGoodBit == 0.0 || DrawSurvival(bytes);
    }

    Fates& m_fates;

  private:
    bool DrawSurvival(std::uint32_t bytes);
    void SetRate(std::optional<StationId> station, double rate);
    void SetDelay(std::optional<StationId> station, double delay);
    void SetOutage(std::optional<StationId> station, const Json& value);
    void AnnounceCuts();

    Announcements& m_announcements;
    std::vector<std::string> m_names;
    std::vector<Wire> m_wires;
    double m_velocity; ///< of signals, m/s
    double m_logOfGoodBit{0.0};
    bool m_allOff{false};
    ns3::Ptr<ns3::UniformRandomVariable> m_random;
};

} // namespace netboxit
