// SPDX-License-Identifier: GPL-2.0-or-later
#include "control_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace netboxit::click
{

namespace
{

constexpr std::size_t MOST_CLIENTS = 64;
/// A client that does not read its answers is not read either.
constexpr std::size_t MOST_UNSENT = 4 << 20;
constexpr int PORTS_TO_TRY = 100;

constexpr const char* UNREADY = ".new";

sockaddr_un AddressOf(const std::string& path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, path.size());
    return address;
}

/// By something that is no socket, or one at which somebody answers.
bool IsTaken(const std::string& path)
{
    struct stat existing
    {
    };
    if (::lstat(path.c_str(), &existing) < 0)
    {
        return false;
    }
    const auto address = AddressOf(path);
    const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "a Unix socket");
    return !S_ISSOCK(existing.st_mode) ||
           ::connect(socket.Get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

} // namespace

ControlServer::ControlServer(ClickRouter& router) : m_router(router)
{
}

ControlServer::Listener::Listener(Descriptor socket, ControlAccess access, std::string path)
    : socket(std::move(socket)), access(access), path(std::move(path))
{
}

ControlServer::Listener::~Listener()
{
    if (!path.empty())
    {
        ::unlink(path.c_str());
    }
}

void ControlServer::ListenAsConfigured()
{
    m_followed = m_router.Swaps();
    const auto wanted = m_router.Running().ControlSockets();
    const auto has = [](const auto& all, const auto& one)
    { return std::find(all.begin(), all.end(), one) != all.end(); };
    std::erase_if(m_listeners,
                  [&](const auto& listener)
                  { return !listener->element.empty() && !has(wanted, listener->element); });
    for (const auto& arguments : wanted)
    {
        if (std::none_of(m_listeners.begin(),
                         m_listeners.end(),
                         [&](const auto& listener) { return listener->element == arguments; }))
        {
            Listen(arguments);
            m_listeners.back()->element = arguments;
        }
    }
}

void ControlServer::Follow()
{
    if (m_followed == m_router.Swaps())
    {
        return;
    }
    try
    {
        ListenAsConfigured();
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "click-router: a ControlSocket of the new configuration: %s\n", error.what());
    }
}

void ControlServer::ListenUnix(const std::string& path, ControlAccess access)
{
    const auto unready = path + UNREADY;
    if (path.empty() || unready.size() >= sizeof sockaddr_un{}.sun_path)
    {
        throw std::invalid_argument("the path of a control socket has 1 to " +
                                    std::to_string(sizeof sockaddr_un{}.sun_path - 1 - std::strlen(UNREADY)) +
                                    " bytes, not " + std::to_string(path.size()));
    }
    const auto tried = "control socket " + path;
    if (IsTaken(path))
    {
        throw std::system_error(EADDRINUSE, std::generic_category(), tried + ", bind");
    }
    // It gets its name when it is listened to: whoever finds it is answered.
    const auto address = AddressOf(unready);
    Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), tried);
    ::unlink(unready.c_str());
    Checked(::bind(socket.Get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), tried + ", bind");
    Checked(::listen(socket.Get(), SOMAXCONN), tried + ", listen");
    Checked(::rename(unready.c_str(), path.c_str()), tried + ", rename");
    m_listeners.push_back(std::make_unique<Listener>(std::move(socket), access, path));
}

void ControlServer::ListenTcp(unsigned short port, bool orHigher, bool onlyLocal, ControlAccess access)
{
    const auto tried = "control socket on TCP port " + std::to_string(port);
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), tried);
    const int yes = 1;
    Checked(::setsockopt(socket.Get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes), tried);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(onlyLocal ? INADDR_LOOPBACK : INADDR_ANY);
    int bound = -1;
    for (int next = port; bound < 0 && next <= std::min(port + (orHigher ? PORTS_TO_TRY : 0), 65535); ++next)
    {
        address.sin_port = htons(static_cast<std::uint16_t>(next));
        bound = ::bind(socket.Get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    }
    Checked(bound, tried + ", bind");
    Checked(::listen(socket.Get(), SOMAXCONN), tried + ", listen");
    m_listeners.push_back(std::make_unique<Listener>(std::move(socket), access, ""));
}

void ControlServer::Listen(const std::vector<std::string>& arguments)
{
    const auto has = [&](std::string_view word)
    {
        return std::any_of(arguments.begin() + 2,
                           arguments.end(),
                           [&](const std::string& argument)
                           { return argument == std::string(word) + " true" || argument == word; });
    };
    if (arguments.size() < 2)
    {
        throw std::invalid_argument("ControlSocket takes (TCP, PORT) or (UNIX, PATH)");
    }
    const auto access = has("READONLY") ? ControlAccess::ReadOnly : ControlAccess::ReadWrite;
    if (arguments[0] == "UNIX" || arguments[0] == "unix")
    {
        return ListenUnix(arguments[1], access);
    }
    std::string_view text = arguments[1];
    const bool orHigher = text.ends_with('+');
    text.remove_suffix(orHigher ? 1 : 0);
    unsigned short port{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if ((arguments[0] != "TCP" && arguments[0] != "tcp") || error != std::errc{} ||
        end != text.data() + text.size())
    {
        throw std::invalid_argument("ControlSocket takes (TCP, PORT) or (UNIX, PATH), not (" + arguments[0] +
                                    ", " + arguments[1] + ")");
    }
    ListenTcp(port, orHigher, has("LOCALHOST"), access);
}

void ControlServer::AddTo(std::vector<pollfd>& waiting) const
{
    for (const auto& listener : m_listeners)
    {
        waiting.push_back(
            {listener->socket.Get(), static_cast<short>(m_clients.size() < MOST_CLIENTS ? POLLIN : 0), 0});
    }
    for (const auto& client : m_clients)
    {
        const auto unsent = client->session.Output().size();
        const int events = (unsent < MOST_UNSENT ? POLLIN : 0) | (unsent > 0 ? POLLOUT : 0);
        waiting.push_back({client->socket.Get(), static_cast<short>(events), 0});
    }
}

void ControlServer::Serve()
{
    for (const auto& listener : m_listeners)
    {
        Accept(*listener);
    }
    std::erase_if(m_clients, [this](const auto& client) { return !Serve(*client); });
    Follow();
}

void ControlServer::Accept(const Listener& listener)
{
    while (m_clients.size() < MOST_CLIENTS)
    {
        const int accepted = ::accept4(listener.socket.Get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (accepted < 0)
        {
            return;
        }
        m_clients.push_back(std::make_unique<Client>(
            Client{Descriptor(accepted, "a control connection"), ControlSession(m_router, listener.access)}));
    }
}

bool ControlServer::Serve(Client& client)
{
    auto& output = client.session.Output();
    if (output.size() < MOST_UNSENT && !client.session.Closed())
    {
        std::array<char, 16384> bytes;
        const auto count = ::recv(client.socket.Get(), bytes.data(), bytes.size(), 0);
        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
        {
            return false;
        }
        if (count > 0)
        {
            client.session.Take({bytes.data(), static_cast<std::size_t>(count)});
            m_stopWanted = m_stopWanted || client.session.StopWanted();
        }
    }
    if (!output.empty())
    {
        const auto sent = ::send(client.socket.Get(), output.data(), output.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
        {
            return false;
        }
        output.erase(0, sent > 0 ? static_cast<std::size_t>(sent) : 0);
    }
    return !client.session.Closed() || !output.empty();
}

} // namespace netboxit::click
