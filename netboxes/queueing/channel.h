// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/frame.h"

#include <string>
#include <vector>

namespace netboxit::queueing
{

/// What a technology tells a queue of the radio channels from its transmitter to each receiver.
class Channel
{
  public:
    virtual ~Channel() = default;
    /// Names of all stations, by StationId.
    virtual const std::vector<std::string>& Stations() const = 0;
    /// The chance that an attempt at sending to that station succeeds, 0 … 1, as far as the transmitter knows now: 1 while it knows
    /// nothing. None where the station is no receiver of this transmitter.
    virtual std::optional<double> Success(StationId to) const = 0;
};

} // namespace netboxit::queueing
