// SPDX-License-Identifier: GPL-2.0-or-later
#include "block_error.h"

#include <cmath>
#include <span>

namespace netboxit::wimax
{

namespace
{

/// The first terms of a punctured code's distance spectrum: wrong information bits over all error events of
/// weight freeDistance + i * step, per `bitsIn` information bits.
struct Spectrum
{
    int freeDistance;
    int step;
    int bitsIn;
    std::array<double, 5> weights;
};

Spectrum SpectrumOf(InnerCode code)
{
    switch (code)
    {
    case InnerCode::Rate1_2:
        return {10, 2, 1, {36, 211, 1404, 11633, 77433}};
    case InnerCode::Rate2_3:
        return {6, 1, 2, {3, 70, 285, 1276, 6160}};
    case InnerCode::Rate3_4:
        return {5, 1, 3, {42, 201, 1492, 10469, 62935}};
    case InnerCode::Rate5_6:
        break;
    }
    return {4, 1, 5, {92, 528, 8694, 79453, 792114}};
}

struct ErrorRates
{
    double block;
    double bit;
};

/// Error rates for coded bits of SNR `snr` (linear, Es/N0 of an antipodal signal).
ErrorRates Decode(const BurstProfile& profile, double snr)
{
    const auto spectrum = SpectrumOf(profile.innerCode);
    double viterbi = 0.0;
    for (std::size_t i = 0; i < spectrum.weights.size(); ++i)
    {
        const double distance = spectrum.freeDistance + static_cast<double>(i) * spectrum.step;
        viterbi += spectrum.weights[i] * 0.5 * std::erfc(std::sqrt(distance * snr));
    }
    viterbi = std::min(0.5, viterbi / spectrum.bitsIn);

    const double byteError = -std::expm1(8.0 * std::log1p(-viterbi));
    if (byteError <= 0.0)
    {
        return {0.0, 0.0};
    }
    const int n = profile.rsLength;
    ErrorRates rates{0.0, 0.0};
    for (int wrong = profile.rsCorrects + 1; wrong <= n; ++wrong)
    {
        const double ways = std::lgamma(n + 1.0) - std::lgamma(wrong + 1.0) - std::lgamma(n - wrong + 1.0);
        const double probability =
            std::exp(ways + wrong * std::log(byteError) + (n - wrong) * std::log1p(-byteError));
        rates.block += probability;
        rates.bit += probability * wrong / n;
    }
    rates.block = std::min(1.0, rates.block);
    rates.bit *= viterbi / byteError;
    return rates;
}

/// The SNR of a coded bit at which the bit error ratio after decoding is 1e-6, by bisection in dB.
double AnchorDb(const BurstProfile& profile)
{
    double low = -10.0;
    double high = 20.0;
    for (int i = 0; i < 60; ++i)
    {
        const double middle = 0.5 * (low + high);
        (Decode(profile, std::pow(10.0, middle / 10.0)).bit > 1e-6 ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

ErrorRates RatesAt(ProfileId profile, double marginDb)
{
    static const auto ANCHORS_DB = []
    {
        std::array<double, PROFILES.size()> anchors{};
        for (ProfileId id = 0; id < PROFILES.size(); ++id)
        {
            anchors[id] = AnchorDb(PROFILES[id]);
        }
        return anchors;
    }();
    return Decode(PROFILES[profile], std::pow(10.0, (ANCHORS_DB[profile] + marginDb) / 10.0));
}

} // namespace

double BlockErrorRate(ProfileId profile, double marginDb)
{
    return RatesAt(profile, marginDb).block;
}

double BitErrorRatio(ProfileId profile, double marginDb)
{
    return RatesAt(profile, marginDb).bit;
}

double PduErrorRate(double blockErrorRate, std::uint32_t blocks)
{
    return blockErrorRate >= 1.0 ? 1.0 : -std::expm1(blocks * std::log1p(-blockErrorRate));
}

} // namespace netboxit::wimax
