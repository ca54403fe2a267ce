// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "event_journal.h"
#include "options.h"
#include "surroundings.h"

#include <csignal>

namespace netboxit::click
{

/// A router on this host: interfaces of the kernel and memory wires, in real time.
class HostSurroundings : public Surroundings
{
  public:
    /// Lets these signals in while it waits for an interface. The options must outlive it. Throws std::system_error where the journal
    /// cannot be written.
    HostSurroundings(const Options& options, const sigset_t& signals);

    std::chrono::nanoseconds Now() const override;
    std::unique_ptr<Device> OpenDevice(const std::string& name, std::chrono::milliseconds wait) override;
    void Announce(const std::string& interface, std::string_view event, const nlohmann::json& details) override;
    void Sample(const nlohmann::json& statistics) override;
    /// Click also asks for words that are no interfaces, to learn just that. With --check there are no interfaces; then any word
    /// that could be one has an address. An end of a memory wire is none of the kernel's: its address is that of its variable.
    std::optional<std::string> HardwareAddress(const std::string& name) const override;

  private:
    const Options& m_options;
    sigset_t m_signals;
    /// CLOCK_REALTIME minus CLOCK_MONOTONIC at the start: a step of the host's clock must not stop or hasten
    /// Click's timers.
    std::chrono::nanoseconds m_epoch;
    EventJournal m_journal;
};

} // namespace netboxit::click
