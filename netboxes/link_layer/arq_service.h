// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "scheme_settings.h"
#include "sequence_space.h"
#include "service.h"

#include <cstdint>

namespace netboxit::multiservice
{

/// ARQ with a window and with acknowledgements that travel with data, or later by themselves: what Go-Back-N and Selective
/// Repeat have in common (section 4.2.1). An acknowledgement names the frame that is expected next: in the source when the frame
/// that takes it along was queued, by choice when that frame departs.
///
/// The window may change at any time: what is outstanding beyond a smaller one stays.
class ArqService : public Service
{
  public:
    bool HasRoom() const override
    {
        return Outstanding() < m_settings.window;
    }

    void Departs(AirFrame& frame) const override;

    void Set(const Json& settings) override;
    void HandOver(const Service& peer, const std::function<void(const Packet&)>& give) override;
    Json Read() const override;

  protected:
    using Number = SequenceSpace::Number;

    struct Settings
    {
        static Settings Of(const Json& settings, const LinkFacts& facts);

        unsigned sequenceBits{};
        std::uint32_t window{};
        std::int64_t timer{};    ///< ns, from the end of a frame's transmission
        std::int64_t ackDelay{}; ///< ns
        bool hasFreshAcks{};     ///< acknowledgements are written when frames depart, not when they are queued
        bool repeatsFirst{};     ///< what is repeated, acknowledgements and NAKs go before new frames
    };

    /// A frame that is not acknowledged yet.
    struct Sent
    {
        Packet packet{};
        std::int64_t departed{}; ///< the end of its latest transmission, ns
        std::uint32_t waiting{}; ///< transmissions of it that have not ended yet
    };

    ArqService(ServicePort& port, const Settings& settings);

    void TakePacket(const Packet& packet) override;
    void TakeFrame(const AirFrame& frame) override;
    void FrameDeparted(const AirFrame& frame) override;

    virtual void TakeData(const AirFrame& frame) = 0;

    virtual void TakeNak(const AirFrame&)
    {
    }

    /// A new packet has this number: sends it now or later.
    virtual void Begin(Number number)
    {
        Transmit(number, false);
    }

    /// A frame that is not acknowledged has left the transmitter.
    virtual void DataDeparted(Number number) = 0;

    /// A frame is acknowledged.
    virtual void Acknowledged(Number)
    {
    }

    /// One or more frames were acknowledged; the window has moved.
    virtual void WindowMoved()
    {
    }

    /// The windows need so much room from now on.
    virtual void Grow(std::size_t capacity);

    /// Everything before this frame has arrived.
    void TakeAcknowledgement(Number number);
    /// Sends an outstanding frame, the first time or again. False, and it counts as departed, where the scheduler does not take
    /// it.
    bool Transmit(Number number, bool isRetransmission);

    std::uint32_t Outstanding() const
    {
        return m_space.Distance(m_base, m_next);
    }

    bool IsOutstanding(Number number) const
    {
        return m_space.Distance(m_base, number) < Outstanding();
    }

    std::int64_t Timeout() const
    {
        return Inflated(m_settings.timer);
    }

    Settings m_settings;
    SequenceSpace m_space;
    SequenceRing<Sent> m_sent;
    std::uint32_t m_widest; ///< the longest window so far: no frame beyond it is new
    Number m_base{0};     ///< the first one that is not acknowledged
    Number m_next{0};     ///< of the next new packet
    Number m_expected{0}; ///< of the receiver

  private:
    void SendAcknowledgement();

    Timer m_acknowledging;
};

} // namespace netboxit::multiservice
