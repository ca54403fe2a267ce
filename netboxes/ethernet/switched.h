// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "link.h"
#include "medium.h"

#include <memory>

namespace netboxit
{

/// A switch and, to each station, a full-duplex link. It stores frames and forwards them, each port with a queue of its own. Where a
/// frame goes is what the netbox's bridge has learnt.
class Switched final : public Medium
{
  public:
    explicit Switched(const SegmentSetup& setup);

    void Transmit(StationId from, Destination to, const Frame& frame) override;

  private:
    struct Port
    {
        std::unique_ptr<Link> up;   ///< from the station to the switch
        std::unique_ptr<Link> down; ///< from the switch to the station
        LossCounts lost;            ///< copies that were to go down
    };

    void AtSwitch(StationId from, const Outgoing& outgoing);
    void Forward(StationId to, const Frame& frame);
    void AtStation(StationId station, const Outgoing& outgoing);
    void LoseUp(StationId from, SlotId slot, Loss reason);
    void LoseDown(StationId to, SlotId slot, Loss reason);

    void ApplyRate(StationId station) override;
    void ApplyDelay(StationId station) override;
    void ApplyCut(StationId station) override;
    void ApplyQueue(const Json& queue) override;
    bool HasOwnWires() const override;
    Json ReadStation(StationId station) const override;
    void ResetStation(StationId station) override;

    std::int64_t m_switching; ///< from the last bit in to the first one out at the soonest, ns
    std::vector<Port> m_ports;
};

} // namespace netboxit
