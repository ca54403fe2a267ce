// SPDX-License-Identifier: GPL-2.0-or-later
#include "block_error.h"

#include <cmath>

namespace netboxit::wimax
{

namespace
{

/// ln(-ln(1 - P)) of the block error ratio P is close to a parabola in dB: fitted to simulated blocks by
/// `python -m netboxes.wimax.convolutional_code`, which prints this table.
struct Parabola
{
    double constant;
    double linear;
    double quadratic;
};

constexpr std::array<Parabola, PROFILES.size()> CURVES{{
    {-10.6923, -3.4958, -0.2638}, // BPSK 1/2
    {-11.3412, -5.0131, -0.4964}, // QPSK 1/2
    {-10.4977, -3.9468, -0.3056}, // QPSK 3/4
    {-11.2007, -6.8141, -0.9286}, // 16-QAM 1/2
    {-10.4801, -5.0418, -0.5108}, // 16-QAM 3/4
    {-10.4731, -5.7839, -0.6570}, // 64-QAM 2/3
    {-10.3419, -5.3961, -0.5693}, // 64-QAM 3/4
}};

} // namespace

double BlockErrorRate(ProfileId profile, double marginDb)
{
    const auto& curve = CURVES[profile];
    // Before its vertex, where hardly any block is repaired, the parabola means nothing.
    if (marginDb <= -curve.linear / (2.0 * curve.quadratic))
    {
        return 1.0;
    }
    const double exponent = curve.constant + marginDb * (curve.linear + marginDb * curve.quadratic);
    return -std::expm1(-std::exp(exponent));
}

double PduErrorRate(double blockErrorRate, std::uint32_t blocks)
{
    return blockErrorRate >= 1.0 ? 1.0 : -std::expm1(blocks * std::log1p(-blockErrorRate));
}

} // namespace netboxit::wimax
