// SPDX-License-Identifier: GPL-2.0-or-later
#include "control_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <array>

namespace netboxit
{

namespace
{

constexpr std::size_t LONGEST_LINE = 64 << 10;
/// A client that does not read its answers is cut off.
constexpr std::size_t LONGEST_OUTPUT = 1 << 20;
constexpr std::size_t MOST_CLIENTS = 32;
constexpr int BACKLOG = 16;
constexpr const char* UNREADY = ".new";

} // namespace

ControlSocket::ControlSocket(std::string path, json_rpc::Methods methods)
    : m_path(std::move(path)), m_methods(std::move(methods)),
      m_socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "cannot open a Unix socket")
{
    // It gets its name when it is listened to: whoever finds it is answered.
    const auto unready = m_path + UNREADY;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (unready.size() >= sizeof address.sun_path)
    {
        throw std::system_error(ENAMETOOLONG, std::generic_category(), "control socket " + m_path);
    }
    unready.copy(address.sun_path, sizeof address.sun_path - 1);
    struct stat existing
    {
    };
    if (::lstat(m_path.c_str(), &existing) == 0 && !S_ISSOCK(existing.st_mode))
    {
        throw std::system_error(EADDRINUSE, std::generic_category(), "cannot open the control socket " + m_path);
    }
    ::unlink(unready.c_str());
    Checked(::bind(m_socket.Get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
            "cannot open the control socket " + m_path);
    Checked(::listen(m_socket.Get(), BACKLOG), "cannot listen on the control socket " + m_path);
    Checked(::rename(unready.c_str(), m_path.c_str()), "cannot name the control socket " + m_path);
}

ControlSocket::~ControlSocket()
{
    ::unlink(m_path.c_str());
}

void ControlSocket::AddTo(std::vector<pollfd>& polled) const
{
    polled.push_back({m_socket.Get(), POLLIN, 0});
    for (const auto& client : m_clients)
    {
        const int wanted = client.output.empty() ? POLLIN : POLLOUT;
        polled.push_back({client.socket.Get(), static_cast<short>(wanted), 0});
    }
}

void ControlSocket::Serve(std::span<const pollfd> polled)
{
    for (const auto& [descriptor, wanted, found] : polled)
    {
        if (found == 0)
        {
            continue;
        }
        if (descriptor == m_socket.Get())
        {
            Accept();
            continue;
        }
        const auto client =
            std::ranges::find(m_clients, descriptor, [](const Client& c) { return c.socket.Get(); });
        if (client == m_clients.end())
        {
            continue;
        }
        if (client->output.empty())
        {
            Read(*client);
        }
        Write(*client);
    }
    m_clients.remove_if([](const Client& client) { return client.gone; });
}

void ControlSocket::Accept()
{
    const int socket = ::accept4(m_socket.Get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0)
    {
        // The client has gone already, or there are no descriptors left: it will find out.
        return;
    }
    Client client{.socket = Descriptor(socket, "accept"), .input = {}, .output = {}};
    if (m_clients.size() < MOST_CLIENTS)
    {
        m_clients.push_back(std::move(client));
    }
}

void ControlSocket::Read(Client& client)
{
    std::array<char, 16384> buffer;
    const auto count = ::read(client.socket.Get(), buffer.data(), buffer.size());
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
    {
        client.gone = true;
        return;
    }
    if (count > 0)
    {
        client.input.append(buffer.data(), static_cast<std::size_t>(count));
        AnswerLines(client);
    }
}

void ControlSocket::AnswerLines(Client& client)
{
    std::size_t begin = 0;
    for (auto end = client.input.find('\n'); end != std::string::npos; end = client.input.find('\n', begin))
    {
        const auto line = std::string_view(client.input).substr(begin, end - begin);
        begin = end + 1;
        const auto response = line.empty() || line == "\r" ? "" : json_rpc::Respond(line, m_methods);
        if (!response.empty())
        {
            client.output += response + '\n';
        }
    }
    client.input.erase(0, begin);
    if (client.input.size() > LONGEST_LINE)
    {
        client.output +=
            json_rpc::RespondError(json_rpc::Code::InvalidRequest, "a line is longer than 64 KiB") + '\n';
        client.closing = true;
    }
}

void ControlSocket::Write(Client& client)
{
    if (!client.output.empty())
    {
        const auto count = ::send(
            client.socket.Get(), client.output.data(), client.output.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count > 0)
        {
            client.output.erase(0, static_cast<std::size_t>(count));
        }
        else if (count < 0 && errno != EAGAIN && errno != EINTR)
        {
            client.gone = true;
        }
    }
    client.gone =
        client.gone || client.output.size() > LONGEST_OUTPUT || (client.closing && client.output.empty());
}

} // namespace netboxit
