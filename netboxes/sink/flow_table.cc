// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow_table.h"

#include <arpa/inet.h>

namespace netboxit
{

namespace
{

constexpr std::size_t ADDRESS = 4;
constexpr std::size_t PORTS_AT = 2 * ADDRESS;

std::string Endpoint(const FlowKey& key, std::size_t end)
{
    std::array<char, INET_ADDRSTRLEN> text{};
    inet_ntop(AF_INET, key.data() + end * ADDRESS, text.data(), text.size());
    return text.data() + (":" + std::to_string(BigEndian16(key, PORTS_AT + 2 * end)));
}

} // namespace

std::string SourceOf(const FlowKey& key)
{
    return Endpoint(key, 0);
}

std::string DestinationOf(const FlowKey& key)
{
    return Endpoint(key, 1);
}

SequenceAccount* FlowTable::Find(const FlowKey& key)
{
    if (m_latestAccount != nullptr && key == m_latest)
    {
        return m_latestAccount;
    }
    auto found = m_flows.find(key);
    if (found == m_flows.end())
    {
        if (m_flows.size() == CAPACITY)
        {
            return nullptr;
        }
        found = m_flows.try_emplace(key).first;
    }
    m_latest = key;
    m_latestAccount = &found->second;
    return m_latestAccount;
}

void FlowTable::Clear()
{
    m_flows.clear();
    m_latestAccount = nullptr;
}

} // namespace netboxit
