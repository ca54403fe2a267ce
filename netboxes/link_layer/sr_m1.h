// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "selective_repeat.h"

namespace netboxit::multiservice
{

/// "sr-m1" (section 4.2.1, after Brady): when a frame shows a new hole, a NAK for each missing frame of it, in ascending
/// order. A NAK acknowledges nothing.
class SelectiveRepeatM1 : public SelectiveRepeat
{
  public:
    using SelectiveRepeat::SelectiveRepeat;

  protected:
    void NameMissing(Number arrived, Number highest) override;
    void TakeNak(const AirFrame& frame) override;
};

} // namespace netboxit::multiservice
