// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "error_model.h"

namespace netboxit::errors
{

/// The errors of one direction: the model that its parameters name, which can change while the network runs.
class Errors
{
  public:
    /// `chance` is asked for each frame, `ofFades` for what happens in time without one.
    Errors(queueing::Chance chance, queueing::Chance ofFades);

    /// As loss.py dumps it; throws OutOfRange and then changes nothing. The same model with other parameters goes on from where
    /// it is; another one begins now.
    void Set(const Json& value, std::int64_t now);
    void Begin(std::int64_t now);
    bool IsLost(const Transmission& frame);

  private:
    queueing::Chance m_chance;
    queueing::Chance m_chanceOfFades;
    std::string m_name;
    std::unique_ptr<ErrorModel> m_model;
    bool m_began{false};
};

} // namespace netboxit::errors
