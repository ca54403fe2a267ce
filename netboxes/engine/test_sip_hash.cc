// SPDX-License-Identifier: GPL-2.0-or-later
#include "sip_hash.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

using namespace netboxit;

namespace
{

/// The bytes 00, 01, …
std::vector<std::uint8_t> Ascending(std::size_t length)
{
    std::vector<std::uint8_t> bytes(length);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
    return bytes;
}

constexpr SipHashKey KEY{0x0706050403020100, 0x0f0e0d0c0b0a0908};

} // namespace

/// Appendix A of the paper.
TEST(SipHash, HasTheValueOfThePaper)
{
    EXPECT_EQ(SipHashOf(KEY, Ascending(15)), 0xa129ca6149be45e5);
}

/// The authors' reference vectors of no bytes, and of 8.
TEST(SipHash, HasTheReferenceVectors)
{
    EXPECT_EQ(SipHashOf(KEY, {}), 0x726fdb47dd0e0e31);
    EXPECT_EQ(SipHashOf(KEY, Ascending(8)), 0x93f5f5799a932462);
}

TEST(SipHash, DependsOnTheKey)
{
    EXPECT_NE(SipHashOf({KEY[0], KEY[1] + 1}, Ascending(15)), SipHashOf(KEY, Ascending(15)));
}
