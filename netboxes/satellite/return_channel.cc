// SPDX-License-Identifier: GPL-2.0-or-later
#include "return_channel.h"

#include "return_terminal.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace netboxit
{

namespace
{

/// 0 … count-1 in the order of their bits reversed (van der Corput): any consecutive ones of it are spread nearly evenly.
std::vector<std::uint32_t> SpreadOrder(std::uint32_t count)
{
    const auto reversed = [](std::uint32_t value)
    {
        std::uint32_t result = 0;
        for (int bit = 0; bit < 32; ++bit)
        {
            result = result << 1 | (value >> bit & 1);
        }
        return result;
    };
    std::vector<std::uint32_t> order(count);
    std::vector<std::uint32_t> rank(count);
    std::iota(rank.begin(), rank.end(), 0);
    std::ranges::sort(rank, {}, reversed);
    // The i-th of the sequence stands where its fraction ranks among all.
    for (std::uint32_t place = 0; place < count; ++place)
    {
        order[rank[place]] = place;
    }
    return order;
}

} // namespace

ReturnChannel::ReturnChannel(const SuperframeLayout& layout,
                             std::vector<NetworkControl::Terminal> terminals,
                             Surroundings surroundings)
    : m_layout(layout), m_classes(terminals), m_control(std::move(terminals), surroundings.payload),
      m_surroundings(std::move(surroundings)), m_spread(SpreadOrder(layout.slotsPerCarrier))
{
    for (const auto& classes : m_classes)
    {
        m_controlled += std::ranges::any_of(classes, &RequestClass::IsDynamic) ? 1 : 0;
    }
}

std::unique_ptr<Sender> ReturnChannel::MakeSender(std::unique_ptr<BurstFiller> filler)
{
    const auto number = m_terminals.size();
    auto terminal = std::make_unique<Terminal>(*this, number, std::move(filler), m_classes.at(number));
    m_terminals.push_back(terminal.get());
    return terminal;
}

std::uint32_t ReturnChannel::ControlSlots() const
{
    const auto bursts = (m_controlled + m_layout.controlInterval - 1) / m_layout.controlInterval;
    return static_cast<std::uint32_t>((bursts + m_layout.controlPerSlot - 1) / m_layout.controlPerSlot);
}

std::uint32_t ReturnChannel::TrafficSlots() const
{
    const auto all = m_layout.carriers * m_layout.slotsPerCarrier;
    return all - std::min(all, ControlSlots());
}

ns3::Time ReturnChannel::SlotTime(std::uint32_t slots) const
{
    return ns3::NanoSeconds(std::llround(slots * m_layout.slotBits / m_layout.rate * 1e9));
}

ns3::Time ReturnChannel::Duration() const
{
    return SlotTime(m_layout.slotsPerCarrier);
}

ns3::Time ReturnChannel::Start(std::int64_t superframe) const
{
    return m_originTime + Duration() * (superframe - m_origin);
}

std::int64_t ReturnChannel::NumberAt(ns3::Time now) const
{
    const auto elapsed = (now - m_originTime).GetNanoSeconds();
    const auto duration = Duration().GetNanoSeconds();
    return m_origin + elapsed / duration - (elapsed % duration < 0 ? 1 : 0);
}

void ReturnChannel::Wake(Terminal& terminal)
{
    if (!m_active)
    {
        m_active = true;
        OpenSuperframe(NumberAt(ns3::Simulator::Now()));
        return;
    }
    ScheduleSlot(terminal);
    ScheduleControl(terminal);
}

void ReturnChannel::OpenSuperframe(std::int64_t superframe)
{
    ApplyRate(superframe);
    const auto skipped = std::max<std::int64_t>(0, superframe - m_number - 1);
    // Plans are made a way to the farthest terminal, and the lead time, before they are used. Requests that come later wait.
    ns3::Time ahead{};
    for (const auto* terminal : m_terminals)
    {
        ahead = std::max(ahead, m_surroundings.delay(terminal->number));
    }
    const auto made = Start(superframe) - ahead - ns3::Seconds(m_layout.leadTime);
    const auto& plan = m_control.Plan(superframe, Duration().GetSeconds(), TrafficSlots(), m_layout.slotsPerCarrier, made);
    m_number = superframe;
    for (auto* terminal : m_terminals)
    {
        const auto& assignment = plan[terminal->number];
        const double payload = m_surroundings.payload(terminal->number);
        if (skipped > 0)
        {
            terminal->CountUnused(assignment, skipped, payload);
        }
        terminal->Assign(assignment, ControlSlots() + assignment.first, payload, Duration());
        terminal->slotScheduled = false;
        terminal->controlScheduled = false;
        terminal->DropOld();
        ScheduleSlot(*terminal);
        ScheduleControl(*terminal);
    }
    m_next = ns3::Simulator::Schedule(Start(superframe + 1) - ns3::Simulator::Now(), &ReturnChannel::NextSuperframe, this);
}

void ReturnChannel::NextSuperframe()
{
    const bool quiet = std::ranges::all_of(m_terminals,
                                           [](const Terminal* terminal)
                                           {
                                               const auto& filler = terminal->Filler();
                                               return filler.IsEmpty() && std::ranges::none_of(terminal->requesters, [&](const Requester& r)
                                                                                               { return r.HasInterest(filler); });
                                           });
    if (quiet && m_control.IsIdle() && !m_newRate)
    {
        m_active = false;
        return;
    }
    OpenSuperframe(m_number + 1);
}

void ReturnChannel::ScheduleSlot(Terminal& terminal)
{
    if (terminal.slotScheduled || terminal.Filler().IsEmpty())
    {
        return;
    }
    const auto now = ns3::Simulator::Now();
    const auto begun = Start(m_number);
    auto notBefore = static_cast<std::uint32_t>((now - begun).GetSeconds() * m_layout.rate / m_layout.slotBits);
    // The estimate may be early by one slot or late by rounding; the comparison decides.
    notBefore -= notBefore > 0 ? 1 : 0;
    while (begun + SlotTime(notBefore) < now)
    {
        ++notBefore;
    }
    const auto slot = terminal.NextSlot(notBefore, m_spread);
    if (slot)
    {
        terminal.slotScheduled = true;
        ns3::Simulator::Schedule(begun + SlotTime(*slot) - now, &ReturnChannel::SendSlot, this, &terminal, begun + SlotTime(*slot + 1));
    }
}

void ReturnChannel::SendSlot(Terminal* terminal, ns3::Time end)
{
    terminal->slotScheduled = false;
    if (!terminal->Filler().IsEmpty())
    {
        terminal->Send(end);
        ScheduleSlot(*terminal);
    }
}

void ReturnChannel::ScheduleControl(Terminal& terminal)
{
    const auto turn = Modulo(m_number, m_layout.controlInterval);
    const bool interested =
        std::ranges::any_of(terminal.requesters, [&](const Requester& r) { return r.HasInterest(terminal.Filler()); });
    if (terminal.controlScheduled || !interested || terminal.number % m_layout.controlInterval != turn)
    {
        return;
    }
    const auto place = static_cast<std::uint32_t>(terminal.number / m_layout.controlInterval) % (m_layout.controlPerSlot * m_layout.slotsPerCarrier);
    const auto start = Start(m_number) + SlotTime(1) * static_cast<std::int64_t>(place) / static_cast<std::int64_t>(m_layout.controlPerSlot);
    if (start >= ns3::Simulator::Now())
    {
        terminal.controlScheduled = true;
        ns3::Simulator::Schedule(start - ns3::Simulator::Now(), &ReturnChannel::SendControl, this, &terminal);
    }
}

void ReturnChannel::SendControl(Terminal* terminal)
{
    const auto now = ns3::Simulator::Now();
    const auto delay = m_surroundings.delay(terminal->number);
    const auto burst = SlotTime(1) / static_cast<std::int64_t>(m_layout.controlPerSlot);
    const double payload = m_surroundings.payload(terminal->number);
    const bool arrives = payload > 0.0 && m_surroundings.requestArrives(terminal->number);
    const auto interval = Duration() * static_cast<std::int64_t>(m_layout.controlInterval);
    const auto loop = burst + delay + delay + ns3::Seconds(m_layout.leadTime) + Duration() + interval;
    const Requester::Occasion occasion{.now = now,
                                       .loop = loop.GetSeconds(),
                                       .assigned = terminal->StillAssigned(),
                                       .payload = payload > 0.0 ? payload : m_layout.slotBits / 8.0};
    for (std::size_t i = 0; i < terminal->requesters.size(); ++i)
    {
        auto& requester = terminal->requesters[i];
        const auto asked = requester.HasInterest(terminal->Filler()) ? requester.Ask(terminal->Filler(), occasion) : std::nullopt;
        if (asked)
        {
            ++terminal->requests;
            terminal->requestsLost += arrives ? 0 : 1;
            if (arrives)
            {
                m_control.Receive({terminal->number, i, asked->first, asked->second, now + burst + delay});
            }
        }
    }
}

void ReturnChannel::SetRate(double rate)
{
    m_newRate = rate;
    if (!m_active)
    {
        ApplyRate(NumberAt(ns3::Simulator::Now()) + 1);
    }
}

void ReturnChannel::ApplyRate(std::int64_t superframe)
{
    if (!m_newRate)
    {
        return;
    }
    m_originTime = Start(superframe);
    m_origin = superframe;
    m_layout.rate = *m_newRate;
    m_newRate.reset();
}

void ReturnChannel::SetCraRate(std::size_t terminal, double rate)
{
    m_control.SetCraRate(terminal, rate);
    m_terminals[terminal]->requesters.back().parameters.craRate = rate;
}

void ReturnChannel::SetRbdcMaximum(std::size_t terminal, double rate)
{
    m_control.SetRbdcMaximum(terminal, rate);
    m_terminals[terminal]->requesters.back().parameters.rbdcMaximum = rate;
}

} // namespace netboxit
