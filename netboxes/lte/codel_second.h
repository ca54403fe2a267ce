// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "bearer_discipline.h"

namespace netboxit
{

/// CoDel of a base station (Y. Dai, PhD thesis, Queen Mary University of London, 2018, section 4.2): the time in the queue is that of the packet at
/// the head, looked at whenever some of it is about to be sent, and the packet behind it is dropped. The rest of a packet of which a part is
/// sent must not be dropped, because RLC in unacknowledged mode does not recover the flow from that.
///
/// The printed Algorithm 2 does not end, and begins without a time to wait. Here, as in RFC 8289, the first drop comes when the time was above
/// the target for an interval. As printed, nothing is remembered of an earlier time of dropping.
class CodelSecond : public BearerDiscipline
{
  public:
    struct Settings
    {
        std::int64_t target;   ///< ns
        std::int64_t interval; ///< ns
    };

    CodelSecond(queueing::Room room, Settings settings, queueing::DropCallback dropped, BearerView bearer)
        : BearerDiscipline(room, std::move(dropped), std::move(bearer)), m_settings(settings)
    {
    }

    void Sends(std::int64_t now) override;

  private:
    /// Whether the time was above the target for an interval.
    bool IsTooLong(std::int64_t now);

    Settings m_settings;
    std::int64_t m_firstAbove{};
    std::int64_t m_dropNext{};
    std::uint32_t m_count{};
    bool m_dropping{};
};

} // namespace netboxit
