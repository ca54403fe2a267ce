// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../errors/errors.h"
#include "../queueing/queue.h"

#include "../link_layer/accounting.h"
#include "../link_layer/multi_service_link.h"
#include "../link_layer/packets_under_way.h"

#include <deque>

namespace netboxit::multiservice
{

/// What both ends of a link have in common.
struct AirParts
{
    Timebase& timebase;
    PacketPool& pool;
    PacketsUnderWay& underWay;
    const Accounting& accounting;
    std::uint32_t overhead; ///< bytes of each frame
};

/// One end of a link: a queue, the link layer, its transmitter, and the air on which its frames go to the other end.
class AirEnd : public LinkHost
{
  public:
    /// Of the station `id`. Uses the stream numbers from STREAMS * id on.
    AirEnd(const SegmentSetup& setup, StationId id, const AirParts& parts, const Json& queue);

    AirEnd(const AirEnd&) = delete;
    AirEnd& operator=(const AirEnd&) = delete;

    static constexpr std::int64_t STREAMS = 4;

    /// Begins with a link layer of these settings, opposite the other end. Throws std::invalid_argument.
    void Begin(const Json& layer, const LinkFacts& facts, LinkEnd end, AirEnd& other);

    void Send(const Frame& frame);

    /// Which service each traffic class goes through.
    void SetServices(std::vector<ServiceId> ofClasses);
    void SetFacts(const LinkFacts& facts);
    void SetQueue(const Json& queue);
    void SetErrors(const Json& errors);
    void SetUp(bool isUp);
    /// The network's time begins.
    void BeginTime();

    MultiServiceLink& Layer()
    {
        return *m_layer;
    }

    bool IsUp() const
    {
        return m_isUp;
    }

    const LinkFacts& Facts() const
    {
        return m_facts;
    }

    /// Statistics but those of its services.
    Json Read();
    /// Also those of its services.
    void Reset();

    void Transmit(const AirFrame& frame) override;
    void Deliver(ServiceId service, const Packet& packet) override;
    void Opened() override;
    void GaveUp(ServiceId service, std::uint16_t sequence) override;
    std::span<const std::uint8_t> BytesOf(const Packet& packet) const override;
    void Keep(const Packet& packet) override;

  private:
    struct Waiting
    {
        SlotId slot;
        ClassId trafficClass{};
        std::uint32_t bytes{};
    };

    /// A packet of which some pieces have gone into the link layer.
    struct Sending
    {
        Waiting waiting;
        std::uint64_t item{};
        std::uint32_t pieces{};
        std::uint32_t next{};
    };

    struct OnAir
    {
        std::int64_t arrival;
        AirFrame frame;
        bool isDamaged;
    };

    struct Counters
    {
        std::uint64_t sent{};
        std::uint64_t sentBytes{};
        std::uint64_t damaged{};
        std::int64_t sending{}; ///< ns
    };

    /// Gives the link layer what it takes.
    void Feed();
    void SendPiece();
    void Arrive();

    StationId m_id;
    Frames& m_frames;
    AirParts m_parts;
    std::vector<ServiceId> m_services; ///< by ClassId
    queueing::Queue<Waiting> m_queue;
    errors::Errors m_errors;
    LinkFacts m_facts;
    bool m_isUp{true};
    AirEnd* m_other{nullptr};
    std::unique_ptr<MultiServiceLink> m_layer;
    std::optional<Sending> m_sending;
    std::deque<OnAir> m_air; ///< in the order of their arrival
    std::unique_ptr<Alarm> m_sent;
    std::unique_ptr<Alarm> m_arrives;
    Counters m_counters;
};

} // namespace netboxit::multiservice
