// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

namespace netboxit
{

/// Raw bit error probability of differentially detected pi/4-DQPSK in white noise, by the ratio of a symbol's energy to the noise
/// density (not in dB; Proakis, Digital Communications, 4th ed., 5.2.8).
double DqpskBitError(double symbolSnr);

/// The same as a mean over a Rayleigh fade (ibid., 14.4, for one path).
double FadedDqpskBitError(double meanSymbolSnr);

/// Probability that a block of so many bits has an error; `codingGain` in dB.
double BlockError(double symbolSnr, std::uint32_t bits, double codingGain);

/// Mean symbol SNR, dB, at the dynamic sensitivity: there 2.2 % of the raw bits are wrong in a fade (EN 300 392-2, clause 6).
constexpr double SNR_AT_SENSITIVITY = 16.33;

} // namespace netboxit
