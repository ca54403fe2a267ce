// SPDX-License-Identifier: GPL-2.0-or-later
#include "snoop.h"

#include "headers.h"

namespace netboxit::multiservice
{

namespace
{

using stages::Direction;
using stages::TcpSegment;

constexpr unsigned MOST_CONNECTIONS = 4096;
constexpr unsigned MOST_SEGMENTS = 10'000;

struct Read
{
    Headers headers;
    TcpSegment segment;
};

/// The TCP segment in a packet, whose bytes outlive it.
std::optional<Read> ReadSegment(std::span<const std::uint8_t> frame)
{
    if (frame.size() < ETHERNET_HEADER)
    {
        return std::nullopt;
    }
    const auto headers = ReadHeaders(frame);
    const auto segment = stages::ReadTcpSegment(headers);
    return segment ? std::optional<Read>({headers, *segment}) : std::nullopt;
}

} // namespace

Snoop::Settings Snoop::Settings::Of(const Json& json, const LinkFacts& facts)
{
    const SchemeSettings settings(json, facts);
    Settings read;
    read.cache = settings.Integer("cache", 1, MOST_SEGMENTS);
    read.leastTimer = settings.Timer("timer_floor", HeaderFormat{HeaderFields::Bare}.Bytes());
    read.connections = settings.Integer("connections", 1, MOST_CONNECTIONS);
    return read;
}

Snoop::Snoop(ServicePort& port, const Json& settings) : Snoop(port, Settings::Of(settings, port.Facts()))
{
}

Snoop::Snoop(ServicePort& port, const Settings& settings)
    : RawService(port),
      m_settings(settings),
      m_connections(MOST_CONNECTIONS, UnpredictableKey()),
      m_byAge(MOST_CONNECTIONS)
{
}

void Snoop::Set(const Json& settings)
{
    m_settings = Settings::Of(settings, m_port.Facts());
}

netboxit::multiservice::Json Snoop::Read() const
{
    std::size_t cached = 0;
    for (auto id = m_byAge.Front(); id; id = m_byAge.After(*id))
    {
        cached += m_connections[*id].Cached();
    }
    return {{"connections", m_open}, {"cached_segments", cached}, {"unmanaged", m_unmanaged}, {"evicted", m_evicted}};
}

void Snoop::TakePacket(const Packet& packet)
{
    const auto read = ReadSegment(m_port.BytesOf(packet));
    if (!read)
    {
        ++m_unmanaged;
        Transmit(packet, false);
        return;
    }
    const auto& segment = read->segment;
    const auto key = stages::TcpFlowKey(*read->headers.ip, segment, Direction::ToNode);
    if (segment.rst)
    {
        if (const auto id = m_connections.Find(key))
        {
            Remove(*id);
        }
    }
    else if (segment.syn)
    {
        m_connections[Find(key)].Begin(segment);
    }
    else if (segment.payload > 0 || segment.fin)
    {
        const auto id = Find(key);
        if (m_connections[id].TakeSegment(segment, packet, m_settings, m_port.Time().Now()))
        {
            m_port.Keep(packet);
        }
        StartTimer(id);
    }
    Transmit(packet, false);
}

void Snoop::TakeFrame(const AirFrame& frame)
{
    const auto read = ReadSegment(m_port.BytesOf(frame.payload));
    const auto id =
        read ? m_connections.Find(stages::TcpFlowKey(*read->headers.ip, read->segment, Direction::FromNode)) : std::nullopt;
    m_unmanaged += read ? 0 : 1;
    if (!id || !read->segment.ack)
    {
        RawService::TakeFrame(frame);
        return;
    }
    m_byAge.MoveToBack(*id);
    const auto verdict = m_connections[*id].TakeAcknowledgement(read->segment, m_port.Time().Now());
    if (verdict.isNew)
    {
        m_timers[*id]->Stop();
        StartTimer(*id);
    }
    if (verdict.again)
    {
        SendAgain(*id, verdict.again);
    }
    if (verdict.isSuppressed)
    {
        Refuse(frame.payload, Drop::Suppressed);
    }
    else
    {
        RawService::TakeFrame(frame);
    }
    if (read->segment.rst)
    {
        Remove(*id);
    }
}

Snoop::Id Snoop::Find(const stages::TcpFlowKey& key)
{
    auto id = m_connections.Find(key);
    if (!id)
    {
        for (; m_open >= m_settings.connections; ++m_evicted)
        {
            Remove(*m_byAge.Front());
        }
        id = m_connections.Insert(key);
        ++m_open;
        if (*id >= m_timers.size())
        {
            m_timers.push_back(std::make_unique<Timer>(m_port.Time(), [this, id = *id] { Expired(id); }));
        }
    }
    m_byAge.MoveToBack(*id);
    return *id;
}

void Snoop::Remove(Id id)
{
    m_timers[id]->Stop();
    m_byAge.Remove(id);
    m_connections[id].Forget();
    m_connections.Remove(id);
    --m_open;
}

void Snoop::SendAgain(Id id, const Packet& packet)
{
    Transmit(packet, true);
    m_timers[id]->Start(m_connections[id].Timeout(m_settings));
}

void Snoop::StartTimer(Id id)
{
    if (!m_timers[id]->IsRunning() && m_connections[id].Waits())
    {
        m_timers[id]->Start(m_connections[id].Timeout(m_settings));
    }
}

void Snoop::Expired(Id id)
{
    if (const auto packet = m_connections[id].TakeTimeout(m_port.Time().Now()))
    {
        ++m_statistics.timeouts;
        SendAgain(id, packet);
    }
}

} // namespace netboxit::multiservice
