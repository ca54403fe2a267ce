// SPDX-License-Identifier: GPL-2.0-or-later
#include "port_capture.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>

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
/// A reader that takes nothing for so long, once the capture has ended, has lost what is left.
constexpr std::chrono::seconds READER_PATIENCE{2};

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
      m_file(::open(m_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644),
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
    const PacketBlock block(stamp, frame.size(), frame.size(), direction);
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
    // A pipe without a reader is an error of write(2), as for sockets.
    sigset_t broken;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken, nullptr);
    const auto until = std::chrono::steady_clock::now() + m_duration;
    {
        const auto queue = std::make_unique<ByteQueue>();
        queue->Append(PcapngOpening());
        queue->Publish();
        m_queue = queue.get();
        while (!m_ended)
        {
            WriteWaiting(*queue);
            m_closed = m_error != 0 || ReaderGone() || std::chrono::steady_clock::now() > until;
            m_wake.try_acquire_for(PAUSE);
        }
        WriteRest(*queue);
    }
    m_written = true;
}

bool PortCapture::ReaderGone() const
{
    pollfd pipe{m_file.Get(), 0, 0};
    return ::poll(&pipe, 1, 0) > 0 && (pipe.revents & POLLERR) != 0;
}

bool PortCapture::WriteWaiting(ByteQueue& queue)
{
    for (auto front = queue.Front(); !front.empty() && m_error == 0; front = queue.Front())
    {
        const auto written = ::write(m_file.Get(), front.data(), std::min(front.size(), PIECE));
        if (written >= 0)
        {
            queue.Remove(static_cast<std::size_t>(written));
        }
        else if (errno == EAGAIN)
        {
            return false;
        }
        else if (errno != EINTR)
        {
            m_error = errno;
        }
    }
    return true;
}

void PortCapture::WriteRest(ByteQueue& queue)
{
    const auto until = std::chrono::steady_clock::now() + READER_PATIENCE;
    while (!WriteWaiting(queue) && m_error == 0)
    {
        if (std::chrono::steady_clock::now() > until)
        {
            m_error = ETIMEDOUT;
        }
        pollfd room{m_file.Get(), POLLOUT, 0};
        ::poll(&room, 1, static_cast<int>(std::chrono::milliseconds(PAUSE).count()));
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
