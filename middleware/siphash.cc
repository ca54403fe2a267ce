// SPDX-License-Identifier: GPL-2.0-or-later
#include "siphash.h"

#include <bit>
#include <cstddef>

namespace netboxit::middleware
{

namespace
{

constexpr std::size_t WORD = 8;

/// The paper's section 2.
class State
{
  public:
    explicit State(const Key& key)
        : m_0(key[0] ^ 0x736f6d6570736575),
          m_1(key[1] ^ 0x646f72616e646f6d),
          m_2(key[0] ^ 0x6c7967656e657261),
          m_3(key[1] ^ 0x7465646279746573)
    {
    }

    void Compress(std::uint64_t word)
    {
        m_3 ^= word;
        Round();
        Round();
        m_0 ^= word;
    }

    std::uint64_t Finish()
    {
        m_2 ^= 0xff;
        for (int round = 0; round < 4; ++round)
        {
            Round();
        }
        return m_0 ^ m_1 ^ m_2 ^ m_3;
    }

  private:
    void Round()
    {
        m_0 += m_1;
        m_1 = std::rotl(m_1, 13) ^ m_0;
        m_0 = std::rotl(m_0, 32);
        m_2 += m_3;
        m_3 = std::rotl(m_3, 16) ^ m_2;
        m_0 += m_3;
        m_3 = std::rotl(m_3, 21) ^ m_0;
        m_2 += m_1;
        m_1 = std::rotl(m_1, 17) ^ m_2;
        m_2 = std::rotl(m_2, 32);
    }

    std::uint64_t m_0;
    std::uint64_t m_1;
    std::uint64_t m_2;
    std::uint64_t m_3;
};

} // namespace

std::uint64_t SipHash(const Key& key, std::span<const std::uint8_t> bytes)
{
    State state(key);
    std::uint64_t word = 0;
    std::size_t at = 0;
    for (; at < bytes.size(); ++at)
    {
        word |= std::uint64_t{bytes[at]} << (8 * (at % WORD));
        if (at % WORD == WORD - 1)
        {
            state.Compress(word);
            word = 0;
        }
    }
    state.Compress(word | std::uint64_t{bytes.size() & 0xff} << 56);
    return state.Finish();
}

} // namespace netboxit::middleware
