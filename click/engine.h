// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "headers.h"
#include "simclick.h"

#include <chrono>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace netboxit::click
{

class ClickRouter;

/// The configuration cannot be used; the message is Click's own, with file and line, and our additions.
struct BadConfiguration : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/// What a handler answered. `messages` are the errors and warnings that it reported, a line each.
struct Answer
{
    bool done{};
    std::string text;
    std::string messages;
};

/// A configuration that Click runs. There may be several in a process, one at a time in a call.
class Engine
{
  public:
    /// Parses and initialises a configuration; `name` is what messages call it. Throws BadConfiguration, or
    /// ends the process with exit status 2 when Click itself does.
    Engine(ClickRouter& router, const std::string& text, const std::string& name);
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    ~Engine();

    /// Gives it a frame that arrived at an interface, and runs it.
    void Take(int interface, Bytes frame);
    /// Runs it if it is due.
    void RunIfDue();
    /// Sources are scheduled from the start, but Click speaks of it only within a driver round.
    void RunSoon();
    /// How long there is nothing to do unless a frame arrives; nothing = for ever.
    std::optional<std::chrono::nanoseconds> Idle() const;

    Answer ReadHandler(const std::string& element, const std::string& handler);
    Answer WriteHandler(const std::string& element, const std::string& handler, const std::string& text);

    /// Names of all elements, in the order of their numbers (from 1).
    const std::vector<std::string>& Elements() const
    {
        return m_elements;
    }
    std::string ClassOf(const std::string& element);

    /// `name`, or the counter of a device that the prelude put inside it; nothing when there is no such
    /// element.
    std::optional<std::string> FindElement(const std::string& name) const;

    /// Arguments of the ControlSocket elements in the configuration, a list of arguments each.
    std::vector<std::vector<std::string>> ControlSockets();

    /// What the configuration asks for and does not get, for the user to know.
    std::vector<std::string> Notes() const;

  private:
    /// What Click hands back to us with every call.
    struct Node : simclick_node_t
    {
        ClickRouter* router;
        std::optional<std::chrono::nanoseconds> wake;
    };

    friend int ::simclick_sim_send(
        simclick_node_t*, int, int, const unsigned char*, int, simclick_simpacketinfo*);
    friend int ::simclick_sim_command(simclick_node_t*, int, ...);

    void Create(const std::string& text, const std::string& name);
    void CheckDevices(const std::string& name);
    std::vector<std::string> Arguments(const std::string& element);
    void SetTime();
    template <typename Call>
    void Run(Call call);
    void Kill();

    ClickRouter& m_router;
    Node m_node{};
    std::vector<std::string> m_elements;
    /// Click opens a pipe for each router when it first runs, and never closes it.
    std::optional<std::set<int>> m_pipes;
};

} // namespace netboxit::click
