// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "io_thread.h"

namespace netboxit
{

/// A port that another thread serves: what the simulation has of it is a pair of rings.
class ThreadedPort : public Port
{
  public:
    /// Adds `port` to the thread.
    ThreadedPort(std::unique_ptr<Port> port, std::shared_ptr<IoThread> thread);

    int Descriptor() const override;
    bool HasFrames() const override;
    bool BeginWait() override;
    void EndWait() override;
    std::size_t Receive(std::span<Reception> batch) override;
    void Send(std::span<Departure> departures, std::int64_t stamp) override;
    /// Counts what the thread has, too.
    void Refresh() override;
    nlohmann::json Describe() const override;

  private:
    MemoryWirePair m_wires;
    std::shared_ptr<IoThread> m_thread;
    IoLine& m_line;
    PortCounters m_seen; ///< of the thread's port
};

} // namespace netboxit
