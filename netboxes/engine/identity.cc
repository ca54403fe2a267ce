// SPDX-License-Identifier: GPL-2.0-or-later
#include "identity.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

namespace netboxit
{

namespace
{

constexpr std::size_t PAYLOAD = 128;
constexpr std::uint8_t TCP = 6;
/// Of a TCP header, window and checksum (RFC 9293, section 3.1): a stage of a netbox may change them on the way.
constexpr std::size_t BEFORE_WINDOW = 14, BEHIND_CHECKSUM = 18;

/// Collects the bytes that are hashed: at most two IPv6 addresses, a few fields and the first bytes of
/// payload.
class Material
{
  public:
    void Add(Bytes bytes)
    {
        m_size = std::copy(bytes.begin(), bytes.end(), m_bytes.begin() + m_size) - m_bytes.begin();
    }

    void AddPayload(Bytes payload, bool isTcp = false)
    {
        payload = payload.first(std::min(payload.size(), PAYLOAD));
        if (!isTcp)
        {
            Add(payload);
            return;
        }
        Add(payload.first(std::min(payload.size(), BEFORE_WINDOW)));
        Add(payload.subspan(std::min(payload.size(), BEHIND_CHECKSUM)));
    }

    std::uint64_t Hash() const
    {
        return XXH3_64bits(m_bytes.data(), m_size);
    }

  private:
    std::array<std::uint8_t, 40 + PAYLOAD> m_bytes;
    std::size_t m_size{0};
};

} // namespace

std::uint64_t Identity(const Headers& headers)
{
    Material material;
    if (!headers.ip)
    {
        const std::array type{static_cast<std::uint8_t>(headers.etherType >> 8),
                              static_cast<std::uint8_t>(headers.etherType)};
        material.Add(type);
        material.AddPayload(headers.afterType);
        return material.Hash();
    }
    const auto& ip = *headers.ip;
    bool isTcp = ip.part != Part::LaterFragment;
    material.Add(ip.source);
    material.Add(ip.destination);
    if (ip.version == 4)
    {
        const auto length = BigEndian16(ip.header, 2) - ip.header.size();
        const std::array bigEndianLength{static_cast<std::uint8_t>(length >> 8),
                                         static_cast<std::uint8_t>(length)};
        material.Add(ip.header.subspan(9, 1)); // protocol
        material.Add(ip.header.subspan(4, 4)); // identification, flags, fragment offset
        material.Add(bigEndianLength);
        isTcp &= ip.header[9] == TCP;
    }
    else
    {
        material.Add(ip.header.subspan(6, 1)); // next header
        material.Add(ip.header.subspan(4, 2)); // payload length
        isTcp &= ip.header[6] == TCP;
    }
    material.AddPayload(ip.payload, isTcp);
    return material.Hash();
}

} // namespace netboxit
