// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "address_resolution.h"
#include "flow.h"
#include "http_reply_reader.h"
#include "tcp_connection.h"
#include "web_pages.h"

#include "ns3/event-id.h"

#include <list>
#include <optional>

namespace netboxit
{

/// Gets pages by HTTP/1.1 as a browser does: a page's document first, then what that refers to, in several connections at once;
/// then a user reads it. Of each object there is a record in the journal (README.md).
class WebClient : public Flow
{
  public:
    struct Configuration
    {
        IpAddress destination;
        std::uint16_t port;
        std::uint8_t trafficClass;
        std::int64_t start; ///< ns of the network's time
        std::int64_t until; ///< ns of the network's time
        std::vector<WebPage> pages;
        std::optional<std::uint64_t> count; ///< of pages to get; without, until it ends
        std::size_t parallel;               ///< connections
        bool persistent;                    ///< a connection serves more than one request
        TcpOptions tcp;
    };

    WebClient(const FlowPlace& place, Configuration configuration);
    ~WebClient() override;

    void Prepare() override;
    void Begin() override;
    Json Read() const override;
    void Reset() override;

  private:
    /// An object that was asked for.
    struct Fetch
    {
        std::size_t object;
        double asked;                    ///< s after the start
        std::optional<double> firstByte; ///< of the reply
        bool isRetried;
    };

    struct Connection
    {
        ns3::Ptr<TcpConnection> socket;
        std::uint64_t number;
        bool isConnected;
        bool isUsed; ///< a request went over it already
        std::optional<Fetch> fetch;
        HttpReplyReader reply;
    };

    using Place = std::list<Connection>::iterator;

    void Start();
    void Stop();
    void LoadPage();
    void Pump();
    void Request(const Fetch& fetch);
    void Open(const Fetch& fetch);
    void Ask(Connection& connection);

    Place Find(const ns3::Ptr<ns3::Socket>& socket);
    void Connected(ns3::Ptr<ns3::Socket> socket);
    void Take(ns3::Ptr<ns3::Socket> socket);
    void Lost(ns3::Ptr<ns3::Socket> socket);

    /// False: the connection is gone.
    bool Consume(Place place, const ns3::Ptr<ns3::Packet>& data);
    void Complete(Place place);
    /// What was asked for over a connection has come, or it has failed; `close` ends the connection.
    void Settle(Place place, bool close, const std::string& failure);
    void Drop(Place place);
    void Abort();
    void Record(const Connection& connection, std::optional<double> ended, const std::string& failure) const;
    const WebPage& Page() const;
    double Now() const;

    FlowPlace m_place;
    Configuration m_configuration;
    AddressResolution m_resolution;
    std::string m_authority;
    std::list<Connection> m_connections;
    std::int64_t m_origin{0}; ///< ns of the simulation, when it starts
    bool m_isLoading{false};
    std::uint64_t m_page{0};    ///< number of the page, from 0
    std::size_t m_next{0};      ///< of its objects, to be asked for
    std::size_t m_settled{0};   ///< of its objects
    bool m_hasFailed{false};    ///< one of them
    std::uint64_t m_opened{0};
    std::uint64_t m_loaded{0};
    std::uint64_t m_failed{0};
    std::uint64_t m_objects{0};
    std::uint64_t m_bytes{0};
    ns3::EventId m_start;
    ns3::EventId m_stop;
    ns3::EventId m_continuation;
};

std::unique_ptr<Flow> MakeWebClient(const FlowPlace& place, Section& configuration);

} // namespace netboxit
