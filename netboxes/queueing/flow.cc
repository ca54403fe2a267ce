// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow.h"

namespace netboxit::queueing
{

namespace
{

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

    /// Its lowest bits alone repeat too often.
    std::uint32_t Value() const
    {
        return m_value ^ m_value >> 16;
    }

  private:
    std::uint32_t m_value{2166136261U};
};

std::uint32_t HashOf(Bytes bytes)
{
    FlowHash hash;
    hash.Add(bytes);
    return hash.Value();
}

} // namespace

std::uint32_t FlowOf(Bytes frame)
{
    FlowHash hash;
    if (frame.size() < ETHERNET_HEADER)
    {
        return hash.Value();
    }
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
    const std::array protocol{ip.protocol.value_or(0)};
    hash.Add(protocol);
    if (ip.part == Part::Whole)
    {
        const std::array ports{static_cast<std::uint8_t>(ip.sourcePort >> 8),
                               static_cast<std::uint8_t>(ip.sourcePort),
                               static_cast<std::uint8_t>(ip.destinationPort >> 8),
                               static_cast<std::uint8_t>(ip.destinationPort)};
        hash.Add(ports);
    }
    return hash.Value();
}

HostHashes HostsOf(Bytes frame)
{
    if (frame.size() < ETHERNET_HEADER)
    {
        return {HashOf({}), HashOf({})};
    }
    const auto headers = ReadHeaders(frame);
    return headers.ip ? HostHashes{HashOf(headers.ip->source), HashOf(headers.ip->destination)}
                      : HostHashes{HashOf(headers.source), HashOf(headers.destination)};
}

} // namespace netboxit::queueing
