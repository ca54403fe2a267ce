// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "arq_service.h"

#include "index_list.h"

namespace netboxit::multiservice
{

/// "sr" (section 4.2.1): the receiver stores frames that come before their turn, and names the earliest one that is missing
/// in a NAK, once for each position of its window. A NAK acknowledges everything before it.
///
/// Each frame has its own time, but all of them the same timeout: the frames that departed are in one list, by their departure,
/// and one timer serves the first. What arrived behind a missing frame is sent again where that one takes longer than the
/// timeout, since no acknowledgement can say that it did.
class SelectiveRepeat : public ArqService
{
  public:
    SelectiveRepeat(ServicePort& port, const Json& settings);

    Json Read() const override;

  protected:
    void TakeData(const AirFrame& frame) override;
    void TakeNak(const AirFrame& frame) override;
    void DataDeparted(Number number) override;
    void Acknowledged(Number number) override;
    void TimerFactorChanged() override;
    void Grow(std::size_t capacity) override;

    /// A frame arrived that had not: names the frames that are missing, as the scheme has it. `highest` is one more than the
    /// highest number that had been seen before.
    virtual void NameMissing(Number arrived, Number highest);

    bool IsMissing(Number number) const
    {
        return !m_stored[number].isStored;
    }

    /// How often a missing frame was named.
    std::uint32_t NaksFor(Number number) const
    {
        return m_stored[number].naks;
    }

    void SendNak(Number number);
    /// Of those from one number to before another one.
    void SendNaks(Number from, Number end);

    /// A frame that was named in a NAK.
    void Repeat(Number number);

  private:
    struct Stored
    {
        Packet packet{};
        std::uint32_t naks{};
        bool isStored{};
        bool wasMissing{}; ///< when a later one arrived
    };

    void Release();
    void Expired();

    std::int64_t ExpiryOf(Number number) const;
    void SendAgain(Number number);

    SequenceRing<Stored> m_stored;
    Number m_highest{0}; ///< the next one that was never seen
    std::uint32_t m_held{0};
    bool m_isNamed{}; ///< the first missing one, in basic Selective Repeat
    stages::IndexList m_departed; ///< numbers of frames, by their departure
    Timer m_timer;
};

} // namespace netboxit::multiservice
