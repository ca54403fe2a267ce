// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "frame_scheduler.h"
#include "layer_settings.h"
#include "link_host.h"
#include "pacer.h"
#include "service_metrics.h"
#include "service_place.h"
#include "share_meter.h"

#include <array>
#include <memory>
#include <vector>

namespace netboxit::multiservice
{

/// One end of a multi-service link layer (Xylomenos 1999, 6.2, F6.1): pacing, services, frame scheduler,
/// demultiplexer and multiplexer. The classifier is the host's: it says which service a packet goes to.
///
/// Settings are JSON in base units, as the technology's parameters.py dumps them, with all keys:
///
///     services: [{scheme: …, share: 0.33, queue: 1000, …}, …]   by ServiceId; make_service.h has the schemes
///     shares: fixed | measured                                  section 6.2.1
///     measure_interval: 1.0                                     s, also of the metrics
///     smoothing: 0.0                                            weight of the metrics reported before, section 8.3
///     timer_factor: services | share | a number                 section 6.2.2
///     pacing: none | packet | batch                             section 6.2.1
///     pacing_batch: 10                                          packets
///     pacing_overhead: 0                                        bytes that the link adds to each packet
///
/// One thread. All calls happen at Timebase::Now().
class MultiServiceLink
{
  public:
    /// `timebase` and `host` outlive it, and so does the pool of its packets.
    MultiServiceLink(const Json& settings, const LinkFacts& facts, LinkEnd end, Timebase& timebase, LinkHost& host);
    ~MultiServiceLink();

    // Above.

    /// Whether pacing permits a packet now. Always without pacing.
    bool IsOpen() const;
    /// A packet for a service. Call where it is open. A service that does not exist is 0 (section 6.2.1).
    void Send(ServiceId service, const Packet& packet);

    // Below.

    /// The transmission of the frame that Transmit() was called with has ended.
    void TransmitComplete();
    /// An undamaged frame of the other end.
    void Receive(const AirFrame& frame);
    /// A frame of the other end that was damaged on the air. For accounts only.
    void Damaged(const AirFrame& frame);
    /// The other end's GaveUp().
    void PeerGaveUp(ServiceId service, std::uint16_t sequence);

    // Administration (section 6.2.1), live.

    /// New settings for services that keep their schemes, and for all else. Throws std::invalid_argument where one is not
    /// permitted, or where the schemes or their number differ (ChangeSchemes() is for that); nothing changes then.
    void Set(const Json& settings);
    void SetFacts(const LinkFacts& facts);
    /// Gives both ends of a link new services where their schemes differ, adds or removes services at the end, and does all
    /// that Set() does. It stands for a reset that both ends have agreed on. A packet that a service took and that has not been
    /// delivered goes through the service that takes its place, in the same order, before all later ones; through service 0
    /// where there is none. It waits as long as that service has no room. Frames of services that repeat nothing go on.
    static void ChangeSchemes(MultiServiceLink& one, const Json& ofOne, MultiServiceLink& other, const Json& ofOther);

    /// Throws what ChangeSchemes() would throw; nothing changes.
    static void Check(MultiServiceLink& one, const Json& ofOne, MultiServiceLink& other, const Json& ofOther);

    std::size_t Services() const
    {
        return m_settings.places.size();
    }

    /// Bytes of frames that wait for the transmitter.
    std::uint64_t QueuedBytes() const
    {
        return m_scheduler.Bytes();
    }

    /// Starts counts and metrics anew.
    void ResetStatistics();

    /// How headers of a service's frames look in bytes. Of a service that exists.
    const HeaderFormat& FormatOf(ServiceId service) const;
    const ServiceStatistics& StatisticsOf(ServiceId service) const;
    const ServiceMetrics& MetricsOf(ServiceId service) const;
    /// Of all services, by ServiceId, in base units: counts of this end, its metrics, and with `other`, the layer at the other
    /// end, the effective goodput from here to there.
    Json Read(const MultiServiceLink* other = nullptr) const;

  private:
    using NewServices = std::vector<std::unique_ptr<Service>>;

    /// Settings of one of two ends, and its services by them.
    struct NewEnd
    {
        MultiServiceLink& link;
        LayerSettings settings;
        NewServices services;
        std::array<std::vector<Packet>, MOST_SERVICES> left{}; ///< packets of services that were replaced
    };

    static std::array<NewEnd, 2> NewEnds(
        MultiServiceLink& one, const Json& ofOne, MultiServiceLink& other, const Json& ofOther);

    /// Services by these settings, in their places and unused.
    NewServices MakeServices(const LayerSettings& settings);
    /// All but the services themselves.
    void Apply(const LayerSettings& settings);
    void SetShare(ServiceId service, double share);
    void SetTimerFactors();
    void Measure();
    /// Begins to transmit, if the transmitter is free and a frame waits.
    void Pump();
    /// Where packets and frames of a service go: to service 0 where there is no such service.
    ServicePlace& PlaceOf(ServiceId service);

    LinkFacts m_facts;
    LinkEnd m_end;
    Timebase& m_timebase;
    LinkHost& m_host;
    FrameScheduler m_scheduler;
    LayerSettings m_settings;
    std::array<std::unique_ptr<ServicePlace>, MOST_SERVICES> m_places; ///< the first ones have services
    std::array<double, MOST_SERVICES> m_sharesNow{};
    Pacer m_pacer;
    ShareMeter m_meter;
    Timer m_opening;
    Timer m_measuring;
    AirFrame m_onAir;
    bool m_isTransmitting{false};
};

} // namespace netboxit::multiservice
