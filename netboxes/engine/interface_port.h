// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "frame_socket.h"
#include "port.h"

#include <functional>
#include <future>
#include <memory>

namespace netboxit
{

/// A port on a network interface: all frames that arrive there, whoever they are for, in batches.
class InterfacePort : public Port
{
  public:
    using Opener = std::function<std::unique_ptr<FrameSocket>()>;

    /// `description` is what Describe() says besides name and MTU; `open` opens a socket on the interface that
    /// has the name then, and is empty where that cannot be done again.
    InterfacePort(std::string name,
                  std::unique_ptr<FrameSocket> socket,
                  std::uint32_t mtu,
                  nlohmann::json description,
                  Opener open = {});

    int Descriptor() const override;
    bool HasFrames() const override;
    bool BeginWait() override;
    std::size_t Receive(std::span<Reception> batch) override;
    void Send(std::span<Departure> departures, std::int64_t stamp) override;
    /// Counts the kernel's drops.
    void Refresh() override;
    /// The kernel waits for all cores when a socket is set up or closed: tens of milliseconds that this thread
    /// does not have.
    bool Reopen() override;
    nlohmann::json Describe() const override;

  private:
    std::unique_ptr<FrameSocket> m_socket;
    nlohmann::json m_description;
    Opener m_open;
    std::future<std::unique_ptr<FrameSocket>> m_opening;
};

} // namespace netboxit
