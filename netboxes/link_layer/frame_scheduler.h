// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../queueing/scfq.h"
#include "air_frame.h"

#include <array>
#include <cstdint>
#include <vector>

namespace netboxit::multiservice
{

/// Which service's frame goes next: self-clocked fair queueing by the services' shares (section 6.2.3), in which a frame counts
/// with its header. The order of frames of one service stays, of urgent ones before all others. It never idles while a frame waits.
class FrameScheduler
{
  public:
    FrameScheduler();

    void Enqueue(AirFrame frame);
    bool IsEmpty() const;
    /// The frame whose turn it is. Call where it is not empty.
    AirFrame Dequeue();

    /// Only the ratios of shares count, to a millionth. A frame that waits first in its line takes the new share at once.
    void SetShare(ServiceId service, double share);

    /// Takes out all frames of a service; `taken` gets them in the order in which they would go.
    void TakeAll(ServiceId service, std::vector<AirFrame>& taken);

    std::size_t Frames(ServiceId service) const
    {
        return m_urgent[service].Count() + m_lines[service].Count();
    }

    std::uint64_t Bytes() const
    {
        return m_bytes;
    }

  private:
    /// Frames in their order, in a ring that grows and is kept.
    class Line
    {
      public:
        std::size_t Count() const
        {
            return m_count;
        }

        const AirFrame& Front() const
        {
            return m_frames[m_first];
        }

        void Push(AirFrame frame);
        AirFrame Pop();

      private:
        std::vector<AirFrame> m_frames; ///< a power of two of them
        std::size_t m_first{};
        std::size_t m_count{};
    };

    std::uint32_t FirstBytes(ServiceId service) const
    {
        return Frames(service) == 0 ? 0 : FirstLine(service).Front().Bytes();
    }

    /// Of a service that has frames: the line of the one that goes next.
    const Line& FirstLine(ServiceId service) const
    {
        return m_urgent[service].Count() > 0 ? m_urgent[service] : m_lines[service];
    }

    AirFrame TakeFirst(ServiceId service);

    queueing::Scfq m_order;
    std::array<Line, MOST_SERVICES> m_urgent;
    std::array<Line, MOST_SERVICES> m_lines;
    std::uint64_t m_bytes{};
    std::size_t m_frames{};
};

} // namespace netboxit::multiservice
