// SPDX-License-Identifier: GPL-2.0-or-later
#include "bridge.h"

namespace netboxit
{

namespace
{

constexpr std::int64_t AGEING = 300'000'000'000; ///< IEEE 802.1Q-2018, table 8-6
constexpr std::int64_t FORGET_EVERY = 1'000'000'000;
/// Bounds memory when somebody floods the netbox with invented addresses: the rest is treated as unknown.
constexpr std::size_t CAPACITY = 16384;

bool IsGroup(const MacAddress& address)
{
    return (address[0] & 1) != 0;
}

std::uint64_t Key(const MacAddress& address)
{
    std::uint64_t key = 0;
    std::memcpy(&key, address.data(), address.size());
    return key;
}

} // namespace

Bridge::Decision Bridge::Decide(const Headers& headers, StationId from, std::int64_t now)
{
    if (headers.etherType == ether_type::MAC_CONTROL)
    {
        return {Verdict::LinkControl, {}};
    }
    if (!IsGroup(headers.source))
    {
        Learn(headers.source, from, now);
    }
    if (IsGroup(headers.destination))
    {
        return {Verdict::Forward, {}};
    }
    const auto known = m_addresses.find(Key(headers.destination));
    if (known == m_addresses.end() || now - known->second.heard > AGEING)
    {
        return {Verdict::Forward, {}};
    }
    const auto station = known->second.station;
    return {station == from ? Verdict::SameStation : Verdict::Forward, {station}};
}

void Bridge::Learn(const MacAddress& address, StationId from, std::int64_t now)
{
    const auto key = Key(address);
    if (const auto known = m_addresses.find(key); known != m_addresses.end())
    {
        known->second = {from, now};
        return;
    }
    if (m_addresses.size() >= CAPACITY)
    {
        Forget(now);
    }
    if (m_addresses.size() < CAPACITY)
    {
        m_addresses.emplace(key, Place{from, now});
    }
}

void Bridge::Forget(std::int64_t now)
{
    if (now - m_forgot < FORGET_EVERY)
    {
        return;
    }
    m_forgot = now;
    std::erase_if(m_addresses, [now](const auto& item) { return now - item.second.heard > AGEING; });
}

} // namespace netboxit
