// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "control_session.h"
#include "descriptor.h"

#include <poll.h>

#include <memory>
#include <string>
#include <vector>

namespace netboxit::click
{

/// Serves the handlers of a router to several clients at once, as Click's ControlSocket element does.
class ControlServer
{
  public:
    explicit ControlServer(ClickRouter& router);
    ControlServer(const ControlServer&) = delete;
    ControlServer& operator=(const ControlServer&) = delete;

    /// A socket left at this path by a dead process is replaced; throws std::system_error when a living one
    /// answers there.
    void ListenUnix(const std::string& path, ControlAccess access);
    /// The port, or with `orHigher` the next free one of a hundred.
    void ListenTcp(unsigned short port, bool orHigher, bool onlyLocal, ControlAccess access);
    /// Listens where the ControlSocket elements of the configuration say, and no more where those of an earlier
    /// one said; throws std::invalid_argument, std::system_error.
    void ListenAsConfigured();

    /// Appends what to wait for.
    void AddTo(std::vector<pollfd>& waiting) const;
    /// Accepts, reads, answers and writes as far as possible without waiting.
    void Serve();

    /// Somebody wrote the global handler `stop`.
    bool StopWanted() const
    {
        return m_stopWanted;
    }

  private:
    struct Listener
    {
        Listener(Descriptor socket, ControlAccess access, std::string path);
        Listener(const Listener&) = delete;
        Listener& operator=(const Listener&) = delete;
        ~Listener();

        Descriptor socket;
        ControlAccess access;
        std::string path;
        /// Of the ControlSocket element that it is of; none for that of the command line.
        std::vector<std::string> element;
    };

    struct Client
    {
        Descriptor socket;
        ControlSession session;
    };

    /// The arguments of a ControlSocket element.
    void Listen(const std::vector<std::string>& arguments);
    /// A configuration that took over may have other ControlSocket elements.
    void Follow();
    void Accept(const Listener& listener);
    /// False when the connection is over.
    bool Serve(Client& client);

    ClickRouter& m_router;
    unsigned m_followed{0};
    std::vector<std::unique_ptr<Listener>> m_listeners;
    std::vector<std::unique_ptr<Client>> m_clients;
    bool m_stopWanted{false};
};

} // namespace netboxit::click
