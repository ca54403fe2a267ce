// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "frame_codec.h"
#include "link_facts.h"
#include "service_statistics.h"
#include "timer.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <span>

namespace netboxit::multiservice
{

using Json = nlohmann::json;

/// What a service has around it. Calls from inside a service return before anything else calls the service.
class ServicePort
{
  public:
    virtual ~ServicePort() = default;
    /// Hands a frame to the scheduler, which does not give it back. False, and the frame is gone, where too many of this
    /// service's frames wait.
    virtual bool Emit(AirFrame frame) = 0;
    /// Hands a packet to the upper layer of this end.
    virtual void Deliver(const Packet& packet) = 0;
    /// This end does not wait for the other end's frame any more. For accounts only: no frame says so.
    virtual void GaveUp(std::uint16_t sequence) = 0;
    /// The packet as an Ethernet frame, for schemes that look into it; valid during the call. Empty where there is none.
    virtual std::span<const std::uint8_t> BytesOf(const Packet& packet) const = 0;
    /// The packet may be handed to the upper layer of the other end more than once.
    virtual void Keep(const Packet&)
    {
    }
    virtual Timebase& Time() = 0;
    virtual const LinkFacts& Facts() const = 0;
};

/// One recovery scheme at one end of a link: section 6.2.2. It may buffer, time, code and add what it likes, knows of no
/// other service, and sends by the scheduler only. Times are ns of its timebase.
///
/// A service is made with settings in base units (s, bytes), and so changed. What is not permitted throws
/// std::invalid_argument, with the scheme, the key, its value and what is permitted; nothing changes then.
class Service
{
  public:
    virtual ~Service() = default;
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    /// A packet from above. What finds no room is dropped.
    void Send(const Packet& packet);
    /// A packet that an earlier service took from above.
    void Resend(const Packet& packet)
    {
        TakePacket(packet);
    }

    /// An undamaged frame of the service at the other end.
    void Receive(const AirFrame& frame);
    /// The beginning of a frame's transmission: the last moment at which its header can be written.
    virtual void Departs(AirFrame& frame) const
    {
    }

    /// The end of a frame's transmission: timers of ARQ run from here, which is our choice.
    void Departed(const AirFrame& frame);
    /// The same, of a frame of a service that this one replaces.
    void CountDeparted(const AirFrame& frame);
    /// A frame of the service at the other end was damaged on the air. For accounts only: a receiver cannot know whose it was.
    void Damaged(const AirFrame& frame);
    /// A packet from above finds no room outside the service.
    void Reject(const Packet& packet, Drop reason);
    /// A packet of this end will not arrive.
    void Refuse(const Packet& packet, Drop reason);
    /// Hands a packet to the upper layer. `later` is how much later than a packet that no error hit, ns, as the receiver
    /// estimates it.
    void Deliver(const Packet& packet, std::int64_t later = 0);

    /// Whether a packet from above finds room now.
    virtual bool HasRoom() const
    {
        return true;
    }

    /// New settings, with all keys, for the same scheme. Packets and frames under way stay.
    virtual void Set(const Json& settings) = 0;

    /// Multiplies timers (section 6.2.2), from now on and those that run.
    void SetTimerFactor(double factor);

    double TimerFactor() const
    {
        return m_timerFactor;
    }

    /// The end of this service: gives all packets that it took from above and that `peer`, the service at the other end, has
    /// not delivered yet, in their order, if this service keeps them. Its frames mean nothing afterwards. Nothing is given by
    /// services that keep nothing: their frames stand alone.
    virtual void HandOver(const Service& peer, const std::function<void(const Packet&)>& give)
    {
    }

    /// The service at the other end does not wait for this frame any more.
    virtual void PeerGaveUp(std::uint16_t sequence)
    {
    }

    const ServiceStatistics& Statistics() const
    {
        return m_statistics;
    }

    /// How headers of its frames look in bytes.
    const HeaderFormat& Format() const
    {
        return m_format;
    }

    /// Goes on with these counts: those of a service that this one replaces.
    void Continue(const ServiceStatistics& statistics)
    {
        m_statistics = statistics;
    }

    /// What only this scheme tells, by name, in base units.
    virtual Json Read() const
    {
        return Json::object();
    }

  protected:
    Service(ServicePort& port, const HeaderFormat& format) : m_port(port), m_format(format), m_headerBytes(format.Bytes())
    {
    }

    AirFrame NewFrame(FrameType type) const
    {
        return {.type = type, .headerBytes = m_headerBytes};
    }

    virtual void TakePacket(const Packet& packet) = 0;
    virtual void TakeFrame(const AirFrame& frame) = 0;

    virtual void FrameDeparted(const AirFrame& frame)
    {
    }

    /// Timers that run are to be set anew.
    virtual void TimerFactorChanged()
    {
    }

    virtual void FrameDamaged(const AirFrame& frame)
    {
    }

    /// A base time with the timer factor, ns.
    std::int64_t Inflated(std::int64_t base) const
    {
        return static_cast<std::int64_t>(static_cast<double>(base) * m_timerFactor);
    }

    /// A round trip of a frame of the longest packet, ns: what a retransmission adds to the delay at least (section 8.3).
    std::int64_t RoundTrip() const;

    ServicePort& m_port;
    ServiceStatistics m_statistics{};

  private:
    void CountOffered(const Packet& packet);

    HeaderFormat m_format;
    std::uint8_t m_headerBytes;
    double m_timerFactor{1};
};

} // namespace netboxit::multiservice
