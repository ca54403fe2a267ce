// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "frame.h"
#include "headers.h"

#include <vector>

namespace netboxit
{

/// Remembers the class of each packet's first fragment, because later fragments have no ports.
///
/// A packet is known by the station at which it enters, its addresses, its identification, and with IPv4 its protocol
/// (RFC 791, 3.2; RFC 8200, 4.5). It is forgotten after the time in which a host reassembles it, or earlier when many
/// more come: each station has room for CAPACITY packets of its own, so that none can make those of another be forgotten.
class FragmentClasses
{
  public:
    /// Packets of one station, in sets of WAYS; the oldest of its set makes room for a new one.
    static constexpr std::size_t CAPACITY = 1024;
    static constexpr std::size_t WAYS = 4;
    /// ns. RFC 8200, 4.5; RFC 1122, 3.3.2, has 60 to 120 s for IPv4.
    static constexpr std::int64_t REASSEMBLY = 60'000'000'000;

    /// `ip` is a first fragment.
    void Remember(const IpHeaders& ip, StationId from, std::int64_t now, ClassId trafficClass);

    /// The class of the first fragment; nothing when it did not come (yet), or too long ago. `ip` is a later fragment.
    std::optional<ClassId> Find(const IpHeaders& ip, StationId from, std::int64_t now) const;

  private:
    /// Version, protocol with IPv4, identification, addresses.
    using Key = std::array<std::uint8_t, 38>;

    struct Packet
    {
        Key key{}; ///< all zeros: none
        ClassId trafficClass{};
        std::int64_t first{}; ///< when its first fragment came, ns
    };

    static Key KeyOf(const IpHeaders& ip);
    static std::size_t SetOf(const Key& key);

    std::vector<std::vector<Packet>> m_stations; ///< by StationId; empty for those that sent no first fragment
};

} // namespace netboxit
