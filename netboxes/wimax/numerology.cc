// SPDX-License-Identifier: GPL-2.0-or-later
#include "numerology.h"

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

namespace netboxit::wimax
{

namespace
{

bool IsMultiple(double value, double unit)
{
    const double quotient = value / unit;
    return std::abs(quotient - std::round(quotient)) < 1e-9;
}

/// 8.3.2.4, Table 213 of 2004, in the table's order: the first multiple that fits decides; every other
/// bandwidth takes 8/7.
double SamplingFactor(double bandwidthHz)
{
    struct Rule
    {
        double multipleHz;
        double factor;
    };
    static constexpr std::array RULES{Rule{1.75e6, 8.0 / 7.0},
                                      Rule{1.5e6, 86.0 / 75.0},
                                      Rule{1.25e6, 144.0 / 125.0},
                                      Rule{2.75e6, 316.0 / 275.0},
                                      Rule{2.0e6, 57.0 / 50.0}};
    for (const auto& rule : RULES)
    {
        if (IsMultiple(bandwidthHz, rule.multipleHz))
        {
            return rule.factor;
        }
    }
    return 8.0 / 7.0;
}

} // namespace

double Numerology::OccupiedBandwidthHz() const
{
    return samplingFrequencyHz * USED_SUBCARRIERS / FFT_SIZE;
}

Numerology MakeNumerology(double bandwidthHz, double guardRatio)
{
    if (bandwidthHz < 1.25e6)
    {
        throw std::invalid_argument(
            "wimax: bandwidth " + std::to_string(bandwidthHz) +
            " Hz: WirelessMAN-OFDM needs at least 1.25 MHz (IEEE 802.16-2009, 8.3.2.4)");
    }
    if (guardRatio != 1.0 / 4 && guardRatio != 1.0 / 8 && guardRatio != 1.0 / 16 && guardRatio != 1.0 / 32)
    {
        throw std::invalid_argument("wimax: guard ratio " + std::to_string(guardRatio) +
                                    " is not one of 1/4, 1/8, 1/16, 1/32 (IEEE 802.16-2009, 8.3.2.4)");
    }
    Numerology numerology;
    numerology.bandwidthHz = bandwidthHz;
    numerology.samplingFactor = SamplingFactor(bandwidthHz);
    // A tiny surplus keeps an exact quotient (11.52 MHz / 8 kHz = 1440) from falling to 1439 in binary
    // arithmetic.
    numerology.samplingFrequencyHz =
        std::floor(numerology.samplingFactor * bandwidthHz / 8000.0 + 1e-6) * 8000.0;
    numerology.subcarrierSpacingHz = numerology.samplingFrequencyHz / Numerology::FFT_SIZE;
    numerology.guardRatio = guardRatio;
    numerology.symbolS = (1.0 + guardRatio) / numerology.subcarrierSpacingHz;
    numerology.physicalSlotS = 4.0 / numerology.samplingFrequencyHz;
    return numerology;
}

} // namespace netboxit::wimax
