// SPDX-License-Identifier: GPL-2.0-or-later
/// Two ends of a link layer on a channel of which each frame's fate is chosen: what test_chosen_channel.py judges. Standard input has
/// a step a line, standard output an answer a line, both JSON. Times are ns; ends are 0 (the base station) and 1.
///
///     ["reset", {rate, delay, frame}, settings]   a new link, with the settings of multi_service_link.h
///     ["send", end, item, bytes]                  a packet for service 0; items are numbers from 1 that nothing else has
///     ["packet", end, item, frame]                the same, of an Ethernet frame's bytes as hexadecimal digits
///     ["pass", end, frame]                        a frame of this end, which is on the air, arrives at the other one
///     ["repeat", end, frame]                      the same, and another copy of it stays on the air
///     ["lose", end, frame]                        it does not arrive
///     ["advance", time]                           frames that leave meanwhile stay on the air
///     ["run", time]                               all frames arrive, in order, after the link's delay
///     ["await", time]                             the same, until the mobile hands something up
///     ["set", settings] ["change", settings]      live, at both ends: Set(), ChangeSchemes()
///
/// An answer has the time `now`, what happened since the last one as `events`, and what both ends tell of their service as `services`; or
/// why settings are `refused`. Events, each with its time first:
///
///     [at, "begins", end, frame, type, sequence, acknowledgement, block, item, bytes, is repeated, generation]
///     [at, "departs", end, frame] [at, "arrives", from, frame]
///     [at, "delivers", end, item] [at, "gives up", end, sequence] [at, "settled", item, reason]
#include "headers.h"
#include "test_link.h"

#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

using namespace netboxit::multiservice;
using namespace netboxit::multiservice::testing;

namespace
{

constexpr std::array TYPE_NAMES{"data", "ack", "nak", "keepalive", "parity"};

/// What happened since it was last taken.
class Record
{
  public:
    explicit Record(const Events& time) : m_time(time)
    {
    }

    template <typename... What>
    void Add(const char* kind, const What&... what)
    {
        m_events.push_back(Json::array({m_time.Now(), kind, what...}));
    }

    Json Take()
    {
        return std::exchange(m_events, Json::array());
    }

  private:
    const Events& m_time;
    Json m_events = Json::array();
};

/// A full duplex link whose frames stay on the air until somebody says what becomes of them.
class HeldLink
{
  public:
    HeldLink(const LinkFacts& facts, const Json& settings)
        : m_facts(facts),
          m_pool([this](std::uint64_t item, bool isDelivered, Drop reason)
                 { m_record.Add("settled", item, isDelivered ? "delivered" : DROP_NAMES[static_cast<std::size_t>(reason)]); })
    {
        for (const int number : {0, 1})
        {
            m_ends[number] = std::make_unique<End>(*this, number);
        }
        for (const int number : {0, 1})
        {
            const auto end = number == 0 ? LinkEnd::Base : LinkEnd::Mobile;
            m_ends[number]->layer = std::make_unique<MultiServiceLink>(settings, facts, end, m_time, *m_ends[number]);
        }
    }

    void Send(int end, std::uint64_t item, std::uint32_t bytes)
    {
        (*this)[end].Send(0, m_pool.Take(item, bytes));
    }

    void SendBytes(int end, std::uint64_t item, const std::string& digits)
    {
        auto& bytes = m_bytes[item];
        for (std::size_t at = 0; at < digits.size(); at += 2)
        {
            bytes.push_back(static_cast<std::uint8_t>(std::stoul(digits.substr(at, 2), nullptr, 16)));
        }
        Send(end, item, static_cast<std::uint32_t>(bytes.size() - netboxit::ETHERNET_HEADER));
    }

    void Pass(int from, std::uint64_t frame)
    {
        const auto arrived = TakeOff(from, frame);
        m_record.Add("arrives", from, frame);
        (*this)[1 - from].Receive(arrived);
    }

    void Repeat(int from, std::uint64_t frame)
    {
        const auto copy = OnAir(from).at(frame);
        m_record.Add("arrives", from, frame);
        (*this)[1 - from].Receive(copy.frame);
    }

    void Lose(int from, std::uint64_t frame)
    {
        (*this)[1 - from].Damaged(TakeOff(from, frame));
    }

    void Advance(std::int64_t time)
    {
        m_events.RunUntil(m_events.Now() + time);
    }

    void Run(std::int64_t time)
    {
        BecomeClean();
        Advance(time);
        m_isClean = false;
        ++m_runs;
    }

    void Await(std::int64_t time)
    {
        BecomeClean();
        m_hasHandedUp = false;
        for (const auto end = m_events.Now() + time; m_events.Now() < end && !m_hasHandedUp;)
        {
            Advance(MILLISECOND);
        }
        m_isClean = false;
        ++m_runs;
    }

    void Set(const Json& settings)
    {
        (*this)[0].Set(settings);
        (*this)[1].Set(settings);
    }

    void Change(const Json& settings)
    {
        MultiServiceLink::ChangeSchemes((*this)[0], settings, (*this)[1], settings);
    }

    Json Answer()
    {
        return {{"now", m_events.Now()},
                {"events", m_record.Take()},
                {"services", {(*this)[0].Read()[0], (*this)[1].Read()[0]}}};
    }

  private:
    struct Flight
    {
        AirFrame frame;
        std::int64_t departed;
    };

