// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "error_model.h"

namespace netboxit::errors
{

/// A trace by time: periods, and whatever is on the medium in one of them is lost, were it for a moment.
class LostPeriods : public ErrorModel
{
  public:
    bool IsLost(const Transmission& frame) override;
    void Set(const Json& value, std::int64_t now) override;
    void Begin(std::int64_t now) override;

  private:
    struct Period
    {
        std::int64_t from;
        std::int64_t to;
    };

    void GoOnTo(std::int64_t at);

    std::vector<Period> m_periods; ///< in order, of some length each; ns
    std::int64_t m_length{0};      ///< after which it repeats, ns; 0: never
    std::size_t m_next{0};         ///< the first one that is not over
    std::int64_t m_round{0};       ///< when this round of it began
    bool m_began{false};
};

} // namespace netboxit::errors
