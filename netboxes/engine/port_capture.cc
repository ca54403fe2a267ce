// SPDX-License-Identifier: GPL-2.0-or-later
#include "port_capture.h"

#include <fcntl.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace netboxit
{

namespace
{

/// The queue holds some 25 ms of the most that a netbox passes.
constexpr std::chrono::milliseconds PAUSE{10};
constexpr std::size_t PIECE = 256 << 10;

} // namespace

void ByteQueue::Append(Bytes bytes)
{
    const auto place = m_head % CAPACITY;
    const auto first = std::min(bytes.size(), CAPACITY - place);
    std::memcpy(m_bytes.data() + place, bytes.data(), first);
    std::memcpy(m_bytes.data(), bytes.data() + first, bytes.size() - first);
    m_head += bytes.size();
}

Bytes ByteQueue::Front() const
{
    const auto tail = m_tail.load(std::memory_order_relaxed);
    const auto place = tail % CAPACITY;
    const auto waiting = m_published.load(std::memory_order_acquire) - tail;
    return {m_bytes.data() + place, std::min(waiting, CAPACITY - place)};
}

PortCapture::PortCapture(std::string path, std::uint64_t frames, std::chrono::nanoseconds duration)
    : m_path(std::move(path)),
      m_file(::open(m_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644),
             "cannot write the capture " + m_path),
      m_most(frames), m_duration(duration), m_thread([this] { Write(); })
{
}

PortCapture::~PortCapture()
{
    End();
    m_thread.join();
}

void PortCapture::Add(PacketDirection direction, std::int64_t stamp, Bytes frame)
{
    auto* queue = m_queue.load(std::memory_order_acquire);
    if (queue == nullptr || m_ended || m_closed)
    {
        return;
    }
    const PacketBlock block(stamp, frame.size(), direction);
    if (queue->Room() < block.Head().size() + frame.size() + block.Tail().size())
    {
        ++m_dropped;
        return;
    }
    queue->Append(block.Head());
    queue->Append(frame);
    queue->Append(block.Tail());
    queue->Publish();
    if (++m_frames == m_most)
    {
        End();
    }
}

void PortCapture::End()
{
    if (!m_ended.exchange(true))
    {
        m_wake.release();
    }
}

/// The thread.
void PortCapture::Write()
{
    // Not at the priority of the thread that started it.
    const sched_param none{};
    pthread_setschedparam(pthread_self(), SCHED_OTHER, &none);
    const auto until = std::chrono::steady_clock::now() + m_duration;
    {
        const auto queue = std::make_unique<ByteQueue>();
        queue->Append(PcapngOpening());
        queue->Publish();
        m_queue = queue.get();
        while (!m_ended)
        {
            WriteWaiting(*queue);
            m_closed = m_error != 0 || std::chrono::steady_clock::now() > until;
            m_wake.try_acquire_for(PAUSE);
        }
        WriteWaiting(*queue);
    }
    m_written = true;
}

void PortCapture::WriteWaiting(ByteQueue& queue)
{
    for (auto front = queue.Front(); !front.empty() && m_error == 0; front = queue.Front())
    {
        try
        {
            const auto piece = front.first(std::min(front.size(), PIECE));
            WriteWhole(m_file.Get(), piece.data(), piece.size(), m_place, "capture");
            m_place += piece.size();
            queue.Remove(piece.size());
        }
        catch (const std::system_error& error)
        {
            m_error = error.code().value();
        }
    }
}

nlohmann::json PortCapture::Read() const
{
    const int error = m_error;
    const auto* state = m_ended || m_closed ? "ended" : m_queue == nullptr ? "starting" : "running";
    return {{"file", m_path},
            {"state", state},
            {"written", m_written.load()},
            {"frames", m_frames},
            {"dropped", m_dropped},
            {"error", error == 0 ? nlohmann::json() : nlohmann::json(std::strerror(error))}};
}

void PortCaptures::Start(StationId port,
                         const std::string& path,
                         std::uint64_t frames,
                         std::chrono::nanoseconds duration)
{
    if (m_captures[port] && !m_captures[port]->IsOver())
    {
        throw std::runtime_error("it is being captured already, to " + m_captures[port]->Path() +
                                 "; end that with capture_stop");
    }
    m_captures[port].reset();
    m_captures[port] = std::make_unique<PortCapture>(path, frames, duration);
}

nlohmann::json PortCaptures::Stop(StationId port)
{
    auto& capture = m_captures[port];
    if (!capture)
    {
        throw std::runtime_error("it is not being captured");
    }
    capture->End();
    auto told = capture->Read();
    if (told["written"])
    {
        capture.reset();
    }
    return told;
}

nlohmann::json PortCaptures::Read(StationId port) const
{
    return m_captures[port] ? m_captures[port]->Read() : nlohmann::json();
}

} // namespace netboxit
