// SPDX-License-Identifier: GPL-2.0-or-later
#include "direction.h"
#include "times.h"

// What a direction of a link is told: its parameters, and when its time begins.

namespace netboxit::link
{

void Direction::Set(std::string_view parameter, const Json& value)
{
    const auto now = Now();
    Advance(now);
    if (parameter == "rate")
    {
        SetRate(value);
    }
    else if (parameter == "delay")
    {
        m_delay = Nanoseconds(value.get<double>());
    }
    else if (parameter == "overhead")
    {
        m_overhead = static_cast<std::uint32_t>(value.get<double>());
    }
    else if (parameter == "jitter")
    {
        m_jitter.Set(value);
    }
    else if (parameter == "loss")
    {
        m_errors.Set(value, now);
    }
    else if (parameter == "duplication")
    {
        m_duplication = value.get<double>();
    }
    else if (parameter == "reordering")
    {
        SetReordering(value);
    }
    else if (parameter == "corruption")
    {
        SetCorruption(value);
    }
    else if (parameter == "queue")
    {
        SetQueue(value);
    }
    else if (parameter == "trace")
    {
        SetTrace(value);
    }
    else // while_down
    {
        m_waitsWhileDown = value == "wait";
    }
    Expect(now);
}

void Direction::SetRate(const Json& value)
{
    m_rate = value.get<double>();
    ChooseCapacity();
}

void Direction::SetReordering(const Json& value)
{
    m_reorderProbability = value.at("probability");
    m_reorderGap = value.at("gap");
    m_reorderBy = Nanoseconds(value.at("by"));
    m_candidates = 0;
}

void Direction::SetCorruption(const Json& value)
{
    m_bitErrors.SetRate(value.at("bit_error_rate"));
    m_dropsDamaged = value.at("frames") == "dropped";
}

void Direction::SetQueue(const Json& value)
{
    if (m_queue)
    {
        m_queue->Set(value, Now(), m_rate);
        m_waitingSince = Now(); // what waited for a queue's own rate has not begun before it is gone
        return;
    }
    m_queue = std::make_unique<queueing::Queue<Outgoing>>(
        value,
        m_queueChance,
        [this](const Outgoing& frame, Loss reason) { Lose(frame.slot, reason); },
        [this](const Outgoing& frame) { return m_frames.MarkCongestion(frame.slot, m_to); },
        queueing::MakerOf(),
        queueing::Asks::WhenDue);
}

void Direction::SetTrace(const Json& value)
{
    const auto said = std::exchange(m_traceSaid, value);
    try
    {
        ChooseCapacity();
    }
    catch (const std::exception& error)
    {
        m_traceSaid = said;
        throw OutOfRange(error.what());
    }
}

void Direction::ChooseCapacity()
{
    const auto& said = m_traceSaid;
    std::unique_ptr<Capacity> capacity;
    std::optional<Series> delay;
    std::optional<Series> loss;
    if (said.is_object())
    {
        const bool repeat = said.value("repeat", false);
        const auto between = said.value("between", "") == "line" ? Timeline::Between::Line : Timeline::Between::Hold;
        const auto series = [&](const char* name)
        {
            const auto points = said.value(name, Json());
            return points.is_array() ? std::optional(Series(points, between, repeat)) : std::nullopt;
        };
        if (const auto opportunities = said.value("opportunities", Json()); opportunities.is_array())
        {
            capacity = std::make_unique<Opportunities>(opportunities.get<std::vector<std::uint32_t>>(), repeat);
        }
        if (const auto rate = series("rate"))
        {
            capacity = std::make_unique<RateOverTime>(*rate);
        }
        delay = series("delay");
        loss = series("loss");
    }
    m_capacity = capacity ? std::move(capacity) : std::make_unique<ConstantRate>(m_rate);
    m_delayOverTime = std::move(delay);
    m_lossOverTime = std::move(loss);
    if (m_began >= 0)
    {
        BeginSeries();
    }
}

void Direction::Begin()
{
    BeginSeries();
    m_errors.Begin(m_began);
}

void Direction::BeginSeries()
{
    m_began = Now();
    Advance(m_began);
    m_capacity->Begin(m_began);
    for (auto* series : {&m_delayOverTime, &m_lossOverTime})
    {
        if (*series)
        {
            (*series)->Begin(m_began);
        }
    }
}

} // namespace netboxit::link
