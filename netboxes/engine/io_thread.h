// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "configuration.h"
#include "memory_wire.h"
#include "port.h"

#include <poll.h>

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace netboxit
{

/// A port that the I/O thread serves, and the far end of the wire to the simulation. All but the constructor is
/// called by that thread, or with its lock.
class IoLine
{
  public:
    IoLine(std::unique_ptr<Port> port, std::unique_ptr<MemoryWire> wire);

    Port& ThePort()
    {
        return *m_port;
    }

    /// Moves a batch each way. True when there was anything to move.
    bool Move();
    /// True when it may wait for its two descriptors.
    bool BeginWait();
    void EndWait();
    void AddTo(std::vector<pollfd>& polled) const;
    /// What the descriptors say, in the order in which AddTo gave them.
    void Woken(std::span<const pollfd> polled);
    /// Wakes the simulation.
    void Ring();

  private:
    bool Receive();
    bool Send();

    std::unique_ptr<Port> m_port;
    std::unique_ptr<MemoryWire> m_wire;
    std::vector<std::uint8_t> m_rooms;
    std::vector<Slot> m_slots; ///< to receive into, then to send from
    std::vector<Reception> m_landing;
    std::vector<Departure> m_departures;
    bool m_readable{false};
};

/// Calls the kernel for the ports of a netbox on a core of its own, so that the simulation need not.
class IoThread
{
  public:
    explicit IoThread(const RealtimeConfiguration& configuration);
    IoThread(const IoThread&) = delete;
    IoThread& operator=(const IoThread&) = delete;
    /// Ends the thread.
    ~IoThread();

    /// Before Start().
    IoLine& Add(std::unique_ptr<Port> port, std::unique_ptr<MemoryWire> wire);
    /// Starts the thread on its core, and keeps the calling one off it. Throws std::system_error.
    void Start();

    /// While it is held nothing moves.
    std::unique_lock<std::mutex> Lock()
    {
        return std::unique_lock(m_mutex);
    }

    /// Throws what ended the thread, if anything did.
    void Check() const;

    int Core() const
    {
        return *m_configuration.ioCore;
    }

  private:
    void Run();
    void Serve();
    bool Move();
    void Wait();

    RealtimeConfiguration m_configuration;
    netboxit::Descriptor m_end;
    std::vector<std::unique_ptr<IoLine>> m_lines;
    std::vector<pollfd> m_polled;
    std::mutex m_mutex;
    std::atomic<bool> m_ended{false};
    std::atomic<bool> m_failed{false};
    std::exception_ptr m_failure; ///< set before m_failed
    std::thread m_thread;
};

} // namespace netboxit
