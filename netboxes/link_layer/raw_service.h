// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "service.h"

namespace netboxit::multiservice
{

/// "none": the raw link (section 7.1). Frames have the common byte only, and what is lost stays lost.
class RawService : public Service
{
  public:
    explicit RawService(ServicePort& port) : Service(port, {HeaderFields::Bare})
    {
    }

    void Set(const Json&) override
    {
    }

  protected:
    void TakePacket(const Packet& packet) override;
    void TakeFrame(const AirFrame& frame) override;
    void FrameDamaged(const AirFrame& frame) override;

    /// Sends a packet, for the first time or once more.
    void Transmit(const Packet& packet, bool isRetransmission);
};

} // namespace netboxit::multiservice
