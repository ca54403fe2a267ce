// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "descriptor.h"
#include "json_rpc.h"

#include <poll.h>

#include <list>
#include <span>
#include <vector>

namespace netboxit
{

/// Serves JSON-RPC on a Unix stream socket, one line a message, to several clients, and never waits for any
/// of them.
class ControlSocket
{
  public:
    /// Removes a socket that an earlier process left at `path`. Throws std::system_error.
    ControlSocket(std::string path, json_rpc::Methods methods);
    ~ControlSocket();

    ControlSocket(const ControlSocket&) = delete;
    ControlSocket& operator=(const ControlSocket&) = delete;

    /// Adds what is to be waited on.
    void AddTo(std::vector<pollfd>& polled) const;
    /// Does what the events that were found for those descriptors ask for, a bounded amount of work at a
    /// time.
    void Serve(std::span<const pollfd> polled);

  private:
    struct Client
    {
        Descriptor socket;
        std::string input;
        std::string output;
        bool closing{false}; ///< as soon as the output is written
        bool gone{false};
    };

    void Accept();
    void Read(Client& client);
    void AnswerLines(Client& client);
    static void Write(Client& client);

    std::string m_path;
    json_rpc::Methods m_methods;
    Descriptor m_socket;
    std::list<Client> m_clients;
};

} // namespace netboxit
