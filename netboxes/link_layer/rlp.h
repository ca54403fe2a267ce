// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "scheme_settings.h"
#include "sequence_space.h"
#include "service.h"

#include "index_list.h"

#include <algorithm>
#include <cstdint>

namespace netboxit::multiservice
{

/// "rlp" (section 4.2.2): Karn's radio link protocol of IS-95. NAKs only: the sender keeps its latest frames in a ring and
/// repeats none that was not named, the receiver names each missing frame at most so many times, then gives it up, and delivers
/// in order. Keepalives show the loss of a last frame.
///
/// Sequence numbers are too few for a receiver that hears nothing while the sender sends a whole ring: frames behind what it
/// expects, after such a silence, are new ones, and the receiver starts anew with them.
///
/// A timer of a NAK runs from the end of the NAK's transmission. All have the same timeout: those that run are in one list, and
/// one timer serves the first.
class Rlp : public Service
{
  public:
    Rlp(ServicePort& port, const Json& settings);

    /// At most half of the ring waits for its first transmission: the other half is for what can be named.
    bool HasRoom() const override
    {
        return m_waiting < std::max(1U, m_settings.ring / 2);
    }

    void Set(const Json& settings) override;
    void HandOver(const Service& peer, const std::function<void(const Packet&)>& give) override;
    void PeerGaveUp(std::uint16_t sequence) override;
    Json Read() const override;

  protected:
    using Number = SequenceSpace::Number;

    /// Of a frame that the receiver expects, or that waits for those before it.
    struct Expected
    {
        Packet packet{};      ///< that waits
        std::int64_t later{}; ///< than a frame that no error hit, ns
        std::int64_t named{}; ///< the end of the latest NAK's transmission, ns
        std::uint32_t naks{};
        bool isMissing{}; ///< and not given up
    };

    void TakePacket(const Packet& packet) override;
    void TakeFrame(const AirFrame& frame) override;
    void FrameDeparted(const AirFrame& frame) override;
    void TimerFactorChanged() override;

    /// The packet of a frame that had not arrived before waits for its turn.
    virtual void Take(Expected& expected, const Packet& packet, std::int64_t later);

  private:
    struct Settings
    {
        static Settings Of(const Json& settings, const LinkFacts& facts);

        unsigned sequenceBits{};
        std::uint32_t ring{};
        std::uint32_t attempts{};
        std::int64_t timer{};     ///< ns
        std::int64_t keepalive{}; ///< ns
        bool repeatsFirst{};      ///< what is repeated and NAKs go before new frames
    };

    Rlp(ServicePort& port, const Settings& settings);

    // Sender.
    /// A frame leaves the ring.
    void Forget(Number number);
    void Repeat(Number number);
    void SendKeepalive();

    // Receiver.
    void TakeData(const AirFrame& frame);
    /// All before this number were sent.
    void OpenGap(Number end);
    /// The next one was sent. What is a whole ring behind it cannot be repeated any more.
    void Expect();
    void SendNak(Number number);
    void StartTimer(Number number);
    void Expired();
    void GiveUp(Number number);
    void Release();
    /// Nothing that was expected comes any more.
    void Restart(Number next);

    bool IsAhead(Number number) const
    {
        return m_space.Distance(m_expected, number) < m_space.Half();
    }

    bool IsMissing(Number number) const
    {
        return m_space.Distance(m_released, number) < m_space.Distance(m_released, m_expected) && m_window[number].isMissing;
    }

    /// Whether a frame's packet has not been delivered and not been given up.
    bool Needs(Number number) const;

    Settings m_settings;
    SequenceSpace m_space;

    SequenceRing<Packet> m_ring;
    Number m_next{0};
    std::uint32_t m_waiting{0}; ///< frames, for their first transmission
    Timer m_keepalive;
    bool m_keepaliveWaits{false};
    std::uint64_t m_unanswered{0}; ///< NAKs of frames that had left the ring

    SequenceRing<Expected> m_window;
    Number m_released{0}; ///< the next one whose turn comes
    Number m_expected{0}; ///< the next one that was never seen
    std::uint32_t m_missing{0};
    stages::IndexList m_named; ///< numbers of missing frames, by the departure of their latest NAKs
    Timer m_timer;
    std::int64_t m_heard; ///< the latest frame from the other end, ns
    std::uint64_t m_restarts{0};
};

} // namespace netboxit::multiservice
