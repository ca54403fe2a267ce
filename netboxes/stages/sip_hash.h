// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <random>

namespace netboxit::stages
{

using HashSeed = std::array<std::uint64_t, 2>;

/// What outsiders cannot know, so that they cannot choose keys of one bucket.
inline HashSeed UnpredictableSeed()
{
    std::random_device device;
    const auto word = [&device] { return std::uint64_t{device()} << 32 | device(); };
    return {word(), word()};
}

/// SipHash-2-4 of whole words: J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012.
class SipHash
{
  public:
    explicit SipHash(const HashSeed& key)
        : v{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573}
    {
    }

    void Add(std::uint64_t word)
    {
        v[3] ^= word;
        Round();
        Round();
        v[0] ^= word;
    }

    /// Of an IP address; IPv4's are in the first 4 bytes.
    void Add(const std::array<std::uint8_t, 16>& address)
    {
        std::array<std::uint64_t, 2> words{};
        std::memcpy(words.data(), address.data(), address.size());
        Add(words[0]);
        Add(words[1]);
    }

    std::uint64_t Finish()
    {
        v[2] ^= 0xff;
        for (int round = 0; round < 4; ++round)
        {
            Round();
        }
        return v[0] ^ v[1] ^ v[2] ^ v[3];
    }

  private:
    void Round()
    {
        v[0] += v[1];
        v[1] = std::rotl(v[1], 13) ^ v[0];
        v[0] = std::rotl(v[0], 32);
        v[2] += v[3];
        v[3] = std::rotl(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = std::rotl(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = std::rotl(v[1], 17) ^ v[2];
        v[2] = std::rotl(v[2], 32);
    }

    std::array<std::uint64_t, 4> v;
};

} // namespace netboxit::stages
