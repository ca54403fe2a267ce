// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "multi_service_link.h"

#include "test_events.h"

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <vector>

namespace netboxit::multiservice::testing
{

using stages::testing::Events;

constexpr std::int64_t MILLISECOND = 1'000'000;
constexpr std::int64_t SECOND = 1'000'000'000;

// T3.1 to T3.3 of the source.
const LinkFacts CELLULAR{14'400, 100 * MILLISECOND, 50};
const LinkFacts PCS{64'000, 50 * MILLISECOND, 250};
const LinkFacts WLAN{2e6, 3 * MILLISECOND, 1000};

/// Settings of a layer with these services. Those without a share share alike.
inline Json Layer(std::initializer_list<Json> services)
{
    auto list = Json::array();
    for (auto service : services)
    {
        service.emplace("share", 1);
        list.push_back(service);
    }
    return {{"services", list}, {"timer_factor", 1}};
}

inline Json Raw()
{
    return {{"scheme", "none"}};
}

/// An ARQ with acknowledgements; times in s.
inline Json Arq(const char* scheme, double timer, double ackDelay, unsigned window = 127, unsigned bits = 8)
{
    return {{"scheme", scheme}, {"timer", timer}, {"ack_delay", ackDelay}, {"window", window}, {"sequence_bits", bits}};
}

inline Json RlpOf(const char* scheme, unsigned attempts, double timer, double keepalive, unsigned ring = 128, unsigned bits = 8)
{
    return {{"scheme", scheme},
            {"attempts", attempts},
            {"timer", timer},
            {"keepalive", keepalive},
            {"ring", ring},
            {"sequence_bits", bits}};
}

/// The virtual time of a test.
class EventTime : public Timebase
{
  public:
    explicit EventTime(Events& events) : m_events(events)
    {
    }

    std::int64_t Now() const override
    {
        return m_events.Now();
    }

    std::unique_ptr<Alarm> MakeAlarm(std::function<void()> call) override
    {
        return std::make_unique<EventAlarm>(m_events, std::move(call));
    }

  private:
    class EventAlarm : public Alarm
    {
      public:
        EventAlarm(Events& events, std::function<void()> call)
            : m_events(events),
              m_call(std::make_shared<std::function<void()>>(std::move(call)))
        {
        }

        ~EventAlarm() override
        {
            *m_call = nullptr;
        }

        void Set(std::int64_t time) override
        {
            const auto setting = ++*m_setting;
            m_events.At(std::max(time, m_events.Now()),
                        [call = m_call, current = m_setting, setting]
                        {
                            if (*current == setting && *call)
                            {
                                (*call)();
                            }
                        });
        }

        void Cancel() override
        {
            ++*m_setting;
        }

      private:
        Events& m_events;
        std::shared_ptr<std::function<void()>> m_call;
        std::shared_ptr<std::uint64_t> m_setting = std::make_shared<std::uint64_t>(0);
    };

    Events& m_events;
};

/// What the channel does with a frame.
struct Fate
{
    bool isLost{};
    std::int64_t later{}; ///< than its time, ns
    bool isRepeated{};    ///< comes a second time, as much later again and 1 ns
};

/// A frame that left a transmitter.
struct Departure
{
    std::int64_t ends{};
    ServiceId service{};
    FrameType type{};
    std::uint16_t sequence{};
    std::uint16_t acknowledgement{};
    std::uint32_t bytes{};
    bool isRetransmission{};
    std::uint64_t item{}; ///< 0 without a packet

    bool operator==(const Departure&) const = default;
};

inline Departure DepartureOf(const AirFrame& frame, std::int64_t ends)
{
    const bool hasItem = frame.payload && frame.type != FrameType::Parity;
    return {ends,
            frame.service,
            frame.type,
            frame.sequence,
            frame.acknowledgement,
            frame.Bytes(),
            frame.isRetransmission,
            hasItem ? frame.payload.Item() : 0};
}

/// A packet that the upper layer of an end got.
struct Delivery
{
    std::int64_t at{};
    ServiceId service{};
    std::uint64_t item{};
};

/// A packet that nobody needs any more.
struct Settlement
{
    bool isDelivered{};
    Drop reason{};
};

/// A full duplex link with a layer at both ends: 0 is the base station, 1 the mobile.
class TestLink
{
  public:
    /// Says what becomes of a frame that an end has sent.
    using Channel = std::function<Fate(int from, const AirFrame& frame)>;

    TestLink(Events& events, const LinkFacts& facts, const Json& settings, Channel channel = {})
        : m_events(events),
          m_facts(facts),
          m_time(events),
          m_channel(std::move(channel)),
          m_pool([this](std::uint64_t item, bool isDelivered, Drop reason) { Settle(item, {isDelivered, reason}); })
    {
        for (const int end : {0, 1})
        {
            m_hosts[end] = std::make_unique<Host>(*this, end);
        }
        for (const int end : {0, 1})
        {
            m_hosts[end]->layer = std::make_unique<MultiServiceLink>(
                settings, facts, end == 0 ? LinkEnd::Base : LinkEnd::Mobile, m_time, *m_hosts[end]);
        }
    }

    MultiServiceLink& operator[](int end)
    {
        return *m_hosts[end]->layer;
    }

    /// A packet with this number, from 1, which nothing else has.
    void Send(int end, std::uint64_t item, std::uint32_t bytes, ServiceId service = 0)
    {
        (*this)[end].Send(service, m_pool.Take(item, bytes));
    }

    void ChangeSchemes(const Json& settings)
    {
        MultiServiceLink::ChangeSchemes((*this)[0], settings, (*this)[1], settings);
    }

    const std::vector<Delivery>& Delivered(int end) const
    {
        return m_hosts[end]->delivered;
    }

    std::vector<std::uint64_t> DeliveredItems(int end) const
    {
        std::vector<std::uint64_t> items;
        for (const auto& delivery : Delivered(end))
        {
            items.push_back(delivery.item);
        }
        return items;
    }

    const std::vector<Departure>& Departures(int end) const
    {
        return m_hosts[end]->departures;
    }

    /// Of a packet; null while something needs it.
    const Settlement* Settled(std::uint64_t item) const
    {
        return item < m_settled.size() && m_settled[item].second ? &m_settled[item].first : nullptr;
    }

    const PacketPool& Pool() const
    {
        return m_pool;
    }

    std::function<void(int end, const Delivery&)> onDelivery{};
    std::function<void(int end)> onOpened{};
    std::function<std::span<const std::uint8_t>(std::uint64_t item)> bytes{};
    bool keepsDepartures{true};
    bool keepsDeliveries{true};

  private:
    struct Host : LinkHost
    {
        Host(TestLink& owner, int number) : link(owner), end(number)
        {
        }

        void Transmit(const AirFrame& frame) override
        {
            link.Transmit(end, frame);
        }

        void Deliver(ServiceId service, const Packet& packet) override
        {
            const Delivery delivery{link.m_events.Now(), service, packet.Item()};
            if (link.keepsDeliveries)
            {
                delivered.push_back(delivery);
            }
            if (link.onDelivery)
            {
                link.onDelivery(end, delivery);
            }
        }

        void Opened() override
        {
            link.onOpened(end);
        }

        void GaveUp(ServiceId service, std::uint16_t sequence) override
        {
            link[1 - end].PeerGaveUp(service, sequence);
        }

        std::span<const std::uint8_t> BytesOf(const Packet& packet) const override
        {
            return link.bytes ? link.bytes(packet.Item()) : std::span<const std::uint8_t>{};
        }

        TestLink& link;
        int end;
        std::vector<Delivery> delivered{};
        std::vector<Departure> departures{};
        std::unique_ptr<MultiServiceLink> layer{};
    };

    using OnAir = std::list<AirFrame>::iterator;

    void Transmit(int end, const AirFrame& frame)
    {
        // In the link, and not in the event: events outlive the packets' pool.
        const auto onAir = m_onAir.insert(m_onAir.end(), frame);
        m_events.At(m_events.Now() + m_facts.TimeOf(frame.Bytes()), [this, end, onAir] { Depart(end, onAir); });
    }

    void Depart(int end, OnAir frame)
    {
        const auto now = m_events.Now();
        if (keepsDepartures)
        {
            m_hosts[end]->departures.push_back(DepartureOf(*frame, now));
        }
        const auto fate = m_channel ? m_channel(end, *frame) : Fate{};
        const auto arrives = now + m_facts.delay + fate.later;
        if (fate.isRepeated)
        {
            const auto copy = m_onAir.insert(m_onAir.end(), *frame);
            m_events.At(arrives + fate.later + 1, [this, end, copy] { Arrive(end, copy, false); });
        }
        m_events.At(arrives, [this, end, frame, isLost = fate.isLost] { Arrive(end, frame, isLost); });
        (*this)[end].TransmitComplete();
    }

    void Arrive(int from, OnAir frame, bool isLost)
    {
        auto& receiver = (*this)[1 - from];
        isLost ? receiver.Damaged(*frame) : receiver.Receive(*frame);
        m_onAir.erase(frame);
    }

    void Settle(std::uint64_t item, const Settlement& settlement)
    {
        m_settled.resize(std::max<std::size_t>(m_settled.size(), item + 1));
        m_settled[item] = {settlement, true};
    }

    Events& m_events;
    LinkFacts m_facts;
    EventTime m_time;
    Channel m_channel;
    std::vector<std::pair<Settlement, bool>> m_settled;
    PacketPool m_pool;
    std::list<AirFrame> m_onAir;
    std::array<std::unique_ptr<Host>, 2> m_hosts;
};

} // namespace netboxit::multiservice::testing
