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

VirtualLoop::VirtualLoop(EventQueue& events, VirtualClock& clock, EndSignal& end)
    : m_events(events), m_clock(clock), m_end(end)
{
}

void VirtualLoop::Add(Netbox& netbox)
{
    m_netboxes.push_back(&netbox);
    netbox.NoticeWaiting([this, &netbox] { m_ready.push_back(&netbox); });
    if (netbox.Waiting() > 0)
    {
        m_ready.push_back(&netbox);
    }
    for (StationId station = 0; station < netbox.Ports().size(); ++station)
    {
        Input input{&netbox, station, netbox.Ports()[station].get(), {.slot = netbox.TakeSlot(), .stamp = 0}};
        if (Fetch(input))
        {
            m_inputs.push_back(input);
        }
    }
}

void VirtualLoop::Align(std::int64_t start, std::int64_t epoch)
{
    const auto first = Earliest();
    if (first == m_inputs.end())
    {
        m_clock.Align(epoch, 0);
    }
    else
    {
        m_clock.Align(first->next.stamp, start);
    }
}

int VirtualLoop::Run()
{
    for (unsigned step = 0; !m_events.IsStopped(); ++step)
    {
        if (step % STEPS_BETWEEN_SIGNALS == 0)
        {
            WriteRecords();
            m_notice();
            if (m_end.HasCome())
            {
                break;
            }
        }
        const auto input = Earliest();
        const auto now = m_events.NowNs();
        const auto entry = !m_wires.IsEmpty() ? now
                           : input == m_inputs.end()
                               ? NEVER
                               : std::max(m_clock.TimeOf(input->next.stamp), now);
        const auto due = m_events.NextDue().value_or(NEVER);
        const auto end = End();
        if (std::min(entry, due) >= end)
        {
            m_events.AdvanceTo(end);
            break;
        }
        if (due <= entry)
        {
            RunEvent(due);
        }
        else if (!m_wires.IsEmpty())
        {
            m_wires.EnterNext(now);
        }
        else
        {
            Enter(input, entry);
        }
        HandOver();
    }
    return 0;
}

void VirtualLoop::WriteRecords()
{
    for (auto* netbox : m_netboxes)
    {
        if (netbox->Records().HasPiece())
        {
            netbox->Records().WriteAll();
        }
        if (netbox->TheJournal().IsPressing())
        {
            netbox->TheJournal().Write();
        }
    }
}

bool VirtualLoop::Fetch(Input& input)
{
    return input.port->Receive({&input.next, 1}) > 0;
}

void VirtualLoop::RunEvent(std::int64_t due)
{
    // Whose event it is only a network of one netbox tells.
    if (m_netboxes.size() == 1)
    {
        m_netboxes.front()->TheLateness().RecordEvent(due, 0);
    }
    m_events.RunNext();
}

void VirtualLoop::Enter(std::vector<Input>::iterator input, std::int64_t time)
{
    m_events.AdvanceTo(time);
    if (auto* another = input->netbox->TakeSlot(); another != nullptr)
    {
        input->netbox->Enter(input->station, input->next, 0);
        input->next.slot = another;
    }
    else
    {
        input->netbox->DropForOverload(input->station);
    }
    if (!Fetch(*input))
    {
        m_inputs.erase(input);
    }
}

void VirtualLoop::HandOver()
{
    for (auto* netbox : m_ready)
    {
        netbox->HandOver();
    }
    m_ready.clear();
}

std::vector<VirtualLoop::Input>::iterator VirtualLoop::Earliest()
{
    return std::ranges::min_element(m_inputs, {}, [](const auto& input) { return input.next.stamp; });
}

std::int64_t VirtualLoop::End() const
{
    if (m_endsAt)
    {
        return *m_endsAt;
    }
    std::int64_t lastLeft = 0;
    for (const auto* netbox : m_netboxes)
    {
        if (netbox->FramesInside() > 0)
        {
            return NEVER;
        }
        lastLeft = std::max(lastLeft, netbox->LastLeft());
    }
    return m_inputs.empty() && m_wires.IsEmpty() ? lastLeft + EPILOGUE : NEVER;
}

} // namespace netboxit
