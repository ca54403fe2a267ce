// SPDX-License-Identifier: GPL-2.0-or-later
#include "direction.h"
#include "times.h"

#include "../engine/checked.h"

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
        m_loss.Set(value);
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
    const double probability = Checked(value, "reordering", "probability", 0.0, 1.0);
    const double gap = Checked(value, "reordering", "gap", 1, 1e6, "frames");
    m_reorderBy = Nanoseconds(Checked(value, "reordering", "by", 0.0, 5.0, "s"));
    m_reorderProbability = probability;
    m_reorderGap = static_cast<std::uint64_t>(gap);
    m_candidates = 0;
}

void Direction::SetCorruption(const Json& value)
{
    const bool drops = CheckedWord(value, "corruption", "frames", {"damaged", "dropped"}) == "dropped";
    m_bitErrors.SetRate(Checked(value, "corruption", "bit_error_rate", 0.0, 0.5));
    m_dropsDamaged = drops;
}

void Direction::SetQueue(const Json& value)
{
    if (m_queue)
    {
        m_queue->Set(value, Now(), m_rate);
        return;
    }
    m_queue = std::make_unique<queueing::Queue<Outgoing>>(
        value, m_queueChance, [this](const Outgoing& frame, Loss reason) { Lose(frame.slot, reason); });
}

void Direction::SetTrace(const Json& value)
{
    if (!value.is_null() && !value.contains("opportunities") && !value.contains("rate"))
    {
        throw OutOfRange("link: trace cannot be " + value.dump() + "; it is what parameters.py makes of a file");
    }
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
        Begin();
    }
}

void Direction::Begin()
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
