// SPDX-License-Identifier: GPL-2.0-or-later
#include "fragment_classes.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

namespace netboxit
{

void FragmentClasses::Remember(const IpHeaders& ip, StationId from, std::int64_t now, ClassId trafficClass)
{
    if (m_stations.size() <= from)
    {
        m_stations.resize(from + std::size_t{1});
    }
    auto& packets = m_stations[from];
    packets.resize(CAPACITY);
    const auto key = KeyOf(ip);
    const auto set = packets.begin() + static_cast<std::ptrdiff_t>(SetOf(key));
    auto packet = std::find_if(set, set + WAYS, [&](const Packet& known) { return known.key == key; });
    if (packet == set + WAYS)
    {
        // One that holds no packet yet has an empty key, and comes before all others.
        packet = std::min_element(set, set + WAYS, [](const Packet& one, const Packet& other) {
            return std::pair(one.key != Key{}, one.first) < std::pair(other.key != Key{}, other.first);
        });
    }
    *packet = {key, trafficClass, now};
}

std::optional<ClassId> FragmentClasses::Find(const IpHeaders& ip, StationId from, std::int64_t now) const
{
    if (m_stations.size() <= from || m_stations[from].empty())
    {
        return std::nullopt;
    }
    const auto key = KeyOf(ip);
    const auto set = m_stations[from].begin() + static_cast<std::ptrdiff_t>(SetOf(key));
    const auto packet = std::find_if(set, set + WAYS, [&](const Packet& known) { return known.key == key; });
    const bool isKnown = packet != set + WAYS && now - packet->first <= REASSEMBLY;
    return isKnown ? std::optional(packet->trafficClass) : std::nullopt;
}

FragmentClasses::Key FragmentClasses::KeyOf(const IpHeaders& ip)
{
    Key key{ip.version, ip.version == 4 ? ip.protocol.value() : std::uint8_t{0}};
    for (std::size_t byte = 0; byte < 4; ++byte)
    {
        key[2 + byte] = static_cast<std::uint8_t>(ip.identification >> 8 * byte);
    }
    std::ranges::copy(ip.source, key.begin() + 6);
    std::ranges::copy(ip.destination, key.begin() + 22);
    return key;
}

std::size_t FragmentClasses::SetOf(const Key& key)
{
    return XXH3_64bits(key.data(), key.size()) % (CAPACITY / WAYS) * WAYS;
}

} // namespace netboxit
