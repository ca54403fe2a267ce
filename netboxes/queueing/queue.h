// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "class_statistics.h"
#include "flow.h"
#include "make_discipline.h"
#include "shaper.h"

#include <cmath>

namespace netboxit::queueing
{

/// What a queue asks of something that is to wait in it.
struct Entry
{
    std::uint32_t bytes{}; ///< that it takes of the queue's room, and of the transmitter's time
    ClassId trafficClass{};
    Bytes frame; ///< from its Ethernet header on: read there by a queue that looks into frames
    std::optional<StationId> to{}; ///< the receiver on the medium, where the technology has a Channel; none: everyone
};

/// When a transmitter asks its queue for what goes next.
enum class Asks : std::uint8_t
{
    WhenFree, ///< whatever the queue says
    WhenDue,  ///< not before Due() of the queue, and then again: so the queue may have a rate of its own
};

/// The queue in front of a transmitter: what waits there, in the order that a discipline says, and what is told of it. Times are
/// simulated ones, ns, and do not fall from call to call.
template <typename Item>
class Queue
{
  public:
    /// Hears of each item that is dropped, at once.
    using Lost = std::function<void(const Item& item, Loss reason)>;
    /// Marks an item as having experienced congestion; false where its packet is not capable of ECN.
    using MarkItem = std::function<bool(const Item& item)>;

    /// `said` is a parameter `queue`, as queue.py dumps it and within its limits; throws OutOfRange where these do not fit each other.
    Queue(const Json& said, Chance chance, Lost lost, MarkItem mark, Maker make = MakerOf(), Asks asks = Asks::WhenFree)
        : m_make(std::move(make)), m_chance(std::move(chance)), m_lost(std::move(lost)), m_mark(std::move(mark)), m_asks(asks)
    {
        Set(said, 0, 0);
    }

    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    /// Another discipline, room or time; throws OutOfRange and then changes nothing. What waits keeps its order and its age; what has
    /// no room any more is lost.
    void Set(const Json& said, std::int64_t now, double rate)
    {
        auto discipline = m_make(
            said,
            m_chance,
            [this](const Waiting& waiting, Loss reason) { Drop(waiting, reason); },
            [this](const Waiting& waiting, queueing::Mark reason) { return Mark(waiting, reason); });
        const auto classes = ClassStatistics::NamesIn(said);
        m_shaper.Set(OwnRate(said), OverheadOf(said));
        const auto limit = said.value("time", Json());
        m_timeLimit = limit.is_null() ? ALWAYS : std::llround(limit.get<double>() * 1e9);
        const auto waiting = TakeOut();
        m_discipline = std::move(discipline);
        m_classes.Begin(classes, now);
        for (const auto& each : waiting)
        {
            m_classes.Entered(each);
            m_discipline->Enqueue(each, now, m_shaper.Rate(rate));
        }
        HasLength(now);
    }

    /// Something that waits, and what a discipline knows of it.
    struct Moving
    {
        Item item;
        Waiting waiting;
    };

    /// Takes out all that waits, in the order in which it came, for another queue. It was neither sent nor lost.
    std::vector<Moving> MoveOut(std::int64_t now)
    {
        std::vector<Moving> moving;
        for (const auto& each : TakeOut())
        {
            m_classes.Moved(each);
            moving.push_back({Release(each.item), each});
        }
        HasLength(now);
        return moving;
    }

    /// Takes in what waited in another queue, with its age; what has no room is lost. What came first there comes first.
    void MoveIn(Moving moving, std::int64_t now, double rate)
    {
        moving.waiting.item = Keep(std::move(moving.item));
        m_classes.Entered(moving.waiting);
        m_discipline->Enqueue(moving.waiting, now, m_shaper.Rate(rate));
        HasLength(now);
    }

    /// It waits, or is lost. `rate` is what the transmitter sends with now, bit/s.
    void Enqueue(const Item& item, const Entry& entry, std::int64_t now, double rate)
    {
        const auto flow = m_discipline->TellsFlowsApart() ? FlowOf(entry.frame) : 0;
        const auto ecn = m_discipline->LooksAtEcn() ? EcnOf(entry.frame) : Ecn::NotEct;
        const auto hosts = m_discipline->TellsHostsApart() ? HostsOf(entry.frame) : HostHashes{};
        const Waiting waiting{
            Keep(item), entry.bytes, now, flow, entry.trafficClass, ecn, entry.to, hosts.source, hosts.destination};
        m_classes.Entered(waiting);
        m_discipline->Enqueue(waiting, now, m_shaper.Rate(rate));
        HasLength(now);
    }

    /// Nothing goes before, ns: later than now only where the queue has a rate of its own.
    std::int64_t Due() const
    {
        return m_shaper.Due();
    }

    /// The item whose turn it is; none when none waits, or all that waited were lost, or before Due().
    std::optional<Item> Dequeue(std::int64_t now)
    {
        if (now < Due())
        {
            return std::nullopt;
        }
        auto next = m_discipline->Dequeue(now);
        while (next && now - next->entered > m_timeLimit)
        {
            Drop(*next, Loss::QueueExpired);
            next = m_discipline->Dequeue(now);
        }
        if (next)
        {
            m_classes.Sent(*next, now - next->entered);
            m_shaper.Sent(next->bytes, now);
        }
        HasLength(now);
        if (!next)
        {
            return std::nullopt;
        }
        m_statistics.Waited(now - next->entered);
        return Release(next->item);
    }

