// SPDX-License-Identifier: GPL-2.0-or-later
#include "io_thread.h"

#include "frame_socket.h"
#include "realtime_thread.h"

#include <pthread.h>
#include <sys/eventfd.h>

#include <chrono>

namespace netboxit
{

namespace
{

constexpr std::size_t BATCH = FrameSocket::BATCH;
constexpr std::size_t DESCRIPTORS = 2; ///< of a line
/// The accounts ask the kernel.
constexpr std::int64_t BETWEEN_ACCOUNTS = 100'000;

std::int64_t Now()
{
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

void SetAffinity(pthread_t thread, const cpu_set_t& cores, const std::string& tried)
{
    errno = pthread_setaffinity_np(thread, sizeof cores, &cores);
    Checked(errno == 0 ? 0 : -1, tried);
}

} // namespace

IoLine::IoLine(std::unique_ptr<Port> port, std::unique_ptr<MemoryWire> wire)
    : m_port(std::move(port)), m_wire(std::move(wire)), m_slots(2 * BATCH)
{
    const auto longest = m_port->Mtu() + ETHERNET_HEADER + VLAN_TAG;
    m_rooms.resize(BATCH * longest);
    for (std::size_t i = 0; i < BATCH; ++i)
    {
        m_slots[i].room = std::span(m_rooms).subspan(i * longest, longest);
        m_landing.push_back({&m_slots[i], 0});
    }
    m_departures.reserve(BATCH);
}

bool IoLine::Move()
{
    const bool received = Receive();
    return Send() || received;
}

bool IoLine::Receive()
{
    if (!m_readable && !m_port->HasFrames())
    {
        return false;
    }
    m_readable = false;
    const auto received = m_port->Receive(m_landing);
    for (const auto& [slot, stamp] : std::span(m_landing).first(received))
    {
        m_wire->Outgoing().Put(slot->bytes, stamp);
    }
    m_wire->Publish();
    return received > 0;
}

bool IoLine::Send()
{
    m_departures.clear();
    while (m_departures.size() < BATCH)
    {
        const auto record = m_wire->Incoming().Next();
        if (!record)
        {
            break;
        }
        auto& slot = m_slots[BATCH + m_departures.size()];
        slot.bytes = record->frame;
        m_departures.push_back({&slot, 0, false});
    }
    if (m_departures.empty())
    {
        return false;
    }
    m_port->Send(m_departures, 0);
    m_wire->Incoming().Release();
    return true;
}

bool IoLine::BeginWait()
{
    const bool port = m_port->BeginWait();
    const bool wire = m_wire->BeginWait();
    return port && wire;
}

void IoLine::EndWait()
{
    m_port->EndWait();
    m_wire->EndWait();
}

void IoLine::AddTo(std::vector<pollfd>& polled) const
{
    polled.push_back({m_port->Descriptor(), POLLIN, 0});
    polled.push_back({m_wire->Descriptor(), POLLIN, 0});
}

void IoLine::Woken(std::span<const pollfd> polled)
{
    m_readable = polled[0].revents != 0;
    if (polled[1].revents != 0)
    {
        m_wire->Silence();
    }
}

void IoLine::Ring()
{
    m_wire->RingFar();
}

IoThread::IoThread(const RealtimeConfiguration& configuration)
    : m_configuration(configuration), m_end(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "cannot make an eventfd")
{
}

IoThread::~IoThread()
{
    if (m_thread.joinable())
    {
        m_ended = true;
        const std::uint64_t one = 1;
        // Cannot fail: its counter is at 0.
        [[maybe_unused]] const auto written = ::write(m_end.Get(), &one, sizeof one);
        m_thread.join();
    }
}

IoLine& IoThread::Add(std::unique_ptr<Port> port, std::unique_ptr<MemoryWire> wire)
{
    m_lines.push_back(std::make_unique<IoLine>(std::move(port), std::move(wire)));
    return *m_lines.back();
}

void IoThread::Start()
{
    const auto tried = "realtime.io_core: cannot run a thread on core " + std::to_string(Core());
    cpu_set_t cores;
    Checked(sched_getaffinity(0, sizeof cores, &cores), tried);
    CPU_CLR(static_cast<std::size_t>(Core()), &cores);
    if (CPU_COUNT(&cores) > 0)
    {
        SetAffinity(pthread_self(), cores, tried);
    }
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(static_cast<std::size_t>(Core()), &own);
    m_thread = std::thread([this] { Run(); });
    pthread_setname_np(m_thread.native_handle(), "io");
    SetAffinity(m_thread.native_handle(), own, tried);
}

void IoThread::Check() const
{
    if (m_failed.load(std::memory_order_acquire))
    {
        std::rethrow_exception(m_failure);
    }
}

void IoThread::Run()
{
    try
    {
        Serve();
    }
    catch (...)
    {
        m_failure = std::current_exception();
        m_failed.store(true, std::memory_order_release);
        for (auto& line : m_lines)
        {
            line->Ring();
        }
    }
}

void IoThread::Serve()
{
    RealtimeThread thread(m_configuration);
    auto moved = Now();
    auto before = moved;
    auto accounted = moved;
    while (!m_ended.load(std::memory_order_acquire))
    {
        const bool busy = Move();
        const auto now = Now();
        if (now - accounted > BETWEEN_ACCOUNTS)
        {
            thread.Account(now);
            accounted = now;
        }
        if (busy)
        {
            moved = now;
        }
        else if (thread.MaySpin() && now - moved < thread.Window())
        {
            thread.HasSpun(now - before);
        }
        else
        {
            Wait();
        }
        before = now;
    }
}

bool IoThread::Move()
{
    const auto lock = Lock();
    bool moved = false;
    for (auto& line : m_lines)
    {
        moved = line->Move() || moved;
    }
    return moved;
}

void IoThread::Wait()
{
    bool may = true;
    m_polled.clear();
    for (auto& line : m_lines)
    {
        may = line->BeginWait() && may;
        line->AddTo(m_polled);
    }
    m_polled.push_back({m_end.Get(), POLLIN, 0});
    const bool found = may && ::ppoll(m_polled.data(), m_polled.size(), nullptr, nullptr) > 0;
    for (std::size_t i = 0; i < m_lines.size(); ++i)
    {
        m_lines[i]->EndWait();
        if (found)
        {
            m_lines[i]->Woken(std::span(m_polled).subspan(i * DESCRIPTORS, DESCRIPTORS));
        }
    }
}

} // namespace netboxit
