// SPDX-License-Identifier: GPL-2.0-or-later
#include "ecn.h"

#include "checksum.h"

namespace netboxit
{

namespace
{

constexpr std::uint8_t ECN_FIELD = 0x03;
/// Of IPv6, in the second byte: the traffic class lies across two bytes (RFC 8200, section 3).
constexpr unsigned IPV6_SHIFT = 4;
constexpr std::size_t IPV4_CHECKSUM = 10;

std::optional<IpHeaders> IpOf(Bytes frame)
{
    return frame.size() < ETHERNET_HEADER ? std::nullopt : ReadHeaders(frame).ip;
}

Ecn EcnOf(const IpHeaders& ip)
{
    const auto shift = ip.version == 4 ? 0U : IPV6_SHIFT;
    return static_cast<Ecn>(ip.header[1] >> shift & ECN_FIELD);
}

} // namespace

Ecn EcnOf(Bytes frame)
{
    const auto ip = IpOf(frame);
    return ip ? EcnOf(*ip) : Ecn::NotEct;
}

bool MarkCongestionExperienced(std::span<std::uint8_t> frame)
{
    const auto ip = IpOf(frame);
    if (!ip || EcnOf(*ip) == Ecn::NotEct)
    {
        return false;
    }
    const auto header = frame.subspan(static_cast<std::size_t>(ip->header.data() - frame.data()), ip->header.size());
    if (ip->version == 4)
    {
        ReplaceWord(header, 0, BigEndian16(header, 0) | ECN_FIELD, IPV4_CHECKSUM);
    }
    else
    {
        header[1] |= static_cast<std::uint8_t>(ECN_FIELD << IPV6_SHIFT);
    }
    return true;
}

} // namespace netboxit
