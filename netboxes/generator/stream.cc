// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace netboxit
{

namespace
{

/// At most so many frames in one event: the netbox hands over as many at once.
constexpr int BATCH = 64;
constexpr std::size_t FCS = 4;

std::int64_t Now()
{
    return ns3::Simulator::Now().GetNanoSeconds();
}

} // namespace

Stream::Stream(StationId station,
               Frames& frames,
               std::shared_ptr<Timetable> timetable,
               std::shared_ptr<FrameSource> source)
    : m_station(station), m_frames(frames), m_timetable(std::move(timetable)), m_source(std::move(source))
{
}

void Stream::SetActive(bool active)
{
    if (active && !m_active)
    {
        m_sinceStart = 0;
        m_timetable->Start(Now());
    }
    m_active = active;
    Expect();
}

void Stream::SetRate(double rate)
{
    m_timetable->SetRate(rate, Now());
    Expect();
}

void Stream::SetSize(std::size_t size)
{
    m_source->Resize(size);
}

void Stream::SetCount(std::uint64_t count)
{
    m_count = count;
    Expect();
}

void Stream::Depart()
{
    const auto clock = Now() + m_frames.Behind();
    m_counters.behind += m_timetable->PassOver(clock - PATIENCE);
    const auto stamp = m_frames.StampOf(clock);
    for (int frame = 0; frame < BATCH && m_timetable->Next() <= clock && !IsOver(); ++frame)
    {
        Send(stamp);
        m_timetable->Advance();
    }
    Expect();
}

void Stream::Send(std::int64_t stamp)
{
    const auto frame = m_source->Write(m_sequence, stamp);
    ++m_sinceStart;
    if (!m_frames.Emit(m_station, frame))
    {
        ++m_counters.refused;
        return;
    }
    ++m_sequence;
    m_counters.first = m_counters.emitted == 0 ? stamp : m_counters.first;
    m_counters.last = stamp;
    m_counters.bytes += frame.size() + FCS;
    ++m_counters.emitted;
}

void Stream::Expect()
{
    m_departure.Cancel();
    m_active = m_active && !IsOver();
    if (m_active)
    {
        const auto delay = std::max<std::int64_t>(m_timetable->Next() - Now(), 0);
        m_departure = ns3::Simulator::Schedule(ns3::NanoSeconds(delay), &Stream::Depart, this);
    }
}

bool Stream::IsOver() const
{
    return m_timetable->Next() == Timetable::NEVER || (m_count > 0 && m_sinceStart >= m_count);
}

Json Stream::Read() const
{
    const auto seconds = static_cast<double>(m_counters.last - m_counters.first) / 1e9;
    return {{"active", m_active},
            {"intended", m_counters.emitted + m_counters.refused + m_counters.behind},
            {"emitted", m_counters.emitted},
            {"refused", m_counters.refused},
            {"behind", m_counters.behind},
            {"bytes", m_counters.bytes},
            {"first_ns", m_counters.first},
            {"last_ns", m_counters.last},
            {"rate", seconds > 0 ? static_cast<double>(m_counters.emitted - 1) / seconds : 0.0},
            {"next_sequence", m_sequence}};
}

void Stream::Reset()
{
    m_counters = {};
}

} // namespace netboxit
