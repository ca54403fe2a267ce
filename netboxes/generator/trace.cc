// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace.h"

#include "../engine/pcapng.h"
#include "../engine/segment.h"

namespace netboxit
{

namespace
{

/// Memory is locked in real time, so a capture of hours is refused rather than loaded.
constexpr std::size_t LARGEST_RECORDING = 256 << 20;

} // namespace

Recording ReadRecording(const std::string& path)
{
    PcapngReader reader(path);
    Recording recording;
    std::int64_t first = 0;
    std::size_t size = 0;
    while (const auto packet = reader.Next())
    {
        first = recording.empty() ? packet->timeNs : first;
        const auto offset = packet->timeNs - first;
        if (!recording.empty() && offset < recording.back().offset)
        {
            throw std::runtime_error("cannot replay " + path +
                                     ": its packets are not in order of time; sort them with reordercap");
        }
        size += packet->data.size();
        if (size > LARGEST_RECORDING)
        {
            throw std::runtime_error("cannot replay " + path +
                                     ": it holds more than 256 MiB; cut it with editcap -c");
        }
        recording.push_back({offset, {packet->data.begin(), packet->data.end()}});
    }
    if (recording.empty())
    {
        throw std::runtime_error("cannot replay " + path + ": it holds no packets");
    }
    return recording;
}

Replay::Replay(std::shared_ptr<const Recording> recording) : m_recording(std::move(recording))
{
}

void Replay::Start(std::int64_t now)
{
    m_start = now;
    m_next = 0;
}

std::int64_t Replay::Next() const
{
    return m_next < m_recording->size() ? m_start + (*m_recording)[m_next].offset : NEVER;
}

void Replay::Advance()
{
    ++m_next;
}

std::uint64_t Replay::PassOver(std::int64_t time)
{
    const auto before = m_next;
    while (Next() < time)
    {
        ++m_next;
    }
    return m_next - before;
}

void Replay::SetRate(double, std::int64_t)
{
    throw OutOfRange("generator: rate cannot change while a trace is replayed with its own spacing");
}

Bytes Replay::Write(std::uint64_t, std::int64_t)
{
    return (*m_recording)[m_next].bytes;
}

void Replay::Resize(std::size_t)
{
    throw OutOfRange("generator: size cannot change while a trace is replayed with its own frames");
}

} // namespace netboxit
