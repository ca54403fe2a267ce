// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

namespace netboxit
{

/// Of SipHash: the two halves k0 and k1 of the 128 bits.
using SipHashKey = std::array<std::uint64_t, 2>;

/// What outsiders cannot know.
inline SipHashKey UnpredictableKey()
{
    std::random_device device;
    const auto word = [&device] { return std::uint64_t{device()} << 32 | device(); };
    return {word(), word()};
}

/// SipHash-2-4, a hash that nobody can foresee who does not know the key: J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF",
/// INDOCRYPT 2012. Here of whole words, without the length that the paper puts behind them: keys of a table are of one length, or of two (IPv4 and
/// IPv6), and a collision only costs time.
class SipHash
{
  public:
    explicit SipHash(const SipHashKey& key)
        : m_v{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573}
    {
    }

    void Add(std::uint64_t word)
    {
        m_v[3] ^= word;
        Round();
        Round();
        m_v[0] ^= word;
    }

    std::uint64_t Finish()
    {
        m_v[2] ^= 0xff;
        for (int round = 0; round < 4; ++round)
        {
            Round();
        }
        return m_v[0] ^ m_v[1] ^ m_v[2] ^ m_v[3];
    }

  private:
    void Round()
    {
        m_v[0] += m_v[1];
        m_v[1] = std::rotl(m_v[1], 13) ^ m_v[0];
        m_v[0] = std::rotl(m_v[0], 32);
        m_v[2] += m_v[3];
        m_v[3] = std::rotl(m_v[3], 16) ^ m_v[2];
        m_v[0] += m_v[3];
        m_v[3] = std::rotl(m_v[3], 21) ^ m_v[0];
        m_v[2] += m_v[1];
        m_v[1] = std::rotl(m_v[1], 17) ^ m_v[2];
        m_v[2] = std::rotl(m_v[2], 32);
    }

    std::array<std::uint64_t, 4> m_v;
};

/// The same of bytes, with their length, as the paper has it: a message authentication code of 64 bits.
inline std::uint64_t SipHashOf(const SipHashKey& key, std::span<const std::uint8_t> bytes)
{
    constexpr std::size_t WORD = 8;
    SipHash hash(key);
    std::uint64_t word = 0;
    for (std::size_t at = 0; at < bytes.size(); ++at)
    {
        word |= std::uint64_t{bytes[at]} << (8 * (at % WORD));
        if (at % WORD == WORD - 1)
        {
            hash.Add(word);
            word = 0;
        }
    }
    hash.Add(word | std::uint64_t{bytes.size() & 0xff} << 56);
    return hash.Finish();
}

} // namespace netboxit
