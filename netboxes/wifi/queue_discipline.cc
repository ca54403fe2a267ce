// SPDX-License-Identifier: GPL-2.0-or-later
#include "queue_discipline.h"

#include "ns3/qos-utils.h"
#include "ns3/fq-codel-queue-disc.h"
#include "ns3/object-factory.h"
#include "ns3/pie-queue-disc.h"
#include "ns3/wifi-mac.h"

#include <cstring>
#include <map>

namespace netboxit
{

namespace
{

constexpr std::uint32_t QUANTUM = 1514; ///< bytes of a flow's turn (RFC 8290, Sect. 5.2.4)

/// A token on its way to a device.
class TokenItem : public ns3::QueueDiscItem
{
  public:
    TokenItem(const ns3::Ptr<ns3::Packet>& token, const ns3::Mac48Address& to, std::uint16_t etherType, std::uint32_t flow)
        : ns3::QueueDiscItem(token, to, etherType), m_flow(flow)
    {
    }

    void AddHeader() override
    {
    }

    /// Tokens have no ECN field, and no discipline is asked to use it.
    bool Mark() override
    {
        return false;
    }

    std::uint32_t Hash(std::uint32_t perturbation) const override
    {
        return (m_flow ^ perturbation) * 0x9e3779b1U;
    }

  private:
    std::uint32_t m_flow;
};

ns3::Ptr<ns3::QueueDisc> MakeDiscipline(const CellPlan& plan)
{
    static const std::map<std::string, std::string> DISCIPLINES{
        {"codel", "ns3::CoDelQueueDisc"},
        {"fq-codel", "ns3::FqCoDelQueueDisc"},
        {"pie", "ns3::PieQueueDisc"},
    };
    ns3::ObjectFactory factory(DISCIPLINES.at(plan.queueDiscipline));
    auto discipline = factory.Create<ns3::QueueDisc>();
    if (const auto fair = ns3::DynamicCast<ns3::FqCoDelQueueDisc>(discipline))
    {
        fair->SetQuantum(QUANTUM);
    }
    discipline->SetMaxSize(ns3::QueueSize(ns3::QueueSizeUnit::PACKETS, plan.queueSize));
    return discipline;
}

/// FNV-1a, by Fowler, Noll and Vo.
class FlowHash
{
  public:
    void Add(Bytes bytes)
    {
        for (const auto byte : bytes)
        {
            m_value = (m_value ^ byte) * 16777619U;
        }
    }

    std::uint32_t Value() const
    {
        return m_value;
    }

