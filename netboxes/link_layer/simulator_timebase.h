// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "timer.h"

namespace netboxit::multiservice
{

/// The time of ns-3's simulator, and its events as alarms. An alarm has one event object, whatever it is set to: ns-3 would
/// allocate one each time.
class SimulatorTimebase : public Timebase
{
  public:
    std::int64_t Now() const override;
    std::unique_ptr<Alarm> MakeAlarm(std::function<void()> call) override;
};

} // namespace netboxit::multiservice
