// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "plan.h"

#include "ns3/mac48-address.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/queue-disc.h"
#include "ns3/wifi-net-device.h"

#include <functional>

namespace netboxit
{

/// A queue discipline of ns-3's traffic control above a device's own queues, one for each of them, as Linux has it: it keeps what
/// the device has no room for, and decides what goes next and what never goes.
class QueueDiscipline
{
  public:
    using Dropped = std::function<void(const ns3::Ptr<const ns3::Packet>& token, Loss reason)>;

    QueueDiscipline(const CellPlan& plan, ns3::Ptr<ns3::WifiNetDevice> device, std::int64_t stream, Dropped dropped);
    QueueDiscipline(const QueueDiscipline&) = delete;
    QueueDiscipline& operator=(const QueueDiscipline&) = delete;
    ~QueueDiscipline();

    /// `flow` tells flows apart (a hash).
    void Send(const ns3::Ptr<ns3::Packet>& token,
              const ns3::Mac48Address& to,
              std::uint16_t etherType,
              std::uint8_t userPriority,
              std::uint32_t flow);

    /// Packets that wait above the device's queue of that access category.
    std::uint32_t Waiting(std::size_t accessCategory) const;
    std::uint32_t Waiting() const;

  private:
    void Drain(std::size_t queue);
    void DropBefore(ns3::Ptr<const ns3::QueueDiscItem> item, const char* reason);
    void DropAfter(ns3::Ptr<const ns3::QueueDiscItem> item, const char* reason);

    ns3::Ptr<ns3::WifiNetDevice> m_device;
    ns3::Ptr<ns3::NetDeviceQueueInterface> m_interface;
    std::vector<ns3::Ptr<ns3::QueueDisc>> m_disciplines; ///< by queue of the device: of an access category, or the only one
    Dropped m_dropped;
};

/// Tells the flows of IP packets apart by addresses, protocol and ports, other frames by their MAC addresses.
std::uint32_t FlowOf(Bytes frame);

} // namespace netboxit