    /// Loses what has waited for longer than the queue's time, or than `limit` (ns), before its turn comes.
    void Expire(std::int64_t now, std::int64_t limit = ALWAYS)
    {
        const auto longest = std::min(limit, m_timeLimit);
        Lose(longest == ALWAYS ? 0 : now - longest, Loss::QueueExpired, now);
    }

    /// Loses all that waits.
    void Clear(Loss reason, std::int64_t now)
    {
        Lose(ALWAYS, reason, now);
    }

    /// Loses all that waits for a receiver: of a queue that several share, with `modular`.
    void ClearTo(StationId receiver, Loss reason, std::int64_t now)
    {
        for (const auto& waiting : m_discipline->TakeTo(receiver))
        {
            Drop(waiting, reason);
        }
        HasLength(now);
    }

    /// Whether it looks into frames.
    bool LooksIntoFrames() const
    {
        return m_discipline->TellsFlowsApart() || m_discipline->TellsHostsApart() || m_discipline->LooksAtEcn();
    }

    /// Has the discipline do something of its own kind, which may drop what waits: where it is a `Kind`.
    template <typename Kind, typename Do>
    void Have(Do act, std::int64_t now)
    {
        if (auto* const discipline = dynamic_cast<Kind*>(m_discipline.get()))
        {
            act(*discipline);
            HasLength(now);
        }
    }

    std::size_t Packets() const
    {
        return m_discipline->Packets();
    }

    std::uint64_t Bytes() const
    {
        return m_discipline->Bytes();
    }

    bool IsEmpty() const
    {
        return Packets() == 0;
    }

    /// {packets, bytes, delay_s, dropped: {full, early, expired}, marked: {early, coupled, step}, length, length_s}, what the discipline
    /// tells besides, and in a queue with lines by traffic class `classes`: README.md.
    Json Read(std::int64_t now) const
    {
        auto read = m_statistics.Read(Packets(), Bytes(), now);
        read.update(m_discipline->Read(now));
        if (!m_classes.IsEmpty())
        {
            read["classes"] = m_classes.Read(now);
        }
        return read;
    }

    void ResetStatistics(std::int64_t now)
    {
        m_statistics.Reset(now);
        m_discipline->ResetStatistics();
        m_classes.Reset(now);
    }

  private:
    static constexpr auto ALWAYS = std::numeric_limits<std::int64_t>::max();

    /// bit/s; infinite: as fast as the transmitter.
    double OwnRate(const Json& said) const
    {
        const auto rate = said.value("rate", Json());
        if (rate.is_null())
        {
            return std::numeric_limits<double>::infinity();
        }
        if (m_asks == Asks::WhenFree)
        {
            throw OutOfRange("queue: rate needs a transmitter that waits for its queue, and this technology's does not; leave it out, or "
                             "put a netbox of a technology that has rate in front");
        }
        return rate;
    }

    static std::uint32_t OverheadOf(const Json& said)
    {
        const auto overhead = said.value("overhead", Json());
        return overhead.is_null() ? 0 : static_cast<std::uint32_t>(overhead.get<double>());
    }

    void Lose(std::int64_t since, Loss reason, std::int64_t now)
    {
        auto waiting = m_discipline->TakeOlder(since);
        if (!waiting)
        {
            return;
        }
        for (; waiting; waiting = m_discipline->TakeOlder(since))
        {
            Drop(*waiting, reason);
        }
        HasLength(now);
    }

    /// All that waits, in the order in which it came.
    std::vector<Waiting> TakeOut()
    {
        std::vector<Waiting> waiting;
        while (const auto next = m_discipline ? m_discipline->TakeOlder(ALWAYS) : std::nullopt)
        {
            waiting.push_back(*next);
        }
        std::ranges::stable_sort(waiting, {}, &Waiting::entered);
        return waiting;
    }

    void HasLength(std::int64_t now)
    {
        m_statistics.HasLength(m_discipline->Packets(), now);
        m_classes.HaveLengths(now);
    }

    void Drop(const Waiting& waiting, Loss reason)
    {
        m_statistics.Dropped(reason);
        m_classes.Dropped(waiting, reason);
        m_lost(Release(waiting.item), reason);
    }

    bool Mark(const Waiting& waiting, queueing::Mark reason)
    {
        const bool isMarked = m_mark(m_items[waiting.item]);
        if (isMarked)
        {
            m_statistics.Marked(reason);
            m_classes.Marked(waiting, reason);
        }
        return isMarked;
    }

    std::uint32_t Keep(Item item)
    {
        if (m_free.empty())
        {
            m_items.push_back(std::move(item));
            return static_cast<std::uint32_t>(m_items.size() - 1);
        }
        const auto number = m_free.back();
        m_free.pop_back();
        m_items[number] = std::move(item);
        return number;
    }

    Item Release(std::uint32_t number)
    {
        m_free.push_back(number);
        return std::move(m_items[number]);
    }

    Maker m_make;
    Chance m_chance;
    Lost m_lost;
    MarkItem m_mark;
    Asks m_asks;
    Shaper m_shaper;
    std::int64_t m_timeLimit{ALWAYS};
    std::unique_ptr<Discipline> m_discipline;
    std::vector<Item> m_items;
    std::vector<std::uint32_t> m_free; ///< numbers of items that are none
    QueueStatistics m_statistics;
    ClassStatistics m_classes;
};

/// Throws OutOfRange where a Queue does: for who makes its queues later.
inline void CheckQueue(const Json& said, Maker make = MakerOf())
{
    Queue<int>(said, {}, {}, {}, std::move(make));
}

} // namespace netboxit::queueing
