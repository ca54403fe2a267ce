// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "device.h"
#include "options.h"
#include "simclick.h"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace netboxit
{

/// The configuration cannot be used; the message is Click's own, with file and line, and our additions.
struct BadConfiguration : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/// One Click router in this process: the library, its clock, its interfaces.
class ClickRouter
{
  public:
    /// Parses and initialises the configuration; throws BadConfiguration. Interfaces are opened by Open().
    explicit ClickRouter(const Options& options);
    ClickRouter(const ClickRouter&) = delete;
    ClickRouter& operator=(const ClickRouter&) = delete;
    ~ClickRouter();

    /// Opens every interface that the configuration names, letting these signals in while it waits; throws
    /// NoInterface, std::system_error.
    void Open(const sigset_t& signals);

    std::span<const std::unique_ptr<Device>> Devices() const
    {
        return m_devices;
    }

    /// Passes what has arrived through the router, runs it if it is due, and sends what came out. True when
    /// frames had arrived.
    bool Round();

    /// How long the router has nothing to do unless a frame arrives; nothing = for ever.
    std::optional<std::chrono::nanoseconds> Idle() const;

    /// What a handler answered. `messages` are the errors and warnings that it reported, a line each.
    struct Answer
    {
        bool done{};
        std::string text;
        std::string messages;
    };

    Answer ReadHandler(const std::string& element, const std::string& handler);
    Answer WriteHandler(const std::string& element, const std::string& handler, const std::string& text);

    /// Names of all elements, in the order of their numbers (from 1).
    const std::vector<std::string>& Elements() const
    {
        return m_elements;
    }

    /// `name`, or the counter of a device that the prelude put inside it; nothing when there is no such
    /// element.
    std::optional<std::string> FindElement(const std::string& name) const;

    /// Arguments of the ControlSocket elements in the configuration, a list of arguments each.
    std::vector<std::vector<std::string>> ControlSockets();

    /// What the configuration asks for and does not get, for the user to know.
    std::vector<std::string> Notes() const;

    /// Received, sent and lost frames of each interface, as JSON.
    std::string Statistics();

  private:
    /// What Click hands back to us with every call.
    struct Node : simclick_node_t
    {
        ClickRouter* router;
    };

    friend int ::simclick_sim_send(
        simclick_node_t*, int, int, const unsigned char*, int, simclick_simpacketinfo*);
    friend int ::simclick_sim_command(simclick_node_t*, int, ...);

    void Create();
    void CheckDevices();
    std::vector<std::string> Arguments(const std::string& element);
    void SetTime();
    void Flush();
    int InterfaceNumber(const std::string& name);
    int HardwareAddress(const std::string& name, std::span<char> text) const;
    int Defines(char* pairs, std::size_t* size) const;

    Options m_options;
    Node m_node{};
    std::vector<std::string> m_elements;
    std::vector<std::string> m_names;
    std::vector<std::unique_ptr<Device>> m_devices;
    /// CLOCK_REALTIME minus CLOCK_MONOTONIC at the start: a step of the host's clock must not stop or hasten
    /// Click's timers.
    std::chrono::nanoseconds m_epoch{};
    std::optional<std::chrono::nanoseconds> m_wake;
};

} // namespace netboxit
