// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "address_resolution.h"
#include "flow.h"
#include "http_reply_reader.h"
#include "play_buffer.h"
#include "rate_adaptation.h"
#include "tcp_connection.h"

#include "ns3/event-id.h"
#include "ns3/random-variable-stream.h"

#include <optional>

namespace netboxit
{

/// What a client is to play, and how.
struct DashClientConfiguration
{
    struct Representation
    {
        double rate;                       ///< bit/s
        std::string initialization;        ///< its path
        std::vector<std::string> segments; ///< their paths
    };

    IpAddress server;
    std::uint16_t port;
    std::string authority; ///< of the server, as URLs have it
    std::uint8_t trafficClass;
    std::int64_t start; ///< ns of the network's time
    std::int64_t until;
    std::string manifest; ///< its path
    std::vector<Representation> representations;
    double segment;  ///< s
    double longest;  ///< of the play-out buffer, s
    double first;    ///< in the buffer before it plays, s
    double again;    ///< the same after it stood still
    std::optional<double> backOffAbove; ///< in the buffer, s
    RateAdaptation::Rule rule;
    double safety;
    TcpOptions tcp;
};

/// A headless player of a video by MPEG-DASH (ISO/IEC 23009-1) over one connection of HTTP/1.1. It plays the video again and again
/// until a time. The same client as applications/dash/player.py, but it is told what is in the manifest, which it fetches too.
class DashClient : public Flow
{
  public:
    DashClient(const FlowPlace& place, DashClientConfiguration configuration);
    ~DashClient() override;

    void Prepare() override;
    void Begin() override;
    Json Read() const override;

  private:
    enum class Fetching
    {
        Nothing,
        Manifest,
        Initialization,
        Segment
    };

    void Start();
    void Stop();
    void Connected(ns3::Ptr<ns3::Socket> socket);
    void Failed(ns3::Ptr<ns3::Socket> socket);
    void Fail(const std::string& reason);
    void Get(Fetching what, const std::string& path);
    void Take(ns3::Ptr<ns3::Socket> socket);
    void Complete();
    /// Waits until the buffer has room, and for as long as it backs off.
    void Wait();
    /// Decides for a representation.
    void Next();
    void GetSegment();
    void Have();
    double Now() const;

    FlowPlace m_place;
    Announcements& m_announcements;
    DashClientConfiguration m_configuration;
    AddressResolution m_resolution;
    ns3::Ptr<ns3::UniformRandomVariable> m_backOff;
    ns3::EventId m_start;
    ns3::EventId m_stop;
    ns3::EventId m_next;

    ns3::Ptr<TcpConnection> m_connection;
    std::optional<PlayBuffer> m_buffer;
    std::optional<RateAdaptation> m_adaptation;
    std::int64_t m_began{0}; ///< ns
    Fetching m_fetching{Fetching::Nothing};
    HttpReplyReader m_reply;
    std::vector<bool> m_initialized;
    std::size_t m_chosen{0};
    std::uint64_t m_segments{0}; ///< that have come
    double m_requested{0};
    double m_level{0};               ///< of the buffer, at the decision
    std::optional<double> m_estimate; ///< at the decision
    std::uint64_t m_received{0};
    std::string m_failure;
};

std::unique_ptr<Flow> MakeDashClient(const FlowPlace& place, Section& configuration);

} // namespace netboxit
