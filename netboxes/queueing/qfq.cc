// SPDX-License-Identifier: GPL-2.0-or-later
#include "qfq.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace netboxit::queueing
{

namespace
{

constexpr unsigned FRACTION = 20;

bool IsBefore(std::uint64_t one, std::uint64_t other)
{
    return static_cast<std::int64_t>(one - other) < 0;
}

std::uint64_t Bit(unsigned group)
{
    return std::uint64_t{1} << group;
}

/// Those below a group.
std::uint64_t Below(unsigned group)
{
    return Bit(group) - 1;
}

unsigned Lowest(std::uint64_t groups)
{
    return static_cast<unsigned>(std::countr_zero(groups));
}

} // namespace

Qfq::Qfq(const Weights& weights, std::uint32_t longest, std::size_t most)
    : m_aggregateOf(weights.size()), m_longest(longest), m_most(most), m_deficits(weights.size()), m_lines(weights.size()),
      m_queued(weights.size())
{
    std::map<std::uint32_t, std::vector<LineId>> byWeight;
    for (LineId line = 0; line < weights.size(); ++line)
    {
        byWeight[weights[line]].push_back(line);
    }
    for (const auto& [weight, lines] : byWeight)
    {
        for (std::size_t at = 0; at < lines.size(); ++at)
        {
            if (at % most == 0)
            {
                m_aggregates.emplace_back();
            }
            Join(lines[at], weight, static_cast<std::uint32_t>(m_aggregates.size() - 1));
        }
    }
}

void Qfq::Join(LineId line, std::uint32_t weight, std::uint32_t number)
{
    auto& aggregate = m_aggregates[number];
    // The greatest service of an aggregate takes as long as a line's longest packet alone would.
    aggregate.group = static_cast<std::uint8_t>(std::bit_width((std::uint64_t{m_longest} << FRACTION) / weight));
    aggregate.lineWeight = weight;
    ++aggregate.members;
    m_weight += weight;
    m_aggregateOf[line] = number;
}

void Qfq::Begin(LineId line, std::uint32_t bytes)
{
    Begin(line, bytes, m_now);
}

/// An aggregate that was idle begins where it was, or at `earliest`.
void Qfq::Begin(LineId line, std::uint32_t bytes, Stamp earliest)
{
    const auto number = m_aggregateOf[line];
    auto& aggregate = m_aggregates[number];
    const bool wasIdle = aggregate.lines.IsEmpty();
    m_deficits.Begin(line, bytes);
    aggregate.lines.Append(line, m_lines);
    if (!wasIdle)
    {
        return;
    }
    // Not further ahead than a slot, as it could not be if groups did not round.
    const auto latest = Floor(m_now, aggregate.group) + Slot(aggregate.group);
    aggregate.start = IsBefore(aggregate.start, earliest) ? earliest : aggregate.start;
    aggregate.start = IsBefore(latest, aggregate.start) ? latest : aggregate.start;
    Queue(number);
}

/// The line goes to another aggregate, as in Linux (sch_qfq, qfq_change_class).
void Qfq::Weigh(LineId line, std::uint32_t weight)
{
    const auto number = m_aggregateOf[line];
    const auto before = m_aggregates[number].lineWeight;
    if (weight == before)
    {
        return;
    }
    if (m_served != NO_LINE)
    {
        EndService(); // by the weight that its aggregate had
    }
    const auto bytes = m_deficits.Bytes(line);
    if (bytes > 0)
    {
        TakenOut(line, 0);
    }
    --m_aggregates[number].members;
    m_weight -= before;
    Join(line, weight, RoomFor(weight, m_aggregates[number].start));
    if (bytes > 0)
    {
        // What it waited for counts, up to a packet at its new weight: or it would begin anew with each change.
        Begin(line, bytes, m_now - Slot(m_aggregates[m_aggregateOf[line]].group));
    }
}

/// An aggregate of lines of that weight with room for one more; where there is none, an empty one, which begins at `start`.
std::uint32_t Qfq::RoomFor(std::uint32_t weight, Stamp start)
{
    const auto hasRoom = [&](const Aggregate& each) { return each.lineWeight == weight && each.members > 0 && each.members < m_most; };
    auto found = std::ranges::find_if(m_aggregates, hasRoom);
    if (found == m_aggregates.end())
    {
        found = std::ranges::find(m_aggregates, 0U, &Aggregate::members);
        if (found == m_aggregates.end())
        {
            found = m_aggregates.emplace(found);
        }
        found->start = start;
    }
    return static_cast<std::uint32_t>(found - m_aggregates.begin());
}

LineId Qfq::Next()
{
    if (m_served == NO_LINE)
    {
        Serve();
    }
    return m_deficits.Turn(m_aggregates[m_served].lines, m_lines, [this](LineId) { return m_longest; });
}

void Qfq::Sent(LineId line, std::uint32_t bytes, std::uint32_t following)
{
    m_sent += bytes;
    m_remainder += std::uint64_t{bytes} << FRACTION;
    Advance(m_now + m_remainder / m_weight);
    m_remainder %= m_weight;
    m_deficits.Sent(line, bytes, following);
    auto& aggregate = m_aggregates[m_served];
    if (following == 0)
    {
        aggregate.lines.Remove(line, m_lines);
    }
    if (m_most == 1 || aggregate.lines.IsEmpty() || m_sent + m_deficits.Bytes(Next()) > std::uint64_t{m_longest} * aggregate.members)
    {
        EndService();
    }
}

void Qfq::TakenOut(LineId line, std::uint32_t following)
{
    m_deficits.Follows(line, following);
    if (following > 0)
    {
        return;
    }
    const auto number = m_aggregateOf[line];
    auto& aggregate = m_aggregates[number];
    aggregate.lines.Remove(line, m_lines);
    if (!aggregate.lines.IsEmpty())
    {
        return;
    }
    if (number == m_served)
    {
        EndService();
    }
    else
    {
        Unqueue(number);
    }
}

/// Has the next aggregate served: that of the earliest group that may go.
void Qfq::Serve()
{
    if (m_ready == 0)
    {
        const auto groups = m_early | m_earlyBlocked;
        auto first = m_groups[Lowest(groups)].start;
        for (auto others = groups & (groups - 1); others != 0; others &= others - 1)
        {
            const auto start = m_groups[Lowest(others)].start;
            first = IsBefore(start, first) ? start : first;
        }
        Advance(first);
    }
    auto& group = m_groups[Lowest(m_ready)];
    m_served = group.slots[group.first].First();
    m_sent = 0;
    Unqueue(m_served);
}

void Qfq::EndService()
{
    const auto number = std::exchange(m_served, NO_LINE);
    auto& aggregate = m_aggregates[number];
    aggregate.start += (m_sent << FRACTION) / aggregate.Weight();
    if (!aggregate.lines.IsEmpty())
    {
        Queue(number);
    }
}

void Qfq::Queue(std::uint32_t number)
{
    auto& aggregate = m_aggregates[number];
    const auto index = aggregate.group;
    auto& group = m_groups[index];
    const auto start = Floor(aggregate.start, index);
    if (group.full == 0)
    {
        group.start = start;
        Classify(index);
    }
    else if (IsBefore(start, group.start))
    {
        const auto room = static_cast<Stamp>(std::countl_zero(group.full));
        const auto earlier = static_cast<unsigned>(std::min((group.start - start) >> index, room));
        group.first = (group.first - earlier) % Group::SLOTS;
        group.full <<= earlier;
        group.start -= Stamp{earlier} << index;
        Forget(index);
        Classify(index);
    }
    const auto later = IsBefore(start, group.start) ? 0 : (start - group.start) >> index;
    const auto slot = static_cast<unsigned>(std::min<Stamp>(later, Group::SLOTS - 1));
    aggregate.place = static_cast<std::uint8_t>((group.first + slot) % Group::SLOTS);
    group.slots[aggregate.place].Append(number, m_queued);
    group.full |= Bit(slot);
}

void Qfq::Unqueue(std::uint32_t number)
{
    const auto& aggregate = m_aggregates[number];
    const auto index = aggregate.group;
    auto& group = m_groups[index];
    auto& slot = group.slots[aggregate.place];
    slot.Remove(number, m_queued);
    if (!slot.IsEmpty())
    {
        return;
    }
    group.full &= ~Bit((aggregate.place - group.first) % Group::SLOTS);
    if (aggregate.place != group.first)
    {
        return;
    }
    const bool wasReady = (m_ready & Bit(index)) != 0;
    Forget(index);
    if (group.full != 0)
    {
        const auto empty = Lowest(group.full);
        group.first = (group.first + empty) % Group::SLOTS;
        group.full >>= empty;
        group.start += Stamp{empty} << index;
        Classify(index);
    }
    if (wasReady)
    {
        Unblock(index);
    }
}

/// Puts a group into the set where it belongs.
void Qfq::Classify(unsigned index)
{
    const auto above = m_ready & ~Below(index) & ~Bit(index);
    const bool isBlocked = above != 0 && IsBefore(End(Lowest(above)), End(index));
    const bool hasBegun = !IsBefore(m_now, m_groups[index].start);
    (hasBegun ? (isBlocked ? m_blocked : m_ready) : (isBlocked ? m_earlyBlocked : m_early)) |= Bit(index);
}

void Qfq::Forget(unsigned index)
{
    for (auto* const groups : {&m_ready, &m_blocked, &m_early, &m_earlyBlocked})
    {
        *groups &= ~Bit(index);
    }
}

/// A ready group is ready no more, or ends later: those that wait for it, between it and the next ready one below, may go if they need not
/// wait for another one.
void Qfq::Unblock(unsigned index)
{
    auto waiting = (m_blocked | m_earlyBlocked) & Below(index);
    if (const auto readyBelow = m_ready & Below(index); readyBelow != 0)
    {
        waiting &= ~Below(static_cast<unsigned>(std::bit_width(readyBelow)));
    }
    while (waiting != 0)
    {
        const auto highest = static_cast<unsigned>(std::bit_width(waiting)) - 1;
        waiting &= ~Bit(highest);
        Forget(highest);
        Classify(highest);
    }
}

/// Virtual time goes on. Groups begin at multiples of their slots, so only those can begin of whose slots it passed an end.
void Qfq::Advance(Stamp until)
{
    const auto passed = static_cast<unsigned>(std::bit_width(until ^ m_now));
    m_now = until;
    for (auto groups = (m_early | m_earlyBlocked) & (passed == 64 ? ~Groups{0} : Below(passed)); groups != 0; groups &= groups - 1)
    {
        const auto index = Lowest(groups);
        if (!IsBefore(m_now, m_groups[index].start))
        {
            (m_early & Bit(index) ? m_ready : m_blocked) |= Bit(index);
            m_early &= ~Bit(index);
            m_earlyBlocked &= ~Bit(index);
        }
    }
}

} // namespace netboxit::queueing