  private:
    std::uint32_t m_value{2166136261U};
};

} // namespace

QueueDiscipline::QueueDiscipline(const CellPlan& plan,
                                 ns3::Ptr<ns3::WifiNetDevice> device,
                                 std::int64_t stream,
                                 Dropped dropped)
    : m_device(std::move(device)), m_interface(m_device->GetObject<ns3::NetDeviceQueueInterface>()),
      m_dropped(std::move(dropped))
{
    for (std::size_t queue = 0; queue < m_interface->GetNTxQueues(); ++queue)
    {
        auto discipline = MakeDiscipline(plan);
        if (auto random = ns3::DynamicCast<ns3::PieQueueDisc>(discipline))
        {
            random->AssignStreams(stream + static_cast<std::int64_t>(queue));
        }
        discipline->TraceConnectWithoutContext("DropBeforeEnqueue",
                                               ns3::MakeCallback(&QueueDiscipline::DropBefore, this));
        discipline->TraceConnectWithoutContext("DropAfterDequeue",
                                               ns3::MakeCallback(&QueueDiscipline::DropAfter, this));
        discipline->Initialize();
        m_disciplines.push_back(discipline);
        m_interface->GetTxQueue(queue)->SetWakeCallback(ns3::MakeCallback(&QueueDiscipline::Drain, this, queue));
    }
}

QueueDiscipline::~QueueDiscipline()
{
    for (std::size_t queue = 0; queue < m_disciplines.size(); ++queue)
    {
        if (queue < m_interface->GetNTxQueues()) // or ns-3 has disposed of it
        {
            m_interface->GetTxQueue(queue)->SetWakeCallback(ns3::NetDeviceQueue::WakeCallback());
        }
        m_disciplines[queue]->TraceDisconnectWithoutContext("DropBeforeEnqueue",
                                                            ns3::MakeCallback(&QueueDiscipline::DropBefore, this));
        m_disciplines[queue]->TraceDisconnectWithoutContext("DropAfterDequeue",
                                                            ns3::MakeCallback(&QueueDiscipline::DropAfter, this));
        m_disciplines[queue]->Dispose();
    }
}

void QueueDiscipline::Send(const ns3::Ptr<ns3::Packet>& token,
                           const ns3::Mac48Address& to,
                           std::uint16_t etherType,
                           std::uint8_t userPriority,
                           std::uint32_t flow)
{
    const std::size_t queue = m_disciplines.size() == 1 ? 0 : ns3::QosUtilsMapTidToAc(userPriority);
    m_disciplines[queue]->Enqueue(ns3::Create<TokenItem>(token, to, etherType, flow));
    Drain(queue);
}

void QueueDiscipline::Drain(std::size_t queue)
{
    const auto& device = m_interface->GetTxQueue(queue);
    while (!device->IsStopped())
    {
        const auto item = m_disciplines[queue]->Dequeue();
        if (!item)
        {
            return;
        }
        m_device->Send(item->GetPacket(), item->GetAddress(), item->GetProtocol());
    }
}

std::uint32_t QueueDiscipline::Waiting(std::size_t accessCategory) const
{
    return accessCategory < m_disciplines.size() ? m_disciplines[accessCategory]->GetNPackets() : 0;
}

std::uint32_t QueueDiscipline::Waiting() const
{
    std::uint32_t waiting = 0;
    for (const auto& discipline : m_disciplines)
    {
        waiting += discipline->GetNPackets();
    }
    return waiting;
}

/// PIE's "unforced" drops answer a delay that it reckons, all others that there is no room.
void QueueDiscipline::DropBefore(ns3::Ptr<const ns3::QueueDiscItem> item, const char* reason)
{
    const bool early = std::strstr(reason, "Unforced") != nullptr;
    m_dropped(item->GetPacket(), early ? Loss::QueueExpired : Loss::QueueFull);
}

/// CoDel discards what has waited, fq-codel also the head of the longest queue when there is no room.
void QueueDiscipline::DropAfter(ns3::Ptr<const ns3::QueueDiscItem> item, const char* reason)
{
    const bool waited = std::strstr(reason, "Target exceeded") != nullptr;
    m_dropped(item->GetPacket(), waited ? Loss::QueueExpired : Loss::QueueFull);
}

std::uint32_t FlowOf(Bytes frame)
{
    FlowHash hash;
    const auto headers = ReadHeaders(frame);
    if (!headers.ip)
    {
        hash.Add(headers.destination);
        hash.Add(headers.source);
        return hash.Value();
    }
    const auto& ip = *headers.ip;
    hash.Add(ip.source);
    hash.Add(ip.destination);
    if (ip.part != Part::Whole)
    {
        // All fragments are one flow, so that they stay in order: later ones have no ports.
        const std::array rest{ip.protocol.value_or(0)};
        hash.Add(rest);
        return hash.Value();
    }
    const std::array rest{ip.protocol.value_or(0),
                          static_cast<std::uint8_t>(ip.sourcePort >> 8),
                          static_cast<std::uint8_t>(ip.sourcePort),
                          static_cast<std::uint8_t>(ip.destinationPort >> 8),
                          static_cast<std::uint8_t>(ip.destinationPort)};
    hash.Add(rest);
    return hash.Value();
}

} // namespace netboxit
