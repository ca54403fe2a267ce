// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "frame.h"

namespace netboxit
{

/// What a segment is besides, when it heeds whether there is a wire: an end of the network, as the kernel of a host. Virtual time.
class CarrierObserver
{
  public:
    virtual ~CarrierObserver() = default;
    /// The wire of the station's port has lost its carrier, or has it again. No frame passes in between.
    virtual void SetCarrier(StationId station, bool carrier) = 0;
};

} // namespace netboxit