    struct End : LinkHost
    {
        End(HeldLink& owner, int which) : link(owner), number(which)
        {
        }

        void Transmit(const AirFrame& frame) override
        {
            link.Begin(number, frame);
        }

        void Deliver(ServiceId, const Packet& packet) override
        {
            link.m_record.Add("delivers", number, packet.Item());
            link.m_hasHandedUp = link.m_hasHandedUp || number == 1;
        }

        void Opened() override
        {
        }

        void GaveUp(ServiceId service, std::uint16_t sequence) override
        {
            link.m_record.Add("gives up", number, sequence);
            link[1 - number].PeerGaveUp(service, sequence);
        }

        std::span<const std::uint8_t> BytesOf(const Packet& packet) const override
        {
            const auto bytes = link.m_bytes.find(packet.Item());
            return bytes == link.m_bytes.end() ? std::span<const std::uint8_t>() : bytes->second;
        }

        HeldLink& link;
        int number;
        std::map<std::uint64_t, Flight> onAir{}; ///< by number, in the order of departure
        std::unique_ptr<MultiServiceLink> layer{};
    };

    MultiServiceLink& operator[](int end)
    {
        return *m_ends[end]->layer;
    }

    std::map<std::uint64_t, Flight>& OnAir(int from)
    {
        return m_ends[from]->onAir;
    }

    void BecomeClean()
    {
        m_isClean = true;
        for (const int from : {0, 1})
        {
            for (const auto& [number, flight] : OnAir(from))
            {
                Fly(from, number, flight.departed);
            }
        }
    }

    void Begin(int end, const AirFrame& frame)
    {
        const auto number = ++m_frames;
        const bool hasItem = frame.payload && frame.type != FrameType::Parity;
        m_record.Add("begins",
                     end,
                     number,
                     TYPE_NAMES[static_cast<std::size_t>(frame.type)],
                     frame.sequence,
                     frame.acknowledgement,
                     frame.block,
                     hasItem ? frame.payload.Item() : 0,
                     frame.Bytes(),
                     frame.isRetransmission,
                     frame.generation);
        m_events.At(m_events.Now() + m_facts.TimeOf(frame.Bytes()), [this, end, number] { Depart(end, number); });
        m_ends[end]->onAir[number] = {frame, m_events.Now() + m_facts.TimeOf(frame.Bytes())};
    }

    void Depart(int end, std::uint64_t number)
    {
        m_record.Add("departs", end, number);
        if (m_isClean)
        {
            Fly(end, number, m_events.Now());
        }
        (*this)[end].TransmitComplete();
    }

    /// Arrives in its time if the channel is still clean then, and nobody chose otherwise.
    void Fly(int from, std::uint64_t number, std::int64_t departed)
    {
        if (departed > m_events.Now())
        {
            return; // still in transmission
        }
        m_events.At(std::max(m_events.Now(), departed + m_facts.delay),
                    [this, from, number, run = m_runs]
                    {
                        if (m_isClean && m_runs == run)
                        {
                            Pass(from, number);
                        }
                    });
    }

    AirFrame TakeOff(int from, std::uint64_t number)
    {
        auto taken = OnAir(from).extract(number);
        if (!taken)
        {
            throw std::out_of_range("no frame " + std::to_string(number) + " of end " + std::to_string(from) + " is on the air");
        }
        return std::move(taken.mapped().frame);
    }

    LinkFacts m_facts;
    Events m_events;
    EventTime m_time{m_events};
    Record m_record{m_events};
    PacketPool m_pool;
    std::array<std::unique_ptr<End>, 2> m_ends;
    std::map<std::uint64_t, std::vector<std::uint8_t>> m_bytes; ///< of items
    std::uint64_t m_frames{0};
    unsigned m_runs{0};
    bool m_isClean{false};
    bool m_hasHandedUp{false}; ///< the mobile
};

/// Does one step; `link` is there from the first reset on.
Json Do(const Json& step, std::unique_ptr<HeldLink>& link)
{
    const std::string what = step.at(0);
    try
    {
        if (what == "reset")
        {
            const auto& facts = step.at(1);
            link = std::make_unique<HeldLink>(LinkFacts{facts.at("rate"), facts.at("delay"), facts.at("frame")}, step.at(2));
        }
        else if (what == "set")
        {
            link->Set(step.at(1));
        }
        else if (what == "change")
        {
            link->Change(step.at(1));
        }
    }
    catch (const std::invalid_argument& error)
    {
        return {{"refused", error.what()}};
    }
    if (what == "send")
    {
        link->Send(step.at(1), step.at(2), step.at(3));
    }
    else if (what == "packet")
    {
        link->SendBytes(step.at(1), step.at(2), step.at(3));
    }
    else if (what == "pass")
    {
        link->Pass(step.at(1), step.at(2));
    }
    else if (what == "repeat")
    {
        link->Repeat(step.at(1), step.at(2));
    }
    else if (what == "lose")
    {
        link->Lose(step.at(1), step.at(2));
    }
    else if (what == "advance")
    {
        link->Advance(step.at(1));
    }
    else if (what == "await")
    {
        link->Await(step.at(1));
    }
    else if (what == "run")
    {
        link->Run(step.at(1));
    }
    return link->Answer();
}

} // namespace

int main()
{
    std::unique_ptr<HeldLink> link;
    for (std::string line; std::getline(std::cin, line);)
    {
        std::cout << Do(Json::parse(line), link) << std::endl;
    }
}
