// SPDX-License-Identifier: GPL-2.0-or-later
#include "virtual_loop.h"

#include <algorithm>
#include <limits>

namespace netboxit
{

namespace
{

constexpr std::int64_t NEVER = std::numeric_limits<std::int64_t>::max();
/// How long a run goes on when the last frame has left, unless its duration is given.
constexpr std::int64_t EPILOGUE = 1'000'000'000;
constexpr unsigned STEPS_BETWEEN_SIGNALS = 4096;

} // namespace

VirtualLoop::VirtualLoop(const Configuration& configuration,
                         Netbox& netbox,
                         EventQueue& events,
                         VirtualClock& clock,
                         EndSignal& end)
    : m_duration(configuration.duration), m_start(configuration.start), m_netbox(netbox), m_events(events),
      m_clock(clock), m_end(end)
{
    OpenInputs();
}

int VirtualLoop::Run()
{
    for (unsigned step = 0; !m_events.IsStopped(); ++step)
    {
        if (step % STEPS_BETWEEN_SIGNALS == 0 && m_end.HasCome())
        {
            break;
        }
        auto* input = Earliest();
        const auto entry =
            input == nullptr ? NEVER : std::max(m_clock.TimeOf(input->next.stamp), m_events.NowNs());
        const auto due = m_events.NextDue().value_or(NEVER);
        const auto end = End(input);
        if (std::min(entry, due) >= end)
        {
            m_events.AdvanceTo(end);
            break;
        }
        if (due <= entry)
        {
            m_netbox.TheLateness().RecordEvent(due, 0);
            m_events.RunNext();
        }
        else
        {
            Enter(*input, entry);
        }
        m_netbox.HandOver();
    }
    return 0;
}

void VirtualLoop::OpenInputs()
{
    for (const auto& port : m_netbox.Ports())
    {
        auto& input = m_inputs.emplace_back(*port);
        input.next.slot = m_netbox.TakeSlot();
        Fetch(input);
    }
    const auto* first = Earliest();
    m_clock.Align(first == nullptr ? 0 : first->next.stamp, m_start);
}

void VirtualLoop::Fetch(Input& input)
{
    input.ended = input.port.Receive({&input.next, 1}) == 0;
}

void VirtualLoop::Enter(Input& input, std::int64_t time)
{
    const auto station = static_cast<StationId>(&input - m_inputs.data());
    m_events.AdvanceTo(time);
    if (auto* another = m_netbox.TakeSlot(); another != nullptr)
    {
        m_netbox.Enter(station, input.next, 0);
        input.next.slot = another;
    }
    else
    {
        m_netbox.DropForOverload(station);
    }
    Fetch(input);
}

VirtualLoop::Input* VirtualLoop::Earliest()
{
    Input* earliest = nullptr;
    for (auto& input : m_inputs)
    {
        if (!input.ended && (earliest == nullptr || input.next.stamp < earliest->next.stamp))
        {
            earliest = &input;
        }
    }
    return earliest;
}

std::int64_t VirtualLoop::End(const Input* earliest) const
{
    if (m_duration)
    {
        return *m_duration;
    }
    const bool over = earliest == nullptr && m_netbox.FramesInside() == 0;
    return over ? m_netbox.LastLeft() + EPILOGUE : NEVER;
}

} // namespace netboxit
