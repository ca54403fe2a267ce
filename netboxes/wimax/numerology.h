// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

namespace netboxit::wimax
{

/// The times of WirelessMAN-OFDM that follow from bandwidth and guard ratio (IEEE 802.16-2009, 8.3.2.1
/// to 8.3.2.4).
struct Numerology
{
    static constexpr int FFT_SIZE = 256;         ///< 8.3.2.4, Table 213 of 2004
    static constexpr int USED_SUBCARRIERS = 200; ///< 192 of data and 8 pilots; the rest are guard band and DC
    static constexpr int DATA_SUBCARRIERS = 192;

    double bandwidthHz{};
    double samplingFactor{};      ///< n
    double samplingFrequencyHz{}; ///< Fs = floor(n * BW / 8000) * 8000
    double subcarrierSpacingHz{}; ///< Fs / 256
    double guardRatio{};          ///< G = Tg / Tb
    double symbolS{};             ///< Ts = Tb * (1 + G)
    double physicalSlotS{};       ///< PS = 4 / Fs (8.3.1): the unit of TTG and RTG

    /// The part of the channel that carries power: Fs * N_used / N_FFT, as in the sensitivity formula
    /// of 8.3.11.1.
    double OccupiedBandwidthHz() const;
};

/// Throws std::invalid_argument when the bandwidth is below 1.25 MHz or the guard ratio is not 1/4, 1/8, 1/16
/// or 1/32 (8.3.2.2).
Numerology MakeNumerology(double bandwidthHz, double guardRatio);

} // namespace netboxit::wimax
