// SPDX-License-Identifier: GPL-2.0-or-later
#include "block_error.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace netboxit
{

namespace
{

/// From here on errors are rarer than 1e-12.
constexpr double ERROR_FREE_BIT_SNR = 45.0;
constexpr int TERMS = 60;

} // namespace

double DqpskBitError(double symbolSnr)
{
    const double bit = symbolSnr / 2.0;
    if (bit >= ERROR_FREE_BIT_SNR)
    {
        return 0.0;
    }
    // Q1(a, b) - I0(ab) exp(-(a^2 + b^2) / 2) / 2, where a^2 + b^2 = 4 bit and ab = sqrt(2) bit, by Marcum's series.
    const double ratio = std::numbers::sqrt2 - 1.0; // a / b
    const double product = std::numbers::sqrt2 * bit;
    double sum = 0.5 * std::cyl_bessel_i(0, product);
    double power = 1.0;
    for (int k = 1; k < TERMS && power > 1e-15; ++k)
    {
        power *= ratio;
        sum += power * std::cyl_bessel_i(k, product);
    }
    return std::min(0.5, std::exp(-2.0 * bit) * sum);
}

double FadedDqpskBitError(double meanSymbolSnr)
{
    const double mu = meanSymbolSnr / (1.0 + meanSymbolSnr);
    return 0.5 * (1.0 - mu / std::sqrt(2.0 - mu * mu));
}

double BlockError(double symbolSnr, std::uint32_t bits, double codingGain)
{
    const double error = DqpskBitError(symbolSnr * std::pow(10.0, codingGain / 10.0));
    return 1.0 - std::pow(1.0 - error, bits);
}

} // namespace netboxit
