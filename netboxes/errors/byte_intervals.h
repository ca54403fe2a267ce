// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "error_model.h"

namespace netboxit::errors
{

/// Single wrong bytes at random distances, which lose the frame that they are in. Time does not count: only what is sent brings
/// the next error nearer (Xylomenos 1999, 3.2.3).
class ByteIntervals : public ErrorModel
{
  public:
    explicit ByteIntervals(queueing::Chance chance);

    bool IsLost(const Transmission& frame) override;
    void Set(const Json& value, std::int64_t now) override;

  private:
    double Distance();
    /// From a random place to the next error.
    double FirstDistance();

    queueing::Chance m_chance;
    double m_mean{1};
    bool m_isUniform{false}; ///< distances are, between 0 and twice the mean; or else exponential
    double m_rest{1};        ///< bytes to the next error
};

} // namespace netboxit::errors
