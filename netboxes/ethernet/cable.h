// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "link.h"
#include "medium.h"

#include <memory>

namespace netboxit
{

/// A full-duplex link between two stations.
class Cable final : public Medium
{
  public:
    explicit Cable(const SegmentSetup& setup);

    void Transmit(StationId from, Destination to, const Frame& frame) override;

  private:
    void Arrived(StationId from, const Outgoing& outgoing);
    void Lose(StationId from, SlotId slot, Loss reason);

    void ApplyRate(StationId station) override;
    void ApplyDelay(StationId station) override;
    void ApplyCut(StationId station) override;
    void ApplyQueue(const Json& queue) override;
    bool IsCutBy(bool all, std::span<const Wire> wires, StationId station) const override;
    Json ReadStation(StationId station) const override;
    void ResetStation(StationId station) override;

    std::array<std::unique_ptr<Link>, 2> m_outgoing;
};

} // namespace netboxit
