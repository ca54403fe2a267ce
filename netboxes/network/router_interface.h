// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "device.h"
#include "pcapng.h"
#include "virtual_wires.h"

#include <deque>

namespace netboxit
{

class Router;

/// An interface of a Click router in virtual time: the end of a wire, and what the configuration's FromDevice and ToDevice of its
/// name stand for. Frames to one that the configuration does not name are thrown away, as by a router that does not listen there.
class RouterInterface : public WireEndpoint
{
  public:
    RouterInterface(Router& router, const std::string& node, const std::string& name, VirtualWires& wires);

    /// It for Click; at most one at a time.
    std::unique_ptr<click::Device> Open();

    void Arrive(Bytes frame, std::int64_t stamp) override;
    void Enter() override;
    const std::string& WireName() const override;

    void Join(WireEndpoint& other) override
    {
        m_other = &other;
    }

    void SetCarrier(bool carrier) override
    {
        m_carrier = carrier;
    }

  private:
    class Opened;

    Router& m_router;
    std::string m_wireName;
    VirtualWires& m_wires;
    std::size_t m_number;
    WireEndpoint* m_other{};
    bool m_carrier{true};
    Opened* m_opened{};
    std::deque<std::vector<std::uint8_t>> m_arrived;
};

} // namespace netboxit
