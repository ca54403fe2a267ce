// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "carrier.h"
#include "network_control.h"

#include "ns3/event-id.h"

namespace netboxit
{

/// How the shared return channel is divided (EN 301 545-2, 7.5: superframes of timeslots on carriers).
struct SuperframeLayout
{
    std::uint32_t carriers{};
    std::uint32_t slotsPerCarrier{};
    double slotBits{};               ///< that a slot carries in the reference waveform
    double rate{};                   ///< of a carrier in it, bit/s
    std::uint32_t controlInterval{}; ///< superframes from one control slot of a terminal to its next
    std::uint32_t controlPerSlot{};  ///< control bursts that take as long as a traffic slot
    double leadTime{};               ///< s from when a plan is made until it leaves the hub, and from when it arrives until it is used
};

/// The return channel that terminals share: MF-TDMA with superframes, whose slots the network control centre assigns anew in each.
/// Superframes are those of the terminals' transmissions: all arrive aligned, because terminals send earlier by what they are farther.
/// There are events only while somebody has something to send or holds capacity that he asked for.
class ReturnChannel
{
  public:
    /// What the channel asks the segment.
    struct Surroundings
    {
        /// Bytes that a slot carries for a terminal now; 0 when it cannot be reached.
        NetworkControl::Payload payload;
        /// Propagation between a terminal and the hub, now.
        std::function<ns3::Time(std::size_t terminal)> delay;
        /// Whether a control burst that a terminal sends now will be received.
        std::function<bool(std::size_t terminal)> requestArrives;
    };

    ReturnChannel(const SuperframeLayout& layout, std::vector<NetworkControl::Terminal> terminals, Surroundings surroundings);

    ReturnChannel(const ReturnChannel&) = delete;
    ReturnChannel& operator=(const ReturnChannel&) = delete;

    /// The sender of the next terminal, in their order; to be called once for each.
    std::unique_ptr<Sender> MakeSender(std::unique_ptr<BurstFiller> filler);

    /// Of a carrier, bit/s, from the next superframe on.
    void SetRate(double rate);
    /// Of a carrier now, bit/s.
    double Rate() const
    {
        return m_layout.rate;
    }
    void SetCraRate(std::size_t terminal, double rate);
    void SetRbdcMaximum(std::size_t terminal, double rate);

    /// Slots of a superframe that are for traffic, on all carriers together.
    std::uint32_t TrafficSlots() const;
    ns3::Time Duration() const;
    /// How long a superframe would last at another rate of a carrier, s: it has as many slots.
    double DurationAt(double rate) const
    {
        return m_layout.slotsPerCarrier * m_layout.slotBits / rate;
    }

  private:
    class Terminal;

    void Wake(Terminal& terminal);
    void OpenSuperframe(std::int64_t number);
    void NextSuperframe();
    void ScheduleSlot(Terminal& terminal);
    void SendSlot(Terminal* terminal, ns3::Time end);
    void ScheduleControl(Terminal& terminal);
    void SendControl(Terminal* terminal);
    std::uint32_t ControlSlots() const;
    ns3::Time SlotTime(std::uint32_t slots) const;
    ns3::Time Start(std::int64_t superframe) const;
    std::int64_t NumberAt(ns3::Time now) const;
    void ApplyRate(std::int64_t superframe);

    SuperframeLayout m_layout;
    std::vector<NetworkControl::Terminal> m_classes;
    NetworkControl m_control;
    Surroundings m_surroundings;
    std::vector<Terminal*> m_terminals; ///< owned by the segment
    std::vector<std::uint32_t> m_spread; ///< slot times in an order of which any consecutive ones are spread evenly
    std::size_t m_controlled{};          ///< terminals with control slots
    std::optional<double> m_newRate;
    bool m_active{};
    std::int64_t m_number{-1}; ///< of the superframe that is planned
    std::int64_t m_origin{};   ///< number of the superframe that began at m_originTime
    ns3::Time m_originTime;
    ns3::EventId m_next;
};

} // namespace netboxit
