// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "error_model.h"

namespace netboxit::errors
{

/// Each frame is lost with the same probability, whatever its length and the fate of the others (Xylomenos 1999, 3.2.1).
class Independent : public ErrorModel
{
  public:
    explicit Independent(queueing::Chance chance);

    bool IsLost(const Transmission&) override;
    void Set(const Json& value, std::int64_t now) override;

  private:
    queueing::Chance m_chance;
    double m_probability{0};
};

} // namespace netboxit::errors
