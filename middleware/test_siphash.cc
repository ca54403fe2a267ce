// SPDX-License-Identifier: GPL-2.0-or-later
#include "siphash.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

using namespace netboxit::middleware;

namespace
{

/// The bytes 00, 01, …
std::vector<std::uint8_t> Ascending(std::size_t length)
{
    std::vector<std::uint8_t> bytes(length);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
    return bytes;
}

constexpr Key KEY{0x0706050403020100, 0x0f0e0d0c0b0a0908};

} // namespace

/// Appendix A of the paper.
TEST(SipHash, HasTheValueOfThePaper)
{
    EXPECT_EQ(SipHash(KEY, Ascending(15)), 0xa129ca6149be45e5);
}

/// The authors' reference vectors of no bytes, and of 8.
TEST(SipHash, HasTheReferenceVectors)
{
    EXPECT_EQ(SipHash(KEY, {}), 0x726fdb47dd0e0e31);
    EXPECT_EQ(SipHash(KEY, Ascending(8)), 0x93f5f5799a932462);
}

TEST(SipHash, DependsOnTheKey)
{
    EXPECT_NE(SipHash({KEY[0], KEY[1] + 1}, Ascending(15)), SipHash(KEY, Ascending(15)));
}
