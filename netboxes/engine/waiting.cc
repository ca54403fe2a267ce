// SPDX-License-Identifier: GPL-2.0-or-later
#include "waiting.h"

#include <algorithm>

namespace netboxit
{

namespace
{

constexpr std::int64_t MICROSECOND = 1'000;
constexpr std::int64_t SECOND = 1'000'000'000;

/// Sleeping takes about this much of the processor, so what is nearer is waited for awake.
constexpr std::int64_t NEAR = 2 * MICROSECOND;
/// Asking the kernel takes about this long.
constexpr std::int64_t POLL = 1 * MICROSECOND;
/// Other netboxes of the core may take this long to give it back.
constexpr std::int64_t TURN_OF_OTHERS = 30 * MICROSECOND;

} // namespace

Waiting::Waiting(std::span<const std::unique_ptr<Port>> ports,
                 const std::optional<ControlSocket>& control,
                 const EndSignal& end,
                 const RealClock& clock,
                 RealtimeThread& thread)
    : m_ports(ports), m_control(control), m_end(end), m_clock(clock), m_thread(thread)
{
}

bool Waiting::Until(std::int64_t time, std::int64_t now, bool exactly, bool withPorts)
{
    if (time - now <= NEAR)
    {
        return SpinUntil(time, withPorts);
    }
    if (!exactly || !m_thread.MaySpin())
    {
        return SleepUntil(time, withPorts);
    }
    const auto spin = time - m_thread.Window();
    if (spin > now && SleepUntil(spin, withPorts))
    {
        return true;
    }
    return !HasSeenFrames() && SpinUntil(time, withPorts);
}

bool Waiting::HasSeenFrames() const
{
    return std::ranges::any_of(m_ports, [](const auto& port) { return port->HasFrames(); });
}

bool Waiting::SleepUntil(std::int64_t time, bool withPorts)
{
    std::size_t waiting = 0;
    while (waiting < m_ports.size() && m_ports[waiting]->BeginWait())
    {
        ++waiting;
    }
    const bool asleep = waiting == m_ports.size();
    const bool found = asleep && Poll(std::max<std::int64_t>(time - m_clock.Now(), 0), withPorts);
    for (const auto& port : m_ports.first(waiting))
    {
        port->EndWait();
    }
    if (asleep && !found)
    {
        m_thread.HasOverslept(m_clock.Now() - time);
    }
    return found;
}

bool Waiting::SpinUntil(std::int64_t time, bool withPorts)
{
    const auto began = m_clock.Now();
    bool found = false;
    auto now = began;
    while (!found && now < time && !HasSeenFrames())
    {
        if (time - now > POLL)
        {
            found = Poll(withPorts);
        }
        if (time - now > TURN_OF_OTHERS)
        {
            m_thread.LetOthersRun();
        }
        now = m_clock.Now();
    }
    m_thread.HasSpun(std::max<std::int64_t>(std::min(now, time) - began, 0));
    return found;
}

bool Waiting::Poll(std::int64_t timeout, bool withPorts)
{
    m_polled.clear();
    m_polled.push_back({m_end.Descriptor(), POLLIN, 0});
    for (const auto& port : m_ports)
    {
        // A negative descriptor is passed over.
        m_polled.push_back({withPorts ? port->Descriptor() : -1, POLLIN, 0});
    }
    if (m_control)
    {
        m_control->AddTo(m_polled);
    }
    const timespec time{timeout / SECOND, timeout % SECOND};
    const bool found = ::ppoll(m_polled.data(), m_polled.size(), &time, nullptr) > 0;
    m_lastPoll = m_clock.Now();
    return found;
}

} // namespace netboxit
