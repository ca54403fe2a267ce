// SPDX-License-Identifier: GPL-2.0-or-later
#include "cake.h"

namespace netboxit::queueing
{

namespace
{

/// Of a byte, in which credit counts: a quantum is divided by up to as many flows as there are.
constexpr std::int64_t PARTS = 1 << 16;
/// A packet never waits for too long while so many of the longest ones take as long (Linux, sch_cake).
constexpr double NEVER_LATE_BITS = 4 * 8 * 1514;

} // namespace

Cake::Cake(Room room, const Settings& settings, const CobaltLaw& law, Chance chance, DropCallback dropped, MarkCallback mark)
    : m_room(room), m_quantum(PARTS * settings.quantum), m_isolation(settings.isolation), m_chance(std::move(chance)),
      m_dropped(std::move(dropped)), m_mark(std::move(mark)), m_places(settings.flows), m_flows(m_places.Places(), Flow{Line(m_pool), law}),
      m_bytesOf(m_places.Places(), 0), m_sources{SetAssociative(settings.flows), std::vector<Host>(m_places.Places())},
      m_destinations{SetAssociative(settings.flows), std::vector<Host>(m_places.Places())}, m_neighbours(m_places.Places())
{
}

void Cake::Enqueue(const Waiting& frame, std::int64_t now, double rate)
{
    if (rate != m_rate)
    {
        m_rate = rate;
        m_leastDelay = rate > 0 ? static_cast<std::int64_t>(1e9 * NEVER_LATE_BITS / rate) : 0;
    }
    const auto number = m_places.Find(frame.flow, [this](std::uint32_t place) { return m_flows[place].state == State::None; });
    auto& flow = m_flows[number];
    flow.line.Push(frame);
    m_bytesOf[number] += frame.bytes;
    ++m_packets;
    m_bytes += frame.bytes;
    if (flow.state == State::None || flow.state == State::Decaying)
    {
        if (flow.state == State::None)
        {
            Join(flow, frame);
        }
        else
        {
            m_decaying.Remove(number, m_neighbours);
        }
        Become(flow, State::Sparse);
        flow.credit = Quantum(flow);
        m_first.Append(number, m_neighbours);
    }
    else if (flow.state == State::Waits)
    {
        Become(flow, State::Bulk);
    }
    while (!m_room.Holds(m_packets, m_bytes, rate))
    {
        DropFromTheLongest(now);
    }
}

std::optional<Waiting> Cake::Dequeue(std::int64_t now)
{
    if (m_packets > 0 && !m_decaying.IsEmpty())
    {
        // One for each packet that goes, so that they are forgotten in time and cost little.
        HasNothing(m_decaying.First(), now);
    }
    while (m_packets > 0)
    {
        auto& list = m_first.IsEmpty() ? m_turns : m_first;
        const auto number = list.First();
        auto& flow = m_flows[number];
        if (flow.credit <= 0)
        {
            if (flow.state == State::Sparse)
            {
                Become(flow, flow.line.IsEmpty() ? State::Waits : State::Bulk);
            }
            flow.credit += Quantum(flow);
            list.Remove(number, m_neighbours);
            m_turns.Append(number, m_neighbours);
            continue;
        }
        if (const auto frame = Take(number, now))
        {
            flow.credit -= PARTS * frame->bytes;
            return frame;
        }
        if (flow.state == State::Sparse && !m_turns.IsEmpty())
        {
            // It keeps what it may send until the others had their turns, so that nobody gains by sending single packets (RFC 8290, 4.2).
            Become(flow, State::Waits);
            m_first.Remove(number, m_neighbours);
            m_turns.Append(number, m_neighbours);
            continue;
        }
        HasNothing(number, now);
    }
    return std::nullopt;
}

std::optional<Waiting> Cake::Take(LineId number, std::int64_t now)
{
    auto& flow = m_flows[number];
    while (!flow.line.IsEmpty())
    {
        const auto frame = Pop(number);
        const auto verdict = flow.law.Judge(
            frame, now, m_leastDelay, [this](const Waiting& marked) { return m_mark(marked, Mark::Early); }, m_chance);
        // The last one of a flow goes: its sender would learn of its loss by a timeout alone.
        if (verdict == CobaltLaw::Verdict::Goes || flow.line.IsEmpty())
        {
            return frame;
        }
        m_blueDropped += verdict == CobaltLaw::Verdict::DroppedByBlue ? 1 : 0;
        m_dropped(frame, Loss::QueueEarly);
    }
    return std::nullopt;
}

void Cake::Join(Flow& flow, const Waiting& frame)
{
    flow.source = m_sources.Find(frame.source);
    flow.destination = m_destinations.Find(frame.destination);
    ++m_sources.of[flow.source].flows;
    ++m_destinations.of[flow.destination].flows;
}

void Cake::Become(Flow& flow, State state)
{
    auto& source = m_sources.of[flow.source];
    auto& destination = m_destinations.of[flow.destination];
    const auto counts = [](State in) { return in == State::Bulk ? 1U : 0U; };
    source.bulk += counts(state) - counts(flow.state);
    destination.bulk += counts(state) - counts(flow.state);
    if (state == State::None)
    {
        --source.flows;
        --destination.flows;
    }
    flow.state = state;
}

void Cake::HasNothing(LineId number, std::int64_t now)
{
    auto& flow = m_flows[number];
    flow.law.IsEmpty(now);
    ListOf(flow.state).Remove(number, m_neighbours);
    Become(flow, flow.law.Remembers(now) ? State::Decaying : State::None);
    if (flow.state == State::Decaying)
    {
        m_decaying.Append(number, m_neighbours);
    }
}

LineList& Cake::ListOf(State state)
{
    return state == State::Sparse ? m_first : state == State::Decaying ? m_decaying : m_turns;
}

std::int64_t Cake::Quantum(const Flow& flow) const
{
    std::uint32_t load = 1;
    if (m_isolation == Isolation::DualSrcHost || m_isolation == Isolation::TripleIsolate)
    {
        load = std::max(load, m_sources.of[flow.source].bulk);
    }
    if (m_isolation == Isolation::DualDstHost || m_isolation == Isolation::TripleIsolate)
    {
        load = std::max(load, m_destinations.of[flow.destination].bulk);
    }
    return m_quantum / load;
}

Waiting Cake::Pop(LineId number)
{
    const auto frame = m_flows[number].line.Pop();
    m_bytesOf[number] -= frame.bytes;
    --m_packets;
    m_bytes -= frame.bytes;
    return frame;
}

void Cake::DropFromTheLongest(std::int64_t now)
{
    const auto number = static_cast<LineId>(std::ranges::max_element(m_bytesOf) - m_bytesOf.begin());
    const auto frame = Pop(number);
    m_flows[number].law.Overflows(now);
    m_dropped(frame, Loss::QueueFull);
}

std::optional<Waiting> Cake::TakeOlder(std::int64_t since)
{
    const auto old = std::ranges::find_if(
        m_flows, [since](const Flow& flow) { return !flow.line.IsEmpty() && flow.line.Front().entered < since; });
    return old == m_flows.end() ? std::nullopt : std::optional(Pop(static_cast<LineId>(old - m_flows.begin())));
}

std::uint32_t Cake::FirstBytes() const
{
    const Flow* first = nullptr;
    for (const auto* list : {&m_first, &m_turns})
    {
        for (auto number = list->First(); number != NO_LINE; number = LineList::Behind(number, m_neighbours))
        {
            const auto& flow = m_flows[number];
            if (!flow.line.IsEmpty() && (flow.credit > 0 || !first))
            {
                first = &flow;
            }
            if (first && first->credit > 0)
            {
                return first->line.Front().bytes;
            }
        }
    }
    return first ? first->line.Front().bytes : 0;
}

Json Cake::Read(std::int64_t) const
{
    const auto count = [this](auto is) { return std::ranges::count_if(m_flows, is); };
    return {{"flows",
             {{"sparse", count([](const Flow& flow) { return flow.state == State::Sparse || flow.state == State::Waits; })},
              {"bulk", count([](const Flow& flow) { return flow.state == State::Bulk; })},
              {"unresponsive", count([](const Flow& flow) { return flow.law.Probability() > 0; })}}},
            {"blue_dropped", m_blueDropped},
            {"collisions", m_places.Collisions()}};
}

void Cake::ResetStatistics()
{
    m_blueDropped = 0;
    m_places.ResetStatistics();
}

} // namespace netboxit::queueing
