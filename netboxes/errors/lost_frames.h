// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "error_model.h"

namespace netboxit::errors
{

/// A trace by frame: of each frame in turn, whether it was lost.
class LostFrames : public ErrorModel
{
  public:
    bool IsLost(const Transmission&) override;
    void Set(const Json& value, std::int64_t now) override;
    void Begin(std::int64_t now) override;

  private:
    std::vector<bool> m_isLost;
    bool m_repeats{false}; ///< or else nothing is lost after its end
    std::size_t m_next{0};
};

} // namespace netboxit::errors
