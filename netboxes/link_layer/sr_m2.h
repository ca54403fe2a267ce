// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "sr_m1.h"

namespace netboxit::multiservice
{

/// "sr-m2" (section 4.2.1): as SR/M1. NAKs go out in ascending order, and so retransmissions come in ascending order:
/// when one comes that is not the earliest missing frame, the NAKs of earlier ones, or their retransmissions, were lost. Those
/// that were named no more often than the frame that came are named again.
class SelectiveRepeatM2 : public SelectiveRepeatM1
{
  public:
    using SelectiveRepeatM1::SelectiveRepeatM1;

  protected:
    void NameMissing(Number arrived, Number highest) override;
};

} // namespace netboxit::multiservice
