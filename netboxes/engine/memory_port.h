// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "memory_wire.h"
#include "port.h"

namespace netboxit
{

/// A port on a memory wire. A frame's time of arrival is when the far end handed it over.
class MemoryPort : public Port
{
  public:
    /// `folder` is the wire's. Throws std::exception that names the port.
    MemoryPort(std::string name, std::string folder, WireEnd end, std::uint32_t mtu);

    int Descriptor() const override;
    bool HasFrames() const override;
    bool BeginWait() override;
    void EndWait() override;
    std::size_t Receive(std::span<Reception> batch) override;
    void Send(std::span<Departure> departures, std::int64_t stamp) override;
    /// Counts what the far end had to drop.
    void Refresh() override;
    nlohmann::json Describe() const override;

  private:
    std::string m_folder;
    MemoryWire m_wire;
};

} // namespace netboxit
