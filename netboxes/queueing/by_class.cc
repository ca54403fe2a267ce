// SPDX-License-Identifier: GPL-2.0-or-later
#include "by_class.h"

#include <utility>

namespace netboxit::queueing
{

ByClass::ByClass(std::vector<std::unique_ptr<Discipline>> disciplines, std::unique_ptr<Scheduler> scheduler)
    : m_scheduler(std::move(scheduler))
{
    for (auto& discipline : disciplines)
    {
        m_lines.push_back({std::move(discipline), std::nullopt});
    }
}

void ByClass::Enqueue(const Waiting& frame, std::int64_t now, double rate)
{
    const auto number = static_cast<LineId>(std::min<std::size_t>(frame.trafficClass, m_lines.size() - 1));
    auto& line = m_lines[number];
    const bool wasEmpty = line.IsEmpty();
    line.discipline->Enqueue(frame, now, rate);
    if (wasEmpty && !line.IsEmpty())
    {
        line.told = line.FirstBytes();
        m_scheduler->Begin(number, line.told);
    }
    else if (!wasEmpty && line.IsEmpty())
    {
        TakeOut(number, 0); // a discipline that makes room may drop all
    }
}

std::optional<Waiting> ByClass::Dequeue(std::int64_t now)
{
    while (Packets() > 0)
    {
        const auto number = m_scheduler->Next();
        auto& line = m_lines[number];
        if (!line.head)
        {
            line.head = line.discipline->Dequeue(now);
        }
        const auto bytes = line.head ? line.head->bytes : 0;
        if (bytes != line.told)
        {
            TakeOut(number, bytes);
        }
        if (bytes > 0 && m_scheduler->Next() == number)
        {
            const auto frame = std::exchange(line.head, std::nullopt);
            line.told = line.FirstBytes();
            m_scheduler->Sent(number, bytes, line.told);
            return frame;
        }
    }
    return std::nullopt;
}

std::optional<Waiting> ByClass::TakeOlder(std::int64_t since)
{
    for (LineId number = 0; number < m_lines.size(); ++number)
    {
        auto& line = m_lines[number];
        const bool isHead = line.head && line.head->entered < since;
        if (const auto frame = isHead ? std::exchange(line.head, std::nullopt) : line.discipline->TakeOlder(since))
        {
            TakeOut(number, line.FirstBytes());
            return frame;
        }
    }
    return std::nullopt;
}

std::vector<Waiting> ByClass::TakeTo(StationId receiver)
{
    std::vector<Waiting> taken;
    for (LineId number = 0; number < m_lines.size(); ++number)
    {
        auto& line = m_lines[number];
        if (line.head && line.head->to == receiver)
        {
            taken.push_back(*std::exchange(line.head, std::nullopt));
        }
        std::ranges::copy(line.discipline->TakeTo(receiver), std::back_inserter(taken));
        if (const auto following = line.FirstBytes(); following != line.told)
        {
            TakeOut(number, following);
        }
    }
    return taken;
}

std::uint32_t ByClass::FirstBytes() const
{
    return Packets() > 0 ? m_lines[m_scheduler->Next()].FirstBytes() : 0;
}

std::size_t ByClass::Packets() const
{
    std::size_t packets = 0;
    for (const auto& line : m_lines)
    {
        packets += line.discipline->Packets() + (line.head ? 1 : 0);
    }
    return packets;
}

std::uint64_t ByClass::Bytes() const
{
    std::uint64_t bytes = 0;
    for (const auto& line : m_lines)
    {
        bytes += line.discipline->Bytes() + (line.head ? line.head->bytes : 0);
    }
    return bytes;
}

bool ByClass::TellsFlowsApart() const
{
    return std::ranges::any_of(m_lines, [](const ClassLine& line) { return line.discipline->TellsFlowsApart(); });
}

bool ByClass::TellsHostsApart() const
{
    return std::ranges::any_of(m_lines, [](const ClassLine& line) { return line.discipline->TellsHostsApart(); });
}

bool ByClass::LooksAtEcn() const
{
    return std::ranges::any_of(m_lines, [](const ClassLine& line) { return line.discipline->LooksAtEcn(); });
}

void ByClass::TakeOut(LineId number, std::uint32_t following)
{
    m_lines[number].told = following;
    m_scheduler->TakenOut(number, following);
}

} // namespace netboxit::queueing
