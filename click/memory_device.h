// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "device.h"
#include "memory_wire.h"

#include <vector>

namespace netboxit::click
{

/// An interface of the router that is an end of a memory wire. Click copies frames straight out of the ring.
class MemoryDevice : public Device
{
  public:
    /// `folder` is the wire's. Throws std::exception that names the interface.
    MemoryDevice(const std::string& name, const std::string& folder, WireEnd end);

    int Descriptor() const override;
    bool BeginWait() override;
    void EndWait(bool readable) override;
    std::span<const Bytes> Receive() override;
    void Send(Bytes frame) override;
    void Flush() override;
    DeviceStatistics Read() override;

  private:
    MemoryWire m_wire;
    std::vector<Bytes> m_received;
    std::size_t m_unpublished{0};
};

} // namespace netboxit::click
